#include "worker/tune/search/pattern_search.h"

namespace telemetry::worker::tune::search {

void PatternSearch::Fill(size_t /*count*/) {
  size_t grown = 0;
  for (const Outcome& outcome : Best(outcomes().size())) {
    if (grown == copies_ || is_full()) break;
    if (Surround(outcome.point)) ++grown;
  }
  // No config ran, or all neighbourhoods are exhausted: continue with random points.
  if (offered() == 0) OfferRandomUpTo(static_cast<size_t>(limits().first_generation));
}

// Offers the next part of a point's neighbourhood. Returns false if it has no new point.
bool PatternSearch::Surround(const Point& point) {
  int& times = surrounded_[point];
  if (times == 0) {
    ++times;
    if (OfferAll(space().Neighbours(point))) return true;
  }
  if (times == 1) {
    ++times;
    return OfferAll(space().Trades(point));
  }
  return false;
}

bool PatternSearch::OfferAll(std::vector<Point> points) {
  // Shuffles the points, because max_configs may cut the list short and should not always cut the same dimensions.
  random().Shuffle(&points);
  const size_t before = offered();
  for (const Point& point : points) Offer(point);
  return offered() > before;
}

}  // namespace telemetry::worker::tune::search

#include "worker/tune/search/pattern_search.h"

namespace telemetry::worker::tune {

void PatternSearch::Fill() {
  size_t grown = 0;
  for (const Outcome& outcome : Best(outcomes().size())) {
    if (grown == copies_ || is_full()) break;
    if (Surround(outcome.point)) ++grown;
  }
  // Nothing ran, or all of it is surrounded: look elsewhere.
  if (offered() == 0) OfferRandomUpTo(static_cast<size_t>(limits().first_generation));
}

// False: there was nothing new around it.
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
  // The limit may cut them short, and no dimension shall always be the one that is left out.
  random().Shuffle(&points);
  const size_t before = offered();
  for (const Point& point : points) Offer(point);
  return offered() > before;
}

}  // namespace telemetry::worker::tune

#include "worker/forward/sidecar_group.h"

#include <utility>

#include "absl/time/time.h"
#include "proto/base/status_macros.h"

namespace telemetry::worker::forward {
namespace {

// The generations that are read at a time. A process writes to the files that it has opened, mostly for minutes.
constexpr size_t kMostGenerations = 3;
// A rotation renames one file after the other. If some are not renamed after this time, they are not rotated.
constexpr absl::Duration kRotationTime = absl::Seconds(10);

}  // namespace

SidecarGroup::SidecarGroup(SidecarFiles files, std::string origin, IdentityFlags identity, RecordSink sink)
    : files_(std::move(files)), origin_(std::move(origin)), identity_(std::move(identity)), sink_(std::move(sink)) {
  AddGeneration();
}

void SidecarGroup::AddGeneration() {
  generations_.push_back(std::make_unique<GroupForwarder>(files_, origin_, identity_, sink_));
}

bool SidecarGroup::IsRotated() {
  const GroupForwarder::Rotation rotation = generations_.back()->rotation();
  if (rotation != GroupForwarder::Rotation::kInPart) {
    in_part_since_ = kNever;
    return rotation == GroupForwarder::Rotation::kComplete;
  }
  if (in_part_since_ == kNever) in_part_since_ = SteadyNow();
  return ElapsedSince(in_part_since_) >= kRotationTime;
}

absl::Status SidecarGroup::RetireOldest() {
  RETURN_IF_ERROR(generations_.front()->Finish());
  retired_counts_ += generations_.front()->counts();
  generations_.pop_front();
  return absl::OkStatus();
}

absl::Status SidecarGroup::Advance() {
  for (const auto& generation : generations_) RETURN_IF_ERROR(generation->Advance());
  if (!IsRotated()) return absl::OkStatus();
  AddGeneration();
  if (generations_.size() > kMostGenerations) RETURN_IF_ERROR(RetireOldest());
  return generations_.back()->Advance();
}

absl::Status SidecarGroup::Finish() {
  for (const auto& generation : generations_) RETURN_IF_ERROR(generation->Finish());
  if (generations_.back()->rotation() == GroupForwarder::Rotation::kNone) return absl::OkStatus();
  AddGeneration();
  return generations_.back()->Finish();
}

ForwardCounts SidecarGroup::counts() const {
  ForwardCounts counts = retired_counts_;
  for (const auto& generation : generations_) counts += generation->counts();
  return counts;
}

std::string SidecarGroup::refusal() const {
  for (const auto& generation : generations_) {
    if (std::string refusal = generation->refusal(); !refusal.empty()) return refusal;
  }
  return "";
}

}  // namespace telemetry::worker::forward

#include "client/spool.h"

#include <algorithm>
#include <limits>

#include "absl/random/random.h"
#include "absl/strings/str_cat.h"
#include "proto/base/status_macros.h"

namespace telemetry::client {

absl::StatusOr<std::unique_ptr<Spool>> Spool::Open(Options options) {
  ASSIGN_OR_RETURN(RecoveredSpool recovered, RecoverSpool(options.folder, options.on_notice));
  return std::unique_ptr<Spool>(new Spool(std::move(options), std::move(recovered)));
}

Spool::Spool(Options options, RecoveredSpool recovered)
    : options_(std::move(options)),
      lock_(std::move(recovered.lock)),
      next_seq_(recovered.last_seq + 1),
      meta_(std::move(recovered.meta)),
      meta_file_(std::move(recovered.meta_file)),
      committed_file_(std::move(recovered.committed_file)),
      appended_seq_(recovered.last_seq),
      // Records that an earlier process appended may be in the system's cache only.
      durable_seq_(recovered.committed_seq),
      committed_seq_(recovered.committed_seq) {
  for (Segment& segment : recovered.segments) {
    appended_position_ = segment.end_position();
    segments_.push_back({.segment = std::move(segment)});
  }
  const absl::StatusOr<uint64_t> position = PositionBefore(committed_seq_ + 1);
  committed_position_ = position.value_or(0);
}

absl::StatusOr<uint64_t> Spool::Append(FrameBuffer* frames) {
  absl::MutexLock append_lock(&append_mu_);
  absl::Status status = WriteFrames(frames);
  if (absl::IsResourceExhausted(status)) {
    CloseActive();
    if (RemoveCommitted()) status = WriteFrames(frames);
  }
  if (!status.ok()) return status;

  absl::MutexLock lock(&mutex_);
  LiveSegment& active = segments_.back();
  active.segment.end = active_end_;
  active.segment.last_seq = next_seq_ - 1;
  appended_seq_ = next_seq_ - 1;
  appended_position_ = active.segment.end_position();
  return appended_seq_;
}

absl::Status Spool::WriteFrames(FrameBuffer* frames) {
  RETURN_IF_ERROR(RollSegment());
  frames->Seal(active_salt_, next_seq_);
  if (absl::Status status = active_file_->Write(frames->bytes()); !status.ok()) {
    // Removes the part that was written. If even that fails, the next records go to another file.
    if (!active_file_->Truncate(active_end_).ok()) active_file_ = nullptr;
    return status;
  }
  active_end_ += frames->bytes().size();
  next_seq_ += frames->count();
  return absl::OkStatus();
}

// Closes the active segment, so that it can be removed once it is acknowledged, which frees space on a full disk.
void Spool::CloseActive() {
  absl::MutexLock lock(&mutex_);
  if (segments_.empty() || segments_.back().segment.last_seq < segments_.back().segment.first_seq) return;
  segments_.back().active = false;
  active_file_ = nullptr;
}

bool Spool::RemoveCommitted() {
  std::vector<Segment> done;
  {
    absl::MutexLock lock(&mutex_);
    auto keep = segments_.begin();
    while (keep != segments_.end() && !keep->active && keep->segment.last_seq <= committed_seq_) {
      done.push_back(std::move((keep++)->segment));
    }
    segments_.erase(segments_.begin(), keep);
  }
  for (const Segment& segment : done) {
    // If this fails, the next Open() removes the file.
    RemoveFile(segment.path).IgnoreError();
  }
  return !done.empty();
}

absl::Status Spool::RollSegment() {
  {
    absl::MutexLock lock(&mutex_);
    if (active_file_ != nullptr && active_end_ < options_.segment_bytes && !seal_active_) return absl::OkStatus();
  }
  absl::BitGen random;
  ASSIGN_OR_RETURN(Segment segment,
                   CreateSegment(options_.folder, {.salt = absl::Uniform<uint32_t>(random), .first_seq = next_seq_}));
  active_file_ = segment.file;
  active_salt_ = segment.salt;
  active_end_ = segment.end;

  absl::MutexLock lock(&mutex_);
  if (!segments_.empty()) segments_.back().active = false;
  segment.begin_position = appended_position_;
  segments_.push_back({.segment = std::move(segment), .active = true});
  folder_changed_ = true;
  seal_active_ = false;
  return absl::OkStatus();
}

absl::Status Spool::Sync() {
  absl::MutexLock sync_lock(&sync_mu_);
  std::vector<LiveSegment> behind;
  uint64_t appended_seq = 0;
  bool folder_changed = false;
  {
    absl::MutexLock lock(&mutex_);
    if (appended_seq_ <= std::max(durable_seq_, committed_seq_)) return absl::OkStatus();
    for (const LiveSegment& live : segments_) {
      if (live.synced_end < live.segment.end || live.sync_failed) behind.push_back(live);
    }
    appended_seq = appended_seq_;
    folder_changed = std::exchange(folder_changed_, false);
  }
  absl::Status status = folder_changed ? SyncFolder(options_.folder) : absl::OkStatus();
  const bool folder_failed = !status.ok();
  for (LiveSegment& live : behind) {
    if (live.sync_failed) {
      status.Update(absl::UnavailableError(absl::StrCat(live.segment.path, ": an earlier write to the disk failed")));
    } else if (absl::Status synced = live.segment.file->Sync(); synced.ok()) {
      live.synced_end = live.segment.end;
    } else {
      live.sync_failed = true;
      status.Update(synced);
    }
  }

  absl::MutexLock lock(&mutex_);
  folder_changed_ |= folder_failed;
  for (LiveSegment& live : segments_) {
    for (const LiveSegment& done : behind) {
      if (done.segment.file != live.segment.file) continue;
      live.synced_end = done.synced_end;
      live.sync_failed = done.sync_failed;
      seal_active_ |= live.active && live.sync_failed;
    }
  }
  if (status.ok()) durable_seq_ = std::max(durable_seq_, appended_seq);
  return status;
}

std::optional<Segment> Spool::FindSegment(uint64_t seq) const {
  absl::MutexLock lock(&mutex_);
  for (const LiveSegment& live : segments_) {
    if (live.segment.last_seq >= seq) return live.segment;
  }
  return std::nullopt;
}

absl::StatusOr<SpoolBatch> Spool::Read(uint64_t from_seq, size_t max_bytes) {
  absl::MutexLock lock(&reader_mu_);
  SpoolBatch batch{.first_seq = from_seq, .last_seq = from_seq - 1};
  const std::optional<Segment> segment = FindSegment(from_seq);
  if (!segment.has_value()) return batch;
  uint64_t offset = cursor_offset_;
  if (cursor_seq_ != from_seq || cursor_path_ != segment->path) {
    ASSIGN_OR_RETURN(const std::optional<uint64_t> located, segment->Locate(from_seq));
    offset = located.value_or(segment->end);
  }
  absl::StatusOr<std::string> bytes = segment->Read(offset, std::min(segment->end, offset + max_bytes));
  if (!bytes.ok()) return bytes.status();
  if (const size_t claimed = ClaimedFrameSize(*bytes); claimed > bytes->size() && offset + claimed <= segment->end) {
    bytes = segment->Read(offset, offset + claimed);
    if (!bytes.ok()) return bytes.status();
  }

  size_t end = 0;
  const std::string_view view = *bytes;
  for (std::optional<Frame> frame; (frame = DecodeFrame(segment->salt, view.substr(end))).has_value();) {
    if (frame->seq != batch.last_seq + 1) break;
    batch.last_seq = frame->seq;
    end += frame->size();
  }
  if (batch.empty()) return ReadPastDamage(*segment, from_seq, offset);
  bytes->resize(end);
  batch.frames = *std::move(bytes);
  Remember(*segment, offset + end, &batch);
  return batch;
}

absl::StatusOr<SpoolBatch> Spool::ReadPastDamage(const Segment& segment, uint64_t from_seq, uint64_t offset) {
  ASSIGN_OR_RETURN(const std::string rest, segment.Read(offset, segment.end));
  FrameScanner frames(segment.salt, from_seq, rest);
  const std::optional<Frame> frame = frames.Next();
  // The first number after the damage is in this file or is the first number of the next file.
  SpoolBatch batch{.first_seq = segment.last_seq + 1, .last_seq = segment.last_seq};
  if (frame.has_value()) {
    batch = {
        .first_seq = frame->seq, .last_seq = frame->seq, .frames = rest.substr(frames.frame_begin(), frame->size())};
    Remember(segment, offset + frames.frame_end(), &batch);
  } else if (const std::optional<Segment> next = FindSegment(segment.last_seq + 1); next.has_value()) {
    batch = {.first_seq = next->first_seq, .last_seq = next->first_seq - 1};
  }
  return batch;
}

void Spool::Remember(const Segment& segment, uint64_t end, SpoolBatch* batch) {
  cursor_seq_ = batch->last_seq + 1;
  cursor_offset_ = end;
  cursor_path_ = segment.path;
  batch->end_position = segment.begin_position + end;
  marks_.push_back({.seq = batch->last_seq, .position = batch->end_position});
}

absl::StatusOr<uint64_t> Spool::PositionBefore(uint64_t seq) {
  while (!marks_.empty() && marks_.front().seq < seq - 1) marks_.pop_front();
  if (!marks_.empty() && marks_.front().seq == seq - 1) return marks_.front().position;
  const std::optional<Segment> segment = FindSegment(seq);
  if (!segment.has_value()) {
    absl::MutexLock lock(&mutex_);
    return appended_position_;
  }
  ASSIGN_OR_RETURN(const std::optional<uint64_t> offset, segment->Locate(seq));
  return segment->begin_position + offset.value_or(segment->end);
}

absl::Status Spool::SetCommitted(uint64_t seq) {
  absl::MutexLock reader_lock(&reader_mu_);
  bool backwards = false;
  {
    absl::MutexLock lock(&mutex_);
    if (seq > appended_seq_) return absl::OutOfRangeError(absl::StrCat("record ", seq, " was never appended"));
    backwards = seq < committed_seq_;
  }
  if (backwards) marks_.clear();
  ASSIGN_OR_RETURN(const uint64_t position, PositionBefore(seq + 1));
  {
    absl::MutexLock lock(&mutex_);
    committed_seq_ = seq;
    committed_position_ = seq == appended_seq_ ? appended_position_ : position;
  }
  RemoveCommitted();
  // The file may be stale: the collector reports where to resume.
  committed_file_.Store(seq).IgnoreError();
  return absl::OkStatus();
}

uint64_t Spool::first_available_seq() const {
  absl::MutexLock lock(&mutex_);
  for (const LiveSegment& live : segments_) {
    if (live.segment.last_seq >= live.segment.first_seq) return live.segment.first_seq;
  }
  return appended_seq_ + 1;
}

absl::Status Spool::StoreMeta(SpoolMeta meta) {
  if (meta == meta_) return absl::OkStatus();
  RETURN_IF_ERROR(meta_file_.Store(meta));
  meta_ = std::move(meta);
  return absl::OkStatus();
}

absl::Status Spool::StartNewLog(uint64_t base_seq, const std::string& dataset_id) {
  {
    absl::MutexLock lock(&reader_mu_);
    SpoolMeta meta = meta_;
    meta.producer_id = NewProducerId();
    meta.base_seq = base_seq;
    meta.unproven_seq = base_seq;
    meta.dataset_id = dataset_id;
    RETURN_IF_ERROR(StoreMeta(std::move(meta)));
  }
  return SetCommitted(base_seq);
}

absl::Status Spool::Prove(const std::string& dataset_id) {
  absl::MutexLock lock(&reader_mu_);
  SpoolMeta meta = meta_;
  meta.unproven_seq.reset();
  meta.dataset_id = dataset_id;
  return StoreMeta(std::move(meta));
}

SpoolMeta Spool::meta() const {
  absl::MutexLock lock(&reader_mu_);
  return meta_;
}

SpoolState Spool::state() const {
  absl::MutexLock lock(&mutex_);
  return {.appended_seq = appended_seq_,
          .durable_seq = std::max(durable_seq_, committed_seq_),
          .committed_seq = committed_seq_,
          .appended_bytes = appended_position_,
          .unacked_bytes = appended_position_ - std::min(committed_position_, appended_position_)};
}

}  // namespace telemetry::client

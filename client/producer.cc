#include "client/producer.h"

#include <algorithm>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "client/frame.h"
#include "client/frame_buffer.h"
#include "client/sender.h"
#include "client/spool.h"
#include "client/syncer.h"
#include "proto/access/address.h"
#include "proto/base/status_macros.h"
#include "proto/record/record_limit.h"

namespace telemetry::client {
namespace {

constexpr uint64_t kSegmentBytes = uint64_t{16} << 20;
// Interval of retries on a full disk, where another program may free space.
constexpr absl::Duration kLookForRoom = absl::Seconds(1);
// Drain() reports the unacknowledged records at this interval.
constexpr absl::Duration kSayWaiting = absl::Seconds(5);
// A full spool is not reported again until this long after the last record that had to wait.
constexpr absl::Duration kFullForGood = absl::Minutes(1);

class SpoolingProducer final : public Producer {
 public:
  SpoolingProducer(ProducerOptions options, std::unique_ptr<Spool> spool)
      : options_(std::move(options)),
        spool_(std::move(spool)),
        syncer_(spool_.get(), options_.sync_interval, options_.on_notice),
        sender_(MakeSenderOptions(options_), spool_.get()) {}

  absl::Status Append(const v1::Record& record) override { return AppendBatch({&record, 1}); }

  absl::Status AppendBatch(absl::Span<const v1::Record> records) override {
    if (records.empty()) return absl::OkStatus();
    size_t bytes = 0;
    for (const v1::Record& record : records) {
      const size_t size = record.ByteSizeLong();
      if (size > record::kMaxRecordBytes) return TooLarge(size);
      bytes += kFrameHeaderBytes + size;
    }
    FrameBuffer frames;
    frames.Reserve(bytes);
    for (const v1::Record& record : records) frames.Add(record);
    RETURN_IF_ERROR(AppendWhenThereIsRoom(&frames));
    sender_.Appended(spool_->state().appended_bytes);
    syncer_.Appended();
    return absl::OkStatus();
  }

  absl::Status Flush() override { return spool_->Sync(); }

  absl::Status Drain(absl::Duration timeout) override {
    const uint64_t seq = spool_->state().appended_seq;
    const SteadyTime deadline = SteadyAfter(timeout);
    while (true) {
      absl::Status status = sender_.AwaitCommitted(seq, std::min(deadline, SteadyAfter(kSayWaiting)));
      if (!absl::IsDeadlineExceeded(status) || SteadyNow() >= deadline) return status;
      Notice(absl::StrCat("waiting for the collector ", options_.collector, ": ", status.message()));
    }
  }

  ProducerStats stats() const override {
    const SpoolState log = spool_->state();
    const DeliveryState::Snapshot delivery = sender_.state().snapshot();
    return {.appended_seq = log.appended_seq,
            .durable_seq = log.durable_seq,
            .committed_seq = log.committed_seq,
            .spool_bytes = log.unacked_bytes,
            .refused = delivery.refused,
            .new_rows = delivery.new_rows,
            .known_rows = delivery.known_rows,
            .reconnects = delivery.connections == 0 ? 0 : delivery.connections - 1,
            .connected = delivery.connected};
  }

 private:
  static SenderOptions MakeSenderOptions(const ProducerOptions& options) {
    return {.session = {.collector = options.collector,
                        .credentials = options.credentials,
                        .client_name = options.client_name,
                        .linger = options.linger,
                        .on_delivering = nullptr,
                        .on_notice = options.on_notice,
                        .on_refused = options.on_refused,
                        .on_committed = options.on_committed,
                        .on_new_dataset = options.on_new_dataset},
            .retry_first = options.retry_first,
            .retry_cap = options.retry_cap};
  }

  static absl::Status TooLarge(size_t size) {
    return absl::InvalidArgumentError(
        absl::StrCat("a record of ", size, " bytes is larger than the limit of ", record::kMaxRecordBytes));
  }

  // Returns RESOURCE_EXHAUSTED if the spool is at its limit or its disk is full.
  absl::Status TryAppend(FrameBuffer* frames) {
    const uint64_t waiting = spool_->state().unacked_bytes;
    // A record that is larger than the limit is appended to an empty spool.
    if (waiting > 0 && waiting + frames->bytes().size() > options_.spool_limit_bytes) {
      return absl::ResourceExhaustedError(
          absl::StrCat("the spool ", options_.spool_dir, " is at its limit of ", options_.spool_limit_bytes, " bytes"));
    }
    return spool_->Append(frames).status();
  }

  absl::Status AppendWhenThereIsRoom(FrameBuffer* frames) {
    while (true) {
      const uint64_t version = sender_.state().version();
      const uint64_t committed = spool_->state().committed_seq;
      absl::Status status = TryAppend(frames);
      if (!absl::IsResourceExhausted(status)) return status;
      // No unacknowledged record is left, so that no acknowledgement can free space.
      if (committed == spool_->state().appended_seq) return status;
      SayFull(status);
      sender_.state().AwaitVersionAfter(version, SteadyAfter(kLookForRoom));
    }
  }

  // Reports a full spool once, even if many records wait for space one after another.
  void SayFull(const absl::Status& why) {
    {
      absl::MutexLock lock(&mutex_);
      if (SteadyNow() < std::exchange(full_until_, SteadyAfter(kFullForGood))) return;
    }
    Notice(absl::StrCat(why.message(), "; new records wait until the collector acknowledges some"));
  }

  void Notice(const std::string& text) const {
    if (options_.on_notice) options_.on_notice(text);
  }

  const ProducerOptions options_;
  const std::unique_ptr<Spool> spool_;
  absl::Mutex mutex_;
  SteadyTime full_until_ ABSL_GUARDED_BY(mutex_) = kLongAgo;  // no report of a full spool before this time
  Syncer syncer_;
  Sender sender_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Producer>> Producer::Open(ProducerOptions options) {
  RETURN_IF_ERROR(access::CheckAddress(options.collector));
  if (options.spool_dir.empty()) return absl::InvalidArgumentError("ProducerOptions: spool_dir is empty");
  if (options.spool_limit_bytes < kMinSpoolLimitBytes) {
    return absl::InvalidArgumentError(absl::StrCat("a spool limit of ", options.spool_limit_bytes,
                                                   " bytes is too low; it must be at least ", kMinSpoolLimitBytes));
  }
  // With a small limit, several files still share it, so that acknowledged files are removed while others fill.
  ASSIGN_OR_RETURN(std::unique_ptr<Spool> spool,
                   Spool::Open({.folder = options.spool_dir,
                                .segment_bytes = std::min(kSegmentBytes, options.spool_limit_bytes / 4),
                                .on_notice = options.on_notice}));
  return std::make_unique<SpoolingProducer>(std::move(options), std::move(spool));
}

}  // namespace telemetry::client

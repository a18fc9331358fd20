#include "server/collector/export_call.h"

#include <chrono>
#include <utility>

#include "server/collector/grpc_status.h"
#include "server/collector/message_buffer.h"

namespace telemetry::collector {
namespace {

constexpr uint64_t kPageBytes = uint64_t{256} << 10;
// A page ends after this much reading, so that it is another export's turn.
constexpr std::chrono::milliseconds kTurn{50};
constexpr std::chrono::milliseconds kLastWrite{500};

absl::Status ClientHasGone() { return absl::CancelledError("the client has gone"); }

}  // namespace

ExportCall::ExportCall(const ExportContext& context, AdmittedCall call, OnEnd on_end)
    : RawCall(std::move(call)),
      context_(context),
      on_end_(std::move(on_end)),
      request_at_(SteadyAfter(context.request_timeout)),
      limit_at_(SteadyAfter(context.export_timeout)) {}

void ExportCall::OnReadDone(bool ok) {
  if (ok) CountMessage(request_);
  v1::ExportRequest request;
  absl::Status status = ok ? FromBuffer(request_, &request) : absl::InvalidArgumentError("no ExportRequest came");
  request_.Clear();
  const absl::MutexLock lock(&mutex_);
  if (finished_) return;
  if (!status.ok()) return FinishNow(status);
  has_request_ = true;
  exporter_.emplace(std::move(request));
  ScheduleRead();
}

void ExportCall::ScheduleRead() {
  const bool waits = context_.pool.Run(sender(), [self = Self()] { self->ReadOn(); });
  if (!waits) FinishNow(absl::ResourceExhaustedError("too many calls of this client wait: come back later"));
}

bool ExportCall::has_ended() {
  const absl::MutexLock lock(&mutex_);
  return finished_;
}

absl::StatusOr<ExportCall::Page> ExportCall::ReadPage() {
  const absl::StatusOr<ReaderPool::Borrowed> reader = context_.readers.Borrow();
  if (!reader.ok()) return reader.status();
  const SteadyTime turn_ends = SteadyNow() + kTurn;
  Page page;
  while (page.bytes < kPageBytes && SteadyNow() < turn_ends && !has_ended()) {
    const absl::StatusOr<storage::Exporter::Step> step = (*reader)->Next(*exporter_);
    if (!step.ok()) return step.status();
    page.is_last = step->done;
    if (step->done) break;
    if (!step->item.has_value() && step->serialised.empty()) continue;
    page.messages.push_back(step->item.has_value() ? ToBuffer(*step->item) : ToBuffer(step->serialised));
    page.bytes += page.messages.back().Length();
  }
  return page;
}

void ExportCall::ReadOn() {
  if (has_ended()) return;
  absl::StatusOr<Page> page = ReadPage();
  const absl::MutexLock lock(&mutex_);
  if (finished_) return;
  if (!page.ok()) return FinishNow(page.status());
  page_ = *std::move(page);
  context_.pool.Hold(sender(), page_.bytes);
  GoOn();
}

void ExportCall::GoOn() {
  if (!page_.messages.empty()) {
    writing_ = true;
    writing_since_ = SteadyNow();
    wire().Write(page_.messages.front());
  } else if (page_.is_last) {
    FinishNow(absl::OkStatus());
  } else {
    ScheduleRead();
  }
}

void ExportCall::OnWriteDone(bool ok) {
  const absl::MutexLock lock(&mutex_);
  writing_ = false;
  const uint64_t bytes = page_.messages.front().Length();
  page_.messages.pop_front();
  page_.bytes -= bytes;
  context_.pool.Release(sender(), bytes);
  if (end_.has_value()) return FinishNow(*end_);
  if (!ok) return FinishNow(ClientHasGone());
  GoOn();
}

void ExportCall::OnCancel() {
  const absl::MutexLock lock(&mutex_);
  EndBy(ClientHasGone(), kNever);
}

void ExportCall::End(absl::Status status) {
  const absl::MutexLock lock(&mutex_);
  EndBy(std::move(status), writing_since_ + kLastWrite);
}

void ExportCall::Drain() { End(absl::UnavailableError("the collector is shutting down: export again")); }

void ExportCall::CheckTime(SteadyTime now) {
  const absl::MutexLock lock(&mutex_);
  if (finished_) return;
  const SteadyTime unread_at = writing_since_ + absl::ToChronoNanoseconds(context_.unread_timeout);
  if (!has_request_ && now >= request_at_) {
    EndBy(absl::DeadlineExceededError("the request did not come in time"), now);
  } else if (writing_ && now >= unread_at) {
    EndBy(absl::DeadlineExceededError("the client does not read what it is sent"), now);
  } else if (now >= limit_at_) {
    EndBy(absl::DeadlineExceededError("the export took longer than the collector's --export-timeout: select less with "
                                      "a filter, or read faster"),
          unread_at);
  }
  if (finished_ || !end_.has_value() || now < cut_at_) return;
  cut_at_ = kNever;
  context().TryCancel();
}

void ExportCall::EndBy(absl::Status status, SteadyTime cut_at) {
  if (finished_ || end_.has_value()) return;
  if (!writing_) return FinishNow(status);
  end_ = std::move(status);
  cut_at_ = cut_at;
}

void ExportCall::FinishNow(const absl::Status& status) {
  finished_ = true;
  context_.pool.Release(sender(), page_.bytes);
  page_ = {};
  on_end_(caller(), status);
  wire().Finish(ToGrpc(status));
}

}  // namespace telemetry::collector

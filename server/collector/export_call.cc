#include "server/collector/export_call.h"

#include <grpcpp/server_context.h>

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

ExportCall* ExportCall::Begin(const ExportContext& context, grpc::CallbackServerContext& call, Options options) {
  const std::shared_ptr<ExportCall> made(new ExportCall(context, call, std::move(options)));
  made->self_ = made;
  context.calls.Add(made.get(), made->options_.caller, kMethod);
  const absl::MutexLock lock(&made->mutex_);
  if (!made->finished_) made->ScheduleRead();
  return made.get();
}

ExportCall::ExportCall(const ExportContext& context, grpc::CallbackServerContext& call, Options options)
    : context_(context),
      call_(call),
      options_(std::move(options)),
      limit_at_(SteadyAfter(context.export_timeout)),
      exporter_(options_.request) {}

void ExportCall::ScheduleRead() {
  const bool waits = context_.pool.Run(options_.client, [self = shared_from_this()] { self->ReadOn(); });
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
    const absl::StatusOr<storage::Exporter::Step> step = (*reader)->Next(exporter_);
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
  context_.pool.Hold(options_.client, page_.bytes);
  GoOn();
}

void ExportCall::GoOn() {
  if (!page_.messages.empty()) {
    writing_ = true;
    writing_since_ = SteadyNow();
    StartWrite(&page_.messages.front());
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
  context_.pool.Release(options_.client, bytes);
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
  if (writing_ && now >= unread_at) {
    EndBy(absl::DeadlineExceededError("the client does not read what it is sent"), now);
  } else if (now >= limit_at_) {
    EndBy(absl::DeadlineExceededError("the export took longer than the collector's --export-timeout: select less with "
                                      "a filter, or read faster"),
          unread_at);
  }
  if (finished_ || !end_.has_value() || now < cut_at_) return;
  cut_at_ = kNever;
  call_.TryCancel();
}

void ExportCall::EndBy(absl::Status status, SteadyTime cut_at) {
  if (finished_ || end_.has_value()) return;
  if (!writing_) return FinishNow(status);
  end_ = std::move(status);
  cut_at_ = cut_at;
}

void ExportCall::FinishNow(const absl::Status& status) {
  finished_ = true;
  context_.pool.Release(options_.client, page_.bytes);
  page_ = {};
  options_.on_end(status);
  Finish(ToGrpc(status));
}

void ExportCall::OnDone() {
  context_.calls.Remove(this);
  options_.on_done();
  self_.reset();
}

}  // namespace telemetry::collector

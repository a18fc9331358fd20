#include "tests/faults/paced_client.h"

#include <grpcpp/client_context.h>
#include <grpcpp/create_channel.h>

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "tests/faults/attacks/messages.h"
#include "tests/faults/ledger.h"

namespace telemetry::faults {
namespace {

constexpr absl::Duration kPeriod = absl::Milliseconds(10);
constexpr absl::Duration kRetryAfter = absl::Milliseconds(100);

}  // namespace

PacedClient::PacedClient(std::string address, int number)
    : address_(std::move(address)), number_(number), thread_([this] { Run(); }) {}

PacedClient::~PacedClient() {
  {
    absl::MutexLock lock(&mutex_);
    cancelled_ = true;
    if (context_ != nullptr) context_->TryCancel();
  }
  thread_.join();
}

std::vector<double> PacedClient::TakeTimesMs() {
  absl::MutexLock lock(&mutex_);
  std::vector<double> times = std::exchange(times_ms_, {});
  const SteadyTime now = SteadyNow();
  for (const Sent& sent : waiting_) times.push_back(absl::ToDoubleMilliseconds(absl::FromChrono(now - sent.time)));
  for (SteadyTime due = next_time_; due < now; due += absl::ToChronoNanoseconds(kPeriod)) {
    times.push_back(absl::ToDoubleMilliseconds(absl::FromChrono(now - due)));
  }
  return times;
}

bool PacedClient::Finish(absl::Duration patience) {
  absl::MutexLock lock(&mutex_);
  finishing_ = true;
  const auto is_done = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return waiting_.empty(); };
  return mutex_.AwaitWithTimeout(absl::Condition(&is_done), patience);
}

uint64_t PacedClient::acknowledged() const {
  absl::MutexLock lock(&mutex_);
  return acknowledged_;
}

std::vector<std::string> PacedClient::ended_streams() const {
  absl::MutexLock lock(&mutex_);
  return ended_streams_;
}

void PacedClient::Run() {
  while (!IsDone()) {
    UseOneStream();
    if (!IsDone()) absl::SleepFor(kRetryAfter);
  }
}

void PacedClient::UseOneStream() {
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  const auto stub =
      v1::IngestService::NewStub(grpc::CreateCustomChannel(address_, grpc::InsecureChannelCredentials(), arguments));
  grpc::ClientContext context;
  if (!SetContext(&context)) return;
  const std::unique_ptr<Stream> stream = stub->Stream(&context);
  if (Open(*stream)) {
    std::thread receiver([&] {
      v1::StreamResponse response;
      while (stream->Read(&response)) Acknowledge(response.ack().committed_seq());
    });
    uint64_t seq = AwaitNext();
    while (seq > 0 && Send(*stream, seq)) seq = AwaitNext();
    stream->WritesDone();
    receiver.join();
  }
  SetContext(nullptr);
  const grpc::Status status = stream->Finish();
  absl::MutexLock lock(&mutex_);
  if (!status.ok()) ended_streams_.push_back(absl::StrCat(status.error_code(), " ", status.error_message()));
}

bool PacedClient::Open(Stream& stream) {
  v1::StreamRequest request;
  request.mutable_open()->set_producer_id(ProducerId(number_));
  v1::StreamResponse response;
  if (!stream.Write(request) || !stream.Read(&response)) return false;
  Acknowledge(response.opened().committed_seq());
  std::deque<Sent> again;
  {
    absl::MutexLock lock(&mutex_);
    again = waiting_;
  }
  for (const Sent& sent : again) {
    if (!Send(stream, sent.seq)) return false;
  }
  return true;
}

bool PacedClient::Send(Stream& stream, uint64_t seq) const {
  v1::StreamRequest request;
  *request.mutable_batch() = MakeBatch(seq, {MakeRecord(number_, seq).SerializeAsString()});
  return stream.Write(request);
}

uint64_t PacedClient::AwaitNext() {
  SteadyTime due;
  {
    absl::MutexLock lock(&mutex_);
    due = next_time_;
  }
  absl::SleepFor(TimeUntil(due));
  absl::MutexLock lock(&mutex_);
  if (finishing_ || cancelled_) return 0;
  waiting_.push_back({++last_seq_, due});
  next_time_ = due + absl::ToChronoNanoseconds(kPeriod);
  return last_seq_;
}

void PacedClient::Acknowledge(uint64_t seq) {
  const SteadyTime now = SteadyNow();
  absl::MutexLock lock(&mutex_);
  acknowledged_ = std::max(acknowledged_, seq);
  for (; !waiting_.empty() && waiting_.front().seq <= seq; waiting_.pop_front()) {
    times_ms_.push_back(absl::ToDoubleMilliseconds(absl::FromChrono(now - waiting_.front().time)));
  }
}

bool PacedClient::IsDone() const {
  absl::MutexLock lock(&mutex_);
  return cancelled_ || (finishing_ && waiting_.empty());
}

bool PacedClient::SetContext(grpc::ClientContext* context) {
  absl::MutexLock lock(&mutex_);
  context_ = context;
  return !cancelled_;
}

}  // namespace telemetry::faults

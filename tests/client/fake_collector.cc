#include "tests/client/fake_collector.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "grpcpp/security/server_credentials.h"
#include "grpcpp/server_builder.h"
#include "proto/record/ids.h"

namespace telemetry::client {

void FakeCollector::Start() {
  grpc::ServerBuilder builder;
  builder.AddListeningPort(address_, grpc::InsecureServerCredentials());
  builder.RegisterService(this);
  builder.SetMaxReceiveMessageSize(-1);
  server_ = builder.BuildAndStart();
}

void FakeCollector::Stop() {
  if (server_ != nullptr) server_->Shutdown(std::chrono::system_clock::now());
  server_.reset();
}

void FakeCollector::OnNextBatches(std::deque<Act> acts) {
  absl::MutexLock lock(&mutex_);
  acts_ = std::move(acts);
}

void FakeCollector::OnNextOpens(std::deque<grpc::Status> refusals) {
  absl::MutexLock lock(&mutex_);
  refusals_ = std::move(refusals);
}

void FakeCollector::SetRequestId(std::string id) {
  absl::MutexLock lock(&mutex_);
  request_id_ = std::move(id);
}

void FakeCollector::RequireToken(std::string token) {
  absl::MutexLock lock(&mutex_);
  token_ = std::move(token);
}

void FakeCollector::SetWindow(uint64_t window_bytes, uint64_t max_batch_bytes) {
  absl::MutexLock lock(&mutex_);
  window_bytes_ = window_bytes;
  max_batch_bytes_ = max_batch_bytes;
}

void FakeCollector::ReplaceDatabase() {
  absl::MutexLock lock(&mutex_);
  dataset_id_ = std::string(16, 'B');
  logs_.clear();
}

void FakeCollector::RollBack(uint64_t committed_seq) {
  absl::MutexLock lock(&mutex_);
  for (auto& [id, log] : logs_) log.committed_seq = committed_seq;
}

void FakeCollector::Pretend(const std::string& producer_id, uint64_t committed_seq) {
  absl::MutexLock lock(&mutex_);
  logs_[producer_id].committed_seq = committed_seq;
}

std::vector<std::string> FakeCollector::AwaitStored(size_t count) {
  absl::MutexLock lock(&mutex_);
  const auto enough = [this, count]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return stored_.size() >= count; };
  mutex_.AwaitWithTimeout(absl::Condition(&enough), absl::Seconds(60));
  return stored_;
}

void FakeCollector::AwaitOpens(size_t count) {
  absl::MutexLock lock(&mutex_);
  const auto enough = [this, count]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return opens_.size() >= count; };
  mutex_.AwaitWithTimeout(absl::Condition(&enough), absl::Seconds(60));
}

std::vector<v1::Open> FakeCollector::opens() const {
  absl::MutexLock lock(&mutex_);
  return opens_;
}

std::vector<absl::Time> FakeCollector::open_times() const {
  absl::MutexLock lock(&mutex_);
  return open_times_;
}

uint64_t FakeCollector::largest_batch() const {
  absl::MutexLock lock(&mutex_);
  return largest_batch_;
}

uint64_t FakeCollector::most_unacked() const {
  absl::MutexLock lock(&mutex_);
  return most_unacked_;
}

grpc::Status FakeCollector::CheckToken(const grpc::ServerContext& context) {
  absl::MutexLock lock(&mutex_);
  const auto shown = context.client_metadata().find("authorization");
  if (token_.empty() || (shown != context.client_metadata().end() && shown->second == "Bearer " + token_)) {
    return grpc::Status::OK;
  }
  return {grpc::StatusCode::UNAUTHENTICATED, "another token is needed"};
}

grpc::Status FakeCollector::Stream(grpc::ServerContext* context, Stream_* stream) {
  {
    absl::MutexLock lock(&mutex_);
    if (!request_id_.empty()) context->AddInitialMetadata("x-request-id", request_id_);
  }
  if (grpc::Status status = CheckToken(*context); !status.ok()) return status;
  v1::StreamRequest request;
  v1::StreamResponse response;
  if (!stream->Read(&request) || !request.has_open()) return {grpc::StatusCode::INVALID_ARGUMENT, "no Open"};
  const v1::Open open = request.open();
  if (grpc::Status status = HandleOpen(open, &response); !status.ok()) return status;
  stream->Write(response);
  uint64_t unacked = 0;
  while (stream->Read(&request)) {
    response.Clear();
    const grpc::Status status = HandleBatch(open, request.batch(), &unacked, &response);
    if (response.has_ack()) stream->Write(response);
    if (!status.ok()) return status;
  }
  return grpc::Status::OK;
}

grpc::Status FakeCollector::HandleOpen(const v1::Open& open, v1::StreamResponse* response) {
  absl::MutexLock lock(&mutex_);
  opens_.push_back(open);
  open_times_.push_back(absl::Now());
  if (!refusals_.empty()) {
    grpc::Status refusal = refusals_.front();
    // The last status stays in force if it is an error.
    if (refusals_.size() > 1 || refusal.ok()) refusals_.pop_front();
    if (!refusal.ok()) return refusal;
  }
  Log& log = logs_[open.producer_id()];
  if (open.epoch() < log.epoch) return {grpc::StatusCode::FAILED_PRECONDITION, "a higher epoch was seen"};
  log.epoch = open.epoch();
  v1::Opened* opened = response->mutable_opened();
  opened->set_committed_seq(log.committed_seq);
  opened->set_window_bytes(window_bytes_);
  opened->set_max_batch_bytes(max_batch_bytes_);
  opened->set_dataset_id(dataset_id_);
  return grpc::Status::OK;
}

grpc::Status FakeCollector::HandleBatch(const v1::Open& open, const v1::Batch& batch, uint64_t* unacked,
                                        v1::StreamResponse* response) {
  absl::MutexLock lock(&mutex_);
  std::string bytes;
  for (const std::string& record : batch.records()) bytes += record;
  largest_batch_ = std::max<uint64_t>(largest_batch_, bytes.size());
  *unacked += bytes.size();
  most_unacked_ = std::max(most_unacked_, *unacked);

  Act act = Act::kAck;
  if (!acts_.empty()) {
    act = acts_.front();
    acts_.pop_front();
  }
  if (act == Act::kWrongCrc || batch.crc32c() != record::Crc32c(0, bytes)) return {grpc::StatusCode::DATA_LOSS, "crc"};
  if (act == Act::kOverload || bytes.size() > max_batch_bytes_ || *unacked > window_bytes_) {
    return {grpc::StatusCode::RESOURCE_EXHAUSTED, "overload"};
  }
  if (act == Act::kTwin) return {grpc::StatusCode::ABORTED, "a newer stream took over"};
  if (act == Act::kFence || open.epoch() < logs_[open.producer_id()].epoch)
    return {grpc::StatusCode::FAILED_PRECONDITION, "a higher epoch was seen"};
  Log& log = logs_[open.producer_id()];
  if (act == Act::kGap || batch.first_seq() > log.committed_seq + 1) {
    return {grpc::StatusCode::OUT_OF_RANGE, absl::StrCat("expected ", log.committed_seq + 1)};
  }
  v1::Ack ack;
  Store(batch, &log, act == Act::kRefuse ? &ack : nullptr);
  if (act == Act::kCutAfter) return {grpc::StatusCode::UNAVAILABLE, "cut"};
  if (act == Act::kSwallow) return grpc::Status::OK;
  *unacked = 0;
  ack.set_committed_seq(log.committed_seq);
  *response->mutable_ack() = std::move(ack);
  if (act == Act::kRest) return {grpc::StatusCode::DEADLINE_EXCEEDED, "idle"};
  return grpc::Status::OK;
}

void FakeCollector::Store(const v1::Batch& batch, Log* log, v1::Ack* rejects) {
  uint64_t seq = batch.first_seq();
  for (const std::string& bytes : batch.records()) {
    if (const uint64_t this_seq = seq++; this_seq > log->committed_seq) {
      v1::Record record;
      stored_.push_back(record.ParseFromString(bytes) ? record.run().kernel_name() : "not a record");
      log->committed_seq = this_seq;
      if (rejects == nullptr) continue;
      v1::Ack::Refused* refused = rejects->add_rejects();
      refused->set_seq(this_seq);
      refused->set_message("refused " + stored_.back());
    }
  }
}

}  // namespace telemetry::client

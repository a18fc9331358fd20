#include "tests/faults/hostile_fixture.h"

#include <grpcpp/create_channel.h>
#include <stdlib.h>

#include <algorithm>
#include <filesystem>
#include <iostream>

#include "absl/strings/str_cat.h"
#include "proto/clock/steady.h"
#include "proto/record/ids.h"
#include "tests/environment.h"

namespace telemetry::faults {

bool FullSize() { return Faults() >= 1000; }

std::string OpenMessage(const std::string& producer_id) {
  v1::StreamRequest request;
  request.mutable_open()->set_producer_id(producer_id);
  return request.SerializeAsString();
}

v1::Batch MakeBatch(uint64_t first_seq, const std::string& record, int records) {
  v1::Batch batch;
  batch.set_first_seq(first_seq);
  uint32_t crc = 0;
  for (int i = 0; i < records; ++i) {
    batch.add_records(record);
    crc = record::Crc32c(crc, record);
  }
  batch.set_crc32c(crc);
  return batch;
}

std::string BatchMessage(const v1::Batch& batch) {
  v1::StreamRequest request;
  *request.mutable_batch() = batch;
  return request.SerializeAsString();
}

std::string AttemptRecord(size_t text_bytes) {
  v1::Record record;
  record.mutable_attempt()->set_attempt_id(std::string(16, 'x'));
  record.mutable_attempt()->set_run_id(std::string(64, 'a'));
  record.mutable_attempt()->set_origin(std::string(text_bytes, 'o'));
  return record.SerializeAsString();
}

std::string RunRecord(size_t source_bytes) {
  v1::Record record;
  record.mutable_run()->set_run_id(std::string(64, 'a'));
  record.mutable_run()->set_kernel_source(std::string(source_bytes, 's'));
  return record.SerializeAsString();
}

std::string ProducerId(int number) {
  std::string id = absl::StrCat("producer ", number);
  id.resize(16, '.');
  return id;
}

GoodClient::GoodClient(const std::string& address)
    : stub_(v1::IngestService::NewStub(grpc::CreateChannel(address, grpc::InsecureChannelCredentials()))) {
  context_.set_deadline(absl::ToChronoTime(absl::Now() + absl::Minutes(5)));
  stream_ = stub_->Stream(&context_);
  v1::StreamRequest request;
  request.mutable_open()->set_producer_id("a good producer!");
  v1::StreamResponse response;
  EXPECT_TRUE(stream_->Write(request) && stream_->Read(&response)) << "a good client is not served";
  seq_ = response.opened().committed_seq();
}

GoodClient::~GoodClient() {
  context_.TryCancel();
  stream_->Finish();
}

bool GoodClient::Send() {
  v1::StreamRequest request;
  *request.mutable_batch() = MakeBatch(++seq_, AttemptRecord(20), 1);
  if (!stream_->Write(request)) return false;
  v1::StreamResponse response;
  while (stream_->Read(&response)) {
    if (response.ack().committed_seq() >= seq_) return true;
  }
  return false;
}

double GoodClient::P99Ms(int batches) {
  std::vector<double> times;
  for (int i = 0; i < batches; ++i) {
    const SteadyTime begin = SteadyNow();
    EXPECT_TRUE(Send()) << "a good client's stream ended";
    times.push_back(absl::ToDoubleMilliseconds(ElapsedSince(begin)));
  }
  std::sort(times.begin(), times.end());
  return times[times.size() * 99 / 100];
}

std::vector<std::string> ShortTimes(int seconds) {
  if (FullSize()) return {};
  const char* const prefix = "TELEMETRY_COLLECTOR_";
  std::vector<std::string> variables;
  for (const char* name : {"HANDSHAKE_TIMEOUT", "OPEN_TIMEOUT", "UNREAD_TIMEOUT", "STREAM_IDLE_TIMEOUT",
                           "CONNECTION_IDLE_TIMEOUT", "KEEPALIVE_TIME"}) {
    variables.push_back(absl::StrCat(prefix, name, "=", seconds));
  }
  variables.push_back(absl::StrCat(prefix, "KEEPALIVE_TIMEOUT=1"));
  return variables;
}

absl::Duration MostTime() { return absl::Minutes(1); }

HostileTest::HostileTest() {
  std::string pattern = (std::filesystem::temp_directory_path() / "telemetry-hostile-XXXXXX").string();
  folder_ = mkdtemp(pattern.data());
}

HostileTest::~HostileTest() {
  collector_.reset();
  std::filesystem::remove_all(folder_);
}

void HostileTest::Start(const std::vector<std::string>& environment, uint64_t max_files) {
  bench::CollectorOptions options;
  options.environment = environment;
  options.max_files = max_files;
  collector_ =
      std::make_unique<bench::CollectorProcess>(bench::CollectorProcess::Start(folder_ + "/dataset.db", options));
  std::cout << "at the start: " << bench::PeakMib(collector_->pid()) << " MiB" << std::endl;
}

void HostileTest::ExpectSmallAndServing() {
  const double peak = bench::PeakMib(collector_->pid());
  std::cout << "peak: " << peak << " MiB" << std::endl;
  EXPECT_LT(peak, kMemoryMib);
  EXPECT_TRUE(GoodClient(collector_->address()).Send());
}

}  // namespace telemetry::faults

// Tests the JSON log of the program, and that the request id of a caller's error leads to its log line.

#include <gmock/gmock.h>
#include <grpcpp/create_channel.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <algorithm>
#include <fstream>
#include <set>
#include <string>
#include <vector>

#include "proto/access/request_id.h"
#include "proto/record/json.h"
#include "telemetry/v1/dataset.grpc.pb.h"
#include "tests/bench/bench_ingest/collector_process.h"
#include "tests/run_program.h"
#include "tests/server/collector/collector_story.h"
#include "tests/server/collector/token_folder.h"

namespace telemetry::collector {
namespace {

using access::Role;
using record::Json;
using ::testing::HasSubstr;
using ::testing::Not;

// Sets an environment variable for programs started during its lifetime.
class Variable {
 public:
  Variable(std::string name, const std::string& value) : name_(std::move(name)) {
    setenv(name_.c_str(), value.c_str(), 1);
  }
  ~Variable() { unsetenv(name_.c_str()); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  const std::string name_;
};

struct Heard {
  grpc::Status status;
  std::string request_id;
};

class LogStory : public ::testing::Test {
 protected:
  std::unique_ptr<grpc::ClientContext> Context(const std::string& token, const std::string& request_id) {
    auto context = std::make_unique<grpc::ClientContext>();
    context->set_deadline(absl::ToChronoTime(absl::Now() + absl::Seconds(60)));
    if (!token.empty()) context->AddMetadata("authorization", "Bearer " + token);
    if (!request_id.empty()) context->AddMetadata(access::kRequestIdKey, request_id);
    return context;
  }

  static Heard Hear(const grpc::ClientContext& context, const grpc::Status& status) {
    const auto& metadata = context.GetServerInitialMetadata();
    const auto entry = metadata.find(access::kRequestIdKey);
    return {status, entry == metadata.end() ? "" : std::string(entry->second.data(), entry->second.size())};
  }

  // Opens a stream as this client, sends the batch and ends the stream.
  Heard Stream(const std::string& token, const std::string& client, const v1::Batch& batch,
               const std::string& request_id = "") {
    const auto stub = v1::IngestService::NewStub(channel_);
    const auto context = Context(token, request_id);
    const auto stream = stub->Stream(context.get());
    v1::StreamRequest open;
    open.mutable_open()->set_producer_id(ProducerId('p'));
    open.mutable_open()->set_epoch(1);
    open.mutable_open()->set_client(client);
    stream->Write(open);
    v1::StreamRequest request;
    *request.mutable_batch() = batch;
    stream->Write(request);
    stream->WritesDone();
    v1::StreamResponse response;
    while (stream->Read(&response)) {
    }
    return Hear(*context, stream->Finish());
  }

  Heard Unary(const std::string& token) {
    const auto stub = v1::IngestService::NewStub(channel_);
    const auto context = Context(token, "");
    v1::IngestRequest request;
    request.mutable_open()->set_producer_id("too short");
    v1::IngestResponse response;
    const grpc::Status status = stub->Ingest(context.get(), request, &response);
    return Hear(*context, status);
  }

  Heard Export(const std::string& token) {
    const auto stub = v1::DatasetService::NewStub(channel_);
    const auto context = Context(token, "");
    const auto reader = stub->Export(context.get(), {});
    v1::ExportItem item;
    while (reader->Read(&item)) {
    }
    return Hear(*context, reader->Finish());
  }

  void Connect(const std::string& address) {
    channel_ = grpc::CreateChannel(address, grpc::InsecureChannelCredentials());
  }

  // Reads the log. Each line must be an object with time, level and message.
  std::vector<Json> ReadLog() {
    std::ifstream file(db_ + ".log", std::ios::binary);
    std::vector<Json> lines;
    for (std::string line; std::getline(file, line);) {
      const absl::StatusOr<Json> json = record::ParseJson(line);
      EXPECT_TRUE(json.ok()) << json.status() << "\n" << line;
      if (!json.ok()) continue;
      absl::Time time;
      std::string error;
      EXPECT_TRUE(json->Find("time") != nullptr &&
                  absl::ParseTime(absl::RFC3339_full, json->Find("time")->text, &time, &error))
          << line;
      EXPECT_LT(absl::AbsDuration(absl::Now() - time), absl::Hours(1)) << line;
      EXPECT_TRUE(json->Find("level") != nullptr && json->Find("message") != nullptr) << line;
      lines.push_back(*json);
    }
    return lines;
  }

  // Returns the values of `field` in the log lines of this call.
  static std::vector<std::string> Told(const std::vector<Json>& lines, const std::string& request_id,
                                       const std::string& field) {
    std::vector<std::string> told;
    for (const Json& line : lines) {
      const Json* id = line.Find("request_id");
      if (id == nullptr || id->text != request_id) continue;
      const Json* value = line.Find(field);
      told.push_back(value == nullptr ? "" : value->text);
    }
    return told;
  }

  TempFolder folder_;
  TokenFolder tokens_;
  const std::string db_ = folder_.File("dataset.db");
  const Variable format_{"TELEMETRY_COLLECTOR_LOG_FORMAT", "json"};
  const Variable level_{"TELEMETRY_COLLECTOR_LOG_LEVEL", "debug"};
  const Variable token_file_{"TELEMETRY_COLLECTOR_TOKENS", tokens_.path()};
  std::shared_ptr<grpc::Channel> channel_;
};

TEST_F(LogStory, EachLineIsJsonAndACallersErrorMeetsIt) {
  const std::string writer = tokens_.Add({.name = "ci\n{\"level\": \"info\"}", .roles = {Role::kWriter}});
  const std::string reader = tokens_.Add({.name = "reader", .roles = {Role::kReader}});
  bench::CollectorProcess collector = bench::CollectorProcess::Start(db_);
  Connect(collector.address());

  v1::Batch damaged = MakeBatch(1, {storage::RunRecord('a')});
  damaged.set_crc32c(damaged.crc32c() + 1);
  const std::string client = "laptop\n{\"message\": \"all is well\"}\x1b[2J";
  const Heard good = Stream(writer, client, MakeBatch(1, {storage::RunRecord('a')}), "job-17.build_4");
  const Heard broken = Stream(writer, client, damaged);
  const Heard hostile = Stream(writer, client, damaged, "a\", \"level\": \"debug");
  const Heard stranger = Stream("tt_" + std::string(43, 'x'), client, damaged);
  const Heard unary = Unary(writer);
  const Heard denied = Export(writer);
  const Heard exported = Export(reader);
  EXPECT_EQ(collector.Stop(), 0);

  EXPECT_TRUE(good.status.ok()) << good.status.error_message();
  EXPECT_EQ(good.request_id, "job-17.build_4");
  EXPECT_TRUE(exported.status.ok()) << exported.status.error_message();
  std::set<std::string> ids = {good.request_id};
  for (const Heard& heard : {broken, hostile, stranger, unary, denied, exported}) {
    EXPECT_TRUE(access::IsRequestId(heard.request_id)) << heard.request_id;
    ids.insert(heard.request_id);
  }
  EXPECT_EQ(ids.size(), 7u) << "two calls have the same id";

  const std::vector<Json> lines = ReadLog();
  EXPECT_THAT(Told(lines, good.request_id, "client"), testing::ElementsAre(client));
  for (const Heard& heard : {broken, hostile, stranger, unary, denied}) {
    EXPECT_FALSE(heard.status.ok());
    EXPECT_THAT(Told(lines, heard.request_id, "reason"), testing::Contains(heard.status.error_message()));
    for (const std::string& method : Told(lines, heard.request_id, "method")) EXPECT_THAT(method, HasSubstr("/telem"));
  }
  EXPECT_THAT(Told(lines, exported.request_id, "name"), testing::ElementsAre("reader"));
  std::ifstream file(db_ + ".log", std::ios::binary);
  const std::string log((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  EXPECT_THAT(log, Not(HasSubstr(writer.substr(3))));
  EXPECT_THAT(log, Not(HasSubstr(std::string(43, 'x'))));
}

TEST_F(LogStory, IdsDifferFromOneProcessToTheNext) {
  const std::string writer = tokens_.Add({.name = "ci", .roles = {Role::kWriter}});
  std::set<std::string> ids;
  for (int start = 0; start < 2; ++start) {
    bench::CollectorProcess collector = bench::CollectorProcess::Start(db_);
    Connect(collector.address());
    for (int call = 0; call < 3; ++call) ids.insert(Unary(writer).request_id);
  }
  EXPECT_EQ(ids.size(), 6u);
}

TEST_F(LogStory, WhyItDoesNotServeIsJsonToo) {
  const ProgramOutcome outcome = RunProgram("telemetry-collector", "serve --listen 127.0.0.1:0 --db " + db_);
  EXPECT_EQ(outcome.exit_status, 1);
  const absl::StatusOr<Json> json = record::ParseJson(outcome.output);
  ASSERT_TRUE(json.ok()) << outcome.output;
  EXPECT_THAT(json->Find("message")->text, HasSubstr(tokens_.path()));
}

}  // namespace
}  // namespace telemetry::collector

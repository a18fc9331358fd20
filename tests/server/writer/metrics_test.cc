// Tests the metrics that a running collector serves over HTTP.

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "tests/server/collector/collector_story.h"
#include "tests/server/collector/token_folder.h"

namespace telemetry::collector {
namespace {

using storage::AttemptRecord;
using storage::Row;
using storage::RunRecord;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

// Returns the complete response to a GET on this machine.
std::string Get(int port, const std::string& path) {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(static_cast<uint16_t>(port))};
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0) {
    close(fd);
    return "";
  }
  const std::string request = absl::StrCat("GET ", path, " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
  EXPECT_EQ(send(fd, request.data(), request.size(), MSG_NOSIGNAL), static_cast<ssize_t>(request.size()));
  std::string answer;
  std::array<char, 4096> buffer;
  for (ssize_t size = 1; size > 0;) {
    size = recv(fd, buffer.data(), buffer.size(), 0);
    if (size > 0) answer.append(buffer.data(), static_cast<size_t>(size));
  }
  close(fd);
  return answer;
}

std::string Scrape(CollectorServer& server) { return Get(server.metrics_port(), "/metrics"); }

// Returns the value of a time series, named as in the text, or -1 if it does not exist.
double Value(const std::string& text, const std::string& series) {
  for (const absl::string_view line : absl::StrSplit(text, '\n')) {
    const std::pair<absl::string_view, absl::string_view> parts = absl::StrSplit(line, absl::MaxSplits(' ', 1));
    double value = -1;
    if (parts.first == series && absl::SimpleAtod(parts.second, &value)) return value;
  }
  return -1;
}

ServerOptions WithMetrics() { return {.metrics_listen = "127.0.0.1:0"}; }

TEST(Metrics, SayWhatBecameOfTheRecords) {
  CollectorStory story(WithMetrics());
  TestStream stream(story.channel());
  ASSERT_TRUE(stream.Open('p'));
  std::vector<std::string> records;
  for (const v1::Record& record : {RunRecord('a'), AttemptRecord('x', 'a'), Row('x', 1, 1)}) {
    records.push_back(record.SerializeAsString());
  }
  records.emplace_back("\xff\xff no record");
  stream.Send(MakeBatchOfBytes(1, records));
  ASSERT_TRUE(stream.AwaitAck(4));
  // Sends the same records again, and a new one.
  records.push_back(Row('x', 2, 1).SerializeAsString());
  stream.Send(MakeBatchOfBytes(1, records));
  ASSERT_TRUE(stream.AwaitAck(5));

  const std::string text = Scrape(story.server());
  EXPECT_THAT(text, StartsWith("HTTP/1.1 200"));
  EXPECT_EQ(Value(text, "telemetry_records_accepted_total"), 4) << text;
  EXPECT_EQ(Value(text, "telemetry_records_rejected_total{reason=\"invalid\"}"), 1) << text;
  EXPECT_EQ(Value(text, "telemetry_records_rejected_total{reason=\"not_yours\"}"), 0);
  EXPECT_EQ(Value(text, "telemetry_records_duplicate_total"), 4);
  EXPECT_EQ(Value(text, "telemetry_commit_seconds_count"), 2);
  EXPECT_GT(Value(text, "telemetry_commit_seconds_sum"), 0);
  EXPECT_EQ(Value(text, "telemetry_commit_records_sum"), 9);
  EXPECT_EQ(Value(text, "telemetry_commit_records_bucket{le=\"3\"}"), 0);
  EXPECT_EQ(Value(text, "telemetry_commit_records_bucket{le=\"10\"}"), 2);
}

TEST(Metrics, RecordsOfAnotherProducerThatWereStoredAlreadyAreDuplicates) {
  CollectorStory story(WithMetrics());
  for (const char producer : {'p', 'q'}) {
    TestStream stream(story.channel());
    ASSERT_TRUE(stream.Open(producer));
    stream.Send(MakeBatch(1, {RunRecord('a'), AttemptRecord('x', 'a'), Row('x', 1, 1)}));
    ASSERT_TRUE(stream.AwaitAck(3));
  }
  const std::string text = Scrape(story.server());
  EXPECT_EQ(Value(text, "telemetry_records_accepted_total"), 3) << text;
  EXPECT_EQ(Value(text, "telemetry_records_duplicate_total"), 3);
}

TEST(Metrics, SayHowTheCollectorIs) {
  ServerOptions options = WithMetrics();
  options.limits.in_flight_bytes = 12345678;
  CollectorStory story(options);
  TestStream stream(story.channel());
  ASSERT_TRUE(stream.Open('p'));
  stream.Send(MakeBatch(1, {RunRecord('a')}));
  ASSERT_TRUE(stream.AwaitAck(1));

  const std::string text = Scrape(story.server());
  EXPECT_EQ(Value(text, "telemetry_streams"), 1) << text;
  EXPECT_EQ(Value(text, "telemetry_producers"), 1);
  EXPECT_EQ(Value(text, "telemetry_in_flight_bytes"), 0);
  EXPECT_EQ(Value(text, "telemetry_in_flight_limit_bytes"), 12345678);
  EXPECT_EQ(Value(text, "telemetry_waiting_batches"), 0);
  EXPECT_GT(Value(text, "telemetry_window_bytes"), 0);
  EXPECT_GT(Value(text, "telemetry_database_bytes"), 0);
  EXPECT_GE(Value(text, "telemetry_wal_bytes"), 0);
  EXPECT_EQ(Value(text, absl::StrCat("telemetry_build_info{version=\"", TELEMETRY_VERSION, "\"}")), 1);
  EXPECT_THAT(Get(story.server().metrics_port(), "/"), StartsWith("HTTP/1.1 404"));
}

TEST(Metrics, CountWhoIsTurnedAwayAndHoldNoToken) {
  TokenFolder tokens;
  const std::string writer = tokens.Add({.name = "ci", .roles = {access::Role::kWriter}});
  tokens.Add({.name = "bound", .roles = {access::Role::kWriter}, .producers = {"71717171717171717171717171717171"}});
  ServerOptions options = WithMetrics();
  options.tokens = tokens.path();
  CollectorStory story(options);
  TestStream allowed(story.channel(), writer);
  EXPECT_TRUE(allowed.Open('p'));
  TestStream unknown(story.channel(), "tt_" + std::string(43, 'A'));
  EXPECT_FALSE(unknown.Open('p'));
  TestStream somebody_elses(story.channel(), writer);
  EXPECT_FALSE(somebody_elses.Open('q'));

  const std::string text = Scrape(story.server());
  EXPECT_EQ(Value(text, "telemetry_calls_refused_total{reason=\"unauthenticated\"}"), 1) << text;
  EXPECT_EQ(Value(text, "telemetry_calls_refused_total{reason=\"permission_denied\"}"), 1);
  EXPECT_EQ(Value(text, "telemetry_calls_refused_total{reason=\"overloaded\"}"), 0);
  EXPECT_THAT(text, Not(HasSubstr("tt_")));
  EXPECT_THAT(text, Not(HasSubstr("bound")));
}

TEST(Metrics, SayTheLimitsAndWhatTheyStopped) {
  ServerOptions options = WithMetrics();
  options.limits.max_streams = 4;
  options.limits.max_streams_per_producer = 1;
  options.limits.producer_bytes_per_second = 1;
  options.limits.record.config_bytes = 10;
  CollectorStory story(options);
  TestStream first(story.channel());
  ASSERT_TRUE(first.Open('p'));
  {
    TestStream same(story.channel());
    EXPECT_FALSE(same.Open('p'));
  }
  first.Send(MakeBatch(1, {storage::ConfigRecord(7, std::string(4000, 'c'))}));
  ASSERT_TRUE(first.AwaitAck(1));

  const std::string text = Scrape(story.server());
  EXPECT_EQ(Value(text, "telemetry_limit{name=\"max_streams\"}"), 4) << text;
  EXPECT_EQ(Value(text, "telemetry_limit{name=\"keepalive_time_seconds\"}"), 30);
  EXPECT_EQ(Value(text, "telemetry_calls_refused_total{reason=\"too_many_streams_of_producer\"}"), 1);
  EXPECT_EQ(Value(text, "telemetry_reads_delayed_total"), 1);
  EXPECT_EQ(Value(text, "telemetry_records_too_large_total"), 1);
  EXPECT_EQ(Value(text, "telemetry_waiting_bytes"), 0);
  EXPECT_GE(Value(text, "telemetry_unread_ack_bytes"), 0) << "until gRPC has sent the Ack";
  EXPECT_EQ(Value(text, "telemetry_streams_ended_total{reason=\"idle\"}"), 0);
}

TEST(Metrics, CountWhoTakesTooLong) {
  ServerOptions options = WithMetrics();
  options.limits.open_timeout = absl::Milliseconds(50);
  CollectorStory story(options);
  TestStream(story.channel()).AwaitEnd();
  const std::string text = Scrape(story.server());
  EXPECT_EQ(Value(text, "telemetry_streams_ended_total{reason=\"no_open\"}"), 1) << text;
}

TEST(Metrics, SayHowFullTheDiskIs) {
  ServerOptions options = WithMetrics();
  options.limits.keep_free_bytes = 1000;
  options.free_disk_bytes = [](const std::string&) { return 999; };
  CollectorStory story(options);
  TestStream stream(story.channel());
  EXPECT_FALSE(stream.Open('p'));
  const std::string text = Scrape(story.server());
  EXPECT_EQ(Value(text, "telemetry_disk_free_bytes"), 999) << text;
  EXPECT_EQ(Value(text, "telemetry_disk_keep_free_bytes"), 1000);
  EXPECT_EQ(Value(text, "telemetry_calls_refused_total{reason=\"disk_full\"}"), 1);
}

TEST(Metrics, SayWhatRetentionRemoves) {
  ServerOptions options = WithMetrics();
  options.retention = {.rules = {.keep_bytes = 0}, .interval = absl::Milliseconds(1)};
  CollectorStory story(options);
  TestStream stream(story.channel());
  ASSERT_TRUE(stream.Open('p'));
  std::vector<v1::Record> records = {RunRecord('a')};
  for (const char attempt : {'x', 'y'}) {
    records.push_back(AttemptRecord(attempt, 'a'));
    records.back().mutable_attempt()->set_state(v1::Attempt::STATE_COMPLETE);
    for (uint64_t seq = 1; seq <= 1000; ++seq) records.push_back(Row(attempt, seq, 1));
  }
  stream.Send(MakeBatch(1, records));
  ASSERT_TRUE(stream.AwaitAck(records.size()));
  while (story.Query("SELECT count(*) FROM attempts") != "1") continue;
  std::string text;
  // The pass may still be running when its removal is counted.
  while (Value(text, "telemetry_retention_attempts_removed_total") != 1 ||
         Value(text, "telemetry_retention_last_pass_age_seconds") < 0) {
    text = Scrape(story.server());
  }
  EXPECT_GT(Value(text, "telemetry_retention_freed_bytes_total"), 4096) << text;
  EXPECT_GE(Value(text, "telemetry_served_seconds"), 0);
}

TEST(Metrics, CountConnections) {
  ServerOptions options = WithMetrics();
  options.listen = "127.0.0.1:0";
  CollectorStory story(options);
  const std::string text = Scrape(story.server());
  EXPECT_EQ(Value(text, "telemetry_connections"), 0) << text;
  EXPECT_EQ(Value(text, "telemetry_connections_refused_total{reason=\"too_many_of_address\"}"), 0);
  EXPECT_EQ(Value(text, "telemetry_connection_storms_total"), 0);
  EXPECT_EQ(Value(text, "telemetry_listeners_reopened_total"), 0);
  EXPECT_EQ(Value(text, "telemetry_limit{name=\"max_connections\"}"), 2048);
}

TEST(Metrics, ATakenPortIsSaid) {
  CollectorStory story(WithMetrics());
  TempFolder folder;
  const std::string taken = absl::StrCat("127.0.0.1:", story.server().metrics_port());
  const auto second = CollectorServer::Start({.db = folder.File("dataset.db"), .metrics_listen = taken});
  EXPECT_TRUE(absl::IsUnavailable(second.status())) << second.status();
  EXPECT_THAT(std::string(second.status().message()), HasSubstr("metrics on " + taken));
}

TEST(Metrics, AreNotServedUnlessAskedFor) {
  CollectorStory story;
  EXPECT_EQ(story.server().metrics_port(), 0);
}

}  // namespace
}  // namespace telemetry::collector

// Tests a collector on a real port with clients that send invalid frames and messages, cut off at any byte. After every
// session, the next well-behaved client is served and the dataset is intact.
//
// TELEMETRY_CONNECTION_FUZZ_SECONDS (default 4) is the duration of each test. TELEMETRY_SEED repeats a run: session N
// of a run is the first session of a run with the seed + N.

#include <grpc/support/log.h>
#include <grpcpp/create_channel.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <deque>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/clock.h"
#include "tests/environment.h"
#include "tests/fuzz/connection/raw_connection.h"
#include "tests/fuzz/connection/session.h"
#include "tests/server/access/log_capture.h"
#include "tests/server/collector/collector_story.h"

namespace telemetry::fuzz {
namespace {

constexpr uint64_t kSessionsBetweenChecks = 50;
constexpr absl::Duration kGoodClientsPatience = absl::Seconds(20);
constexpr size_t kMostLeftOpen = 20;

// Returns a producer id of 16 bytes, different for each kind and number.
std::string Producer(char kind, uint64_t number) { return absl::StrFormat("%c%015d", kind, number); }

class ConnectionFuzz : public ::testing::Test {
 protected:
  ConnectionFuzz() {
    // gRPC logs every invalid frame. The program's own log limits these lines to a few per second.
    gpr_set_log_function([](gpr_log_func_args*) {});
  }

  // Runs sessions of one kind in sequence until the time is over, with a well-behaved client between them.
  template <typename MakeBytes>
  void Run(MakeBytes make_bytes) {
    const uint64_t seed = TestSeed();
    const absl::Time end = absl::Now() + absl::Seconds(NumberFromEnvironment("TELEMETRY_CONNECTION_FUZZ_SECONDS", 4));
    uint64_t sessions = 0;
    do {
      for (uint64_t i = 0; i < kSessionsBetweenChecks; ++i, ++sessions) {
        Random random(seed + sessions);
        Play(random, make_bytes(random, Producer('f', sessions)));
      }
      SCOPED_TRACE(absl::StrCat("TELEMETRY_SEED=", seed + sessions - kSessionsBetweenChecks, ", or one of the next ",
                                kSessionsBetweenChecks));
      AGoodClientIsServed(sessions);
    } while (absl::Now() < end && !HasFailure());
    std::fprintf(stderr, "%llu sessions\n", static_cast<unsigned long long>(sessions));
    left_open_.clear();
    EXPECT_EQ(story_.fatal_errors(), 0);
    EXPECT_EQ(story_.Query("PRAGMA integrity_check"), "ok");
  }

  // Sends the bytes in pieces, optionally truncated; optionally reads responses; and closes the connection in one of
  // several ways.
  void Play(Random& random, std::string bytes) {
    RawConnection connection(story_.server().port());
    if (Below(random, 4) == 0) bytes.resize(Below(random, bytes.size() + 1));
    const size_t pieces = Below(random, 3) == 0 ? 1 + Below(random, 20) : 1;
    for (size_t at = 0; at < bytes.size(); at += bytes.size() / pieces + 1) {
      if (!connection.Send(bytes.substr(at, bytes.size() / pieces + 1))) break;
      if (pieces > 1 && Below(random, 4) == 0) connection.Receive(absl::Milliseconds(1));
    }
    const absl::Duration patience = absl::Milliseconds(Below(random, 4) == 0 ? 20 : 0);
    while (Below(random, 8) != 0 && connection.Receive(patience)) {
    }
    switch (Below(random, 5)) {
      case 0:
        return connection.Reset();
      case 1:
        connection.HalfClose();
        [[fallthrough]];
      case 2:
        left_open_.push_back(std::move(connection));
        if (left_open_.size() > kMostLeftOpen) left_open_.pop_front();
        return;
      default:
        return;
    }
  }

  void AGoodClientIsServed(uint64_t number) {
    Random random(number);
    const std::string producer = Producer('g', number);
    const std::vector<v1::StreamRequest> requests = ValidStream(random, producer, 3);
    const auto channel =
        grpc::CreateChannel(absl::StrCat("127.0.0.1:", story_.server().port()), grpc::InsecureChannelCredentials());
    grpc::ClientContext context;
    context.set_deadline(absl::ToChronoTime(absl::Now() + kGoodClientsPatience));
    const auto stub = v1::IngestService::NewStub(channel);
    const auto stream = stub->Stream(&context);
    for (const v1::StreamRequest& request : requests) stream->Write(request);
    stream->WritesDone();
    v1::StreamResponse response;
    uint64_t committed_seq = 0;
    while (stream->Read(&response)) committed_seq = std::max(committed_seq, response.ack().committed_seq());
    const grpc::Status status = stream->Finish();
    ASSERT_TRUE(status.ok()) << status.error_message();
    const v1::Batch& last = requests.back().batch();
    const uint64_t last_seq = last.first_seq() + static_cast<uint64_t>(last.records_size()) - 1;
    ASSERT_EQ(committed_seq, last_seq);
    ASSERT_EQ(CountRows(producer), absl::StrCat(last_seq - 2)) << "acknowledged, and not there";
  }

  std::string CountRows(const std::string& producer) const {
    return story_.Query(
        absl::StrCat("SELECT count(*) FROM measurements JOIN attempts USING (attempt) "
                     "WHERE CAST(attempt_id AS TEXT) = '",
                     producer, "'"));
  }

  static std::string ToBytes(const Session& session) {
    std::string bytes(http2::kPreface);
    for (const Frame& frame : session) http2::AppendFrame(frame, &bytes);
    return bytes;
  }

  const access::LogCapture log_;  // captures the log lines of refused calls
  collector::CollectorStory story_{collector::ServerOptions{.listen = "127.0.0.1:0"}};
  std::deque<RawConnection> left_open_;
};

TEST_F(ConnectionFuzz, WhatTheMutationsBeginWithIsRight) {
  Random random(1);
  for (uint64_t i = 0; i < 20; ++i) {
    const std::string producer = Producer('v', i);
    RawConnection connection(story_.server().port());
    ASSERT_TRUE(connection.Send(ToBytes(ValidSession(random, producer))));
    const absl::Time end = absl::Now() + kGoodClientsPatience;
    const std::string committed =
        absl::StrCat("SELECT count(*) FROM attempts WHERE CAST(attempt_id AS TEXT) = '", producer, "'");
    while (story_.Query(committed) != "1" && absl::Now() < end) connection.Receive(absl::Milliseconds(10));
    EXPECT_EQ(story_.Query(committed), "1") << i;
  }
}

TEST_F(ConnectionFuzz, WrongMessages) {
  Run([](Random& random, const std::string& producer) { return ToBytes(WrongMessages(random, producer)); });
}

TEST_F(ConnectionFuzz, WrongFrames) {
  Run([](Random& random, const std::string& producer) {
    Session session = ValidSession(random, producer);
    MutateFrames(random, &session);
    return ToBytes(session);
  });
}

TEST_F(ConnectionFuzz, WrongBytes) {
  Run([](Random& random, const std::string& producer) {
    std::string bytes = ToBytes(ValidSession(random, producer));
    MutateBytes(random, &bytes);
    return bytes;
  });
}

}  // namespace
}  // namespace telemetry::fuzz

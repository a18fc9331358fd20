// Clients that mean no good, or are in a bad way, over real sockets against the real program: its memory stays bounded,
// others are served as before, and who is dead is put out.
//
// TELEMETRY_FAULTS: 50 (the default) is what tests/run does; from 1000 on the sizes and times are those of production.

#include <grpcpp/create_channel.h>
#include <stdlib.h>
#include <zlib.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "gtest/gtest.h"
#include "proto/record/ids.h"
#include "telemetry/v1/dataset.grpc.pb.h"
#include "telemetry/v1/ingest.grpc.pb.h"
#include "tests/bench/bench_ingest/collector_process.h"
#include "tests/faults/raw_http2.h"

namespace telemetry::faults {
namespace {

using bench::CollectorOptions;
using bench::CollectorProcess;

constexpr double kMemoryMib = 256;
constexpr char kStream[] = "/telemetry.v1.IngestService/Stream";
constexpr char kIngest[] = "/telemetry.v1.IngestService/Ingest";

bool FullSize() {
  const char* text = std::getenv("TELEMETRY_FAULTS");
  return text != nullptr && std::atoi(text) >= 1000;
}

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

std::string ProducerId(int number) {
  std::string id = absl::StrCat("producer ", number);
  id.resize(16, '.');
  return id;
}

// A well-behaved producer: one small batch at a time.
class GoodClient {
 public:
  explicit GoodClient(const std::string& address)
      : stub_(v1::IngestService::NewStub(grpc::CreateChannel(address, grpc::InsecureChannelCredentials()))) {
    context_.set_deadline(absl::ToChronoTime(absl::Now() + absl::Minutes(5)));
    stream_ = stub_->Stream(&context_);
    v1::StreamRequest request;
    request.mutable_open()->set_producer_id("a good producer!");
    v1::StreamResponse response;
    EXPECT_TRUE(stream_->Write(request) && stream_->Read(&response)) << "a good client is not served";
    seq_ = response.opened().committed_seq();
  }

  ~GoodClient() {
    context_.TryCancel();
    stream_->Finish();
  }

  bool Send() {
    v1::StreamRequest request;
    *request.mutable_batch() = MakeBatch(++seq_, AttemptRecord(20), 1);
    if (!stream_->Write(request)) return false;
    v1::StreamResponse response;
    while (stream_->Read(&response)) {
      if (response.ack().committed_seq() >= seq_) return true;
    }
    return false;
  }

  // The 99th percentile of the time to an Ack.
  double P99Ms(int batches) {
    std::vector<double> times;
    for (int i = 0; i < batches; ++i) {
      const absl::Time begin = absl::Now();
      EXPECT_TRUE(Send()) << "a good client's stream ended";
      times.push_back(absl::ToDoubleMilliseconds(absl::Now() - begin));
    }
    std::sort(times.begin(), times.end());
    return times[times.size() * 99 / 100];
  }

 private:
  grpc::ClientContext context_;
  std::unique_ptr<v1::IngestService::Stub> stub_;
  std::unique_ptr<grpc::ClientReaderWriter<v1::StreamRequest, v1::StreamResponse>> stream_;
  uint64_t seq_ = 0;
};

// Time limits that a test can wait for; at full size those of production.
std::vector<std::string> ShortTimes(int seconds = 3) {
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

// Who is dead is put out within it.
absl::Duration MostTime() { return FullSize() ? absl::Seconds(60) : absl::Seconds(15); }

void InParallel(int count, const std::function<void(int)>& what) {
  std::vector<std::thread> threads;
  for (int i = 0; i < count; ++i) threads.emplace_back(what, i);
  for (std::thread& thread : threads) thread.join();
}

class HostileTest : public testing::Test {
 protected:
  HostileTest() {
    std::string pattern = (std::filesystem::temp_directory_path() / "telemetry-hostile-XXXXXX").string();
    folder_ = mkdtemp(pattern.data());
  }

  ~HostileTest() override {
    collector_.reset();
    std::filesystem::remove_all(folder_);
  }

  void Start(const std::vector<std::string>& environment = {}) {
    CollectorOptions options;
    options.environment = environment;
    collector_ = std::make_unique<CollectorProcess>(CollectorProcess::Start(folder_ + "/dataset.db", options));
    std::cout << "at the start: " << bench::PeakMib(collector_->pid()) << " MiB" << std::endl;
  }

  int port() const { return collector_->port(); }

  void ExpectSmallAndServing() {
    const double peak = bench::PeakMib(collector_->pid());
    std::cout << "peak: " << peak << " MiB" << std::endl;
    EXPECT_LT(peak, kMemoryMib);
    EXPECT_TRUE(GoodClient(collector_->address()).Send());
  }

  std::string folder_;
  std::unique_ptr<CollectorProcess> collector_;
};

// Zeros, a thousand times smaller.
std::string Compressed(size_t bytes) {
  z_stream stream = {};
  deflateInit2(&stream, Z_BEST_COMPRESSION, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
  std::string zeros(1 << 20, '\0');
  std::string out;
  std::string piece(1 << 16, '\0');
  for (size_t done = 0; done <= bytes; done += zeros.size()) {
    stream.next_in = reinterpret_cast<Bytef*>(zeros.data());
    stream.avail_in = static_cast<uInt>(zeros.size());
    const int flush = done + zeros.size() > bytes ? Z_FINISH : Z_NO_FLUSH;
    do {
      stream.next_out = reinterpret_cast<Bytef*>(piece.data());
      stream.avail_out = static_cast<uInt>(piece.size());
      deflate(&stream, flush);
      out.append(piece.data(), piece.size() - stream.avail_out);
    } while (stream.avail_out == 0);
  }
  deflateEnd(&stream);
  return out;
}

TEST_F(HostileTest, GzipBombs) {
  Start();
  const std::string bomb = RawConnection::Message(Compressed(FullSize() ? size_t{4} << 30 : size_t{400} << 20), true);
  for (const char* method :
       {kStream, kIngest, "/telemetry.v1.DatasetService/ListRuns", "/telemetry.v1.DatasetService/Export",
        "/grpc.health.v1.Health/Check", "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo"}) {
    RawConnection connection(port());
    connection.SendPreface();
    connection.StartCall(1, method, {{"grpc-encoding", "gzip"}});
    connection.SendData(1, bomb);
    EXPECT_TRUE(connection.AwaitEnd(1, absl::Seconds(10))) << method;
    EXPECT_LT(bench::PeakMib(collector_->pid()), kMemoryMib) << method;
  }
  ExpectSmallAndServing();
}

// gRPC believes the length and reads on: what all of them send together is bounded, and how long they may take.
TEST_F(HostileTest, ALengthOfTwoGigabytes) {
  Start(ShortTimes());
  const std::string begin = RawConnection::MessageHead(uint32_t{1} << 31) + std::string(16 << 20, 'x');
  std::vector<RawConnection> connections;
  for (int i = 0; i < 64; ++i) connections.emplace_back(port());
  InParallel(64, [&](int i) {
    connections[i].SendPreface();
    connections[i].StartCall(1, i % 2 == 0 ? kStream : kIngest);
    connections[i].SendData(1, begin, absl::Seconds(1));
  });
  for (RawConnection& connection : connections) EXPECT_TRUE(connection.AwaitEnd(1, MostTime()));
  ExpectSmallAndServing();
}

// A graph of nodes with nothing in them: two bytes each here, hundreds in memory.
std::string HollowRecord() {
  v1::Record record;
  for (int i = 0; i < 1'000'000; ++i) record.mutable_ir_graph()->add_nodes();
  return record.SerializeAsString();
}

TEST_F(HostileTest, AMillionTinyRecords) {
  Start();
  const v1::Batch batches[] = {MakeBatch(1, "", 4'000'000), MakeBatch(1, "", 65536), MakeBatch(1, "x", 65536),
                               MakeBatch(1, HollowRecord(), 3)};
  for (const v1::Batch& batch : batches) {
    const std::string message = RawConnection::Message(BatchMessage(batch));
    InParallel(16, [&](int i) {
      RawConnection connection(port());
      connection.SendPreface();
      connection.StartCall(1, kStream);
      connection.SendData(1, RawConnection::Message(OpenMessage(ProducerId(i))));
      connection.SendData(1, message);
      connection.AwaitEnd(1, absl::Seconds(1));
    });
    std::cout << message.size() << " bytes: " << bench::PeakMib(collector_->pid()) << " MiB" << std::endl;
  }
  ExpectSmallAndServing();
}

TEST_F(HostileTest, MessagesThatNeverEnd) {
  Start();
  const std::string part = RawConnection::MessageHead(8 << 20) + std::string((8 << 20) - 1, 'x');
  InParallel(64, [&](int /*i*/) {
    RawConnection connection(port());
    connection.SendPreface();
    for (uint32_t stream = 1; stream < 16; stream += 2) {
      connection.StartCall(stream, stream % 4 == 1 ? kStream : kIngest);
      connection.SendData(stream, part, absl::Seconds(1));
    }
  });
  ExpectSmallAndServing();
}

TEST_F(HostileTest, TheDiskStalls) {
  const std::string stall = folder_ + "/stall";
  Start({absl::StrCat("LD_PRELOAD=", bench::ProgramPath("libstalling-disk.so")), "TELEMETRY_STALL=" + stall});
  // The largest batches that may be, of large records and of small ones.
  const std::string messages[] = {RawConnection::Message(BatchMessage(MakeBatch(1, AttemptRecord((1 << 20) - 200), 8))),
                                  RawConnection::Message(BatchMessage(MakeBatch(1, AttemptRecord(20), 65536)))};
  std::vector<std::unique_ptr<RawConnection>> connections;
  const auto connect = [this](int i) {
    auto connection = std::make_unique<RawConnection>(port());
    connection->SendPreface();
    connection->StartCall(1, kStream);
    connection->SendData(1, RawConnection::Message(OpenMessage(ProducerId(i))));
    return connection;
  };
  for (int i = 0; i < 64; ++i) connections.push_back(connect(i));
  for (const auto& connection : connections) EXPECT_TRUE(connection->AwaitAnswer(1, absl::Seconds(10)));
  std::ofstream(stall).flush();
  const absl::Time end = absl::Now() + (FullSize() ? absl::Seconds(60) : absl::Seconds(4));
  std::atomic<int> ended = 0;
  InParallel(64, [&](int i) {
    while (absl::Now() < end) {
      // It sends on whatever the window says.
      while (absl::Now() < end && connections[i]->SendData(1, messages[i % 2], absl::Seconds(1))) {
      }
      while (absl::Now() < end && !connections[i]->AwaitEnd(1, absl::Milliseconds(100))) {
      }
      connections[i] = connect(i);
      ++ended;
    }
  });
  std::cout << "while it stalls: " << bench::PeakMib(collector_->pid()) << " MiB; " << ended << " streams ended"
            << std::endl;
  std::filesystem::remove(stall);
  ExpectSmallAndServing();
}

// What a hostile client does; each is one of so many connections.
enum Kind { kNothing, kSlowPreface, kNoCall, kSlowOpen, kSlowBatch, kDeaf, kKinds };

struct Hostile {
  Kind kind;
  RawConnection connection;
  std::string rest = "";  // what it still sends, a byte at a time
  std::optional<absl::Duration> closed_after = std::nullopt;
};

Hostile MakeHostile(int port, int number) {
  Hostile hostile{static_cast<Kind>(number % kKinds), RawConnection(port)};
  RawConnection& connection = hostile.connection;
  if (hostile.kind == kSlowPreface) hostile.rest = RawConnection::Preface();
  if (hostile.kind <= kSlowPreface) return hostile;
  connection.SendPreface(hostile.kind == kDeaf ? 0 : 65535);
  if (hostile.kind == kNoCall) return hostile;
  connection.StartCall(1, kStream);
  const std::string open = RawConnection::Message(OpenMessage(ProducerId(number)));
  hostile.rest = hostile.kind == kSlowOpen ? open : RawConnection::Message(std::string(1000, 'x'));
  if (hostile.kind > kSlowOpen) connection.SendData(1, open);
  return hostile;
}

// One byte each, and a look whether they are still let; spread over `period`, since they know nothing of each other.
void Tick(std::vector<Hostile>& hostiles, absl::Time begin, absl::Duration period) {
  constexpr int kAtATime = 8;
  int count = 0;
  for (Hostile& hostile : hostiles) {
    if (++count % kAtATime == 0) absl::SleepFor(period * kAtATime / hostiles.size());
    if (hostile.closed_after) continue;
    if (!hostile.rest.empty()) {
      const std::string byte = hostile.rest.substr(0, 1);
      hostile.kind == kSlowPreface ? hostile.connection.SendRaw(byte) : hostile.connection.SendData(1, byte);
      hostile.rest.erase(0, 1);
    }
    if (hostile.connection.AwaitEnd(1, absl::ZeroDuration())) hostile.closed_after = absl::Now() - begin;
  }
}

class ManyHostileTest : public HostileTest {
 protected:
  // The good client's 99th percentiles without the others and among them, when they have been put out again.
  struct Round {
    double alone_ms;
    double among_ms;
  };
  Round Play() {
    const int batches = FullSize() ? 2000 : 200;
    GoodClient good(collector_->address());
    good.P99Ms(20);
    const double before_ms = good.P99Ms(batches);
    std::vector<Hostile> hostiles;
    for (int i = 0; i < 2000; ++i) hostiles.push_back(MakeHostile(port(), i));
    const absl::Time begin = absl::Now();
    // That they are there is what is measured, not that they come.
    for (Hostile& hostile : hostiles) {
      if (hostile.kind == kSlowBatch) hostile.connection.AwaitAnswer(1, absl::Seconds(10));
    }
    std::atomic<bool> measured = false;
    const absl::Duration period = FullSize() ? absl::Seconds(1) : absl::Milliseconds(300);
    std::thread ticks([&] {
      while (!measured || (AnyOpen(hostiles) && absl::Now() < begin + MostTime())) {
        Tick(hostiles, begin, period);
      }
    });
    const double among_ms = good.P99Ms(batches);
    const absl::Duration took = absl::Now() - begin;
    measured = true;
    ticks.join();
    ExpectPutOut(hostiles, took);
    const double after_ms = GoodClient(collector_->address()).P99Ms(batches);
    std::cout << "p99 " << before_ms << " ms before, " << among_ms << " ms among them, " << after_ms << " ms after"
              << std::endl;
    return {std::max(before_ms, after_ms), among_ms};
  }

 private:
  // With the times of production, a stream that sends a batch byte by byte is alive for an hour.
  static bool MayStay(const Hostile& hostile) { return FullSize() && hostile.kind == kSlowBatch; }
  static bool AnyOpen(const std::vector<Hostile>& hostiles) {
    return std::any_of(hostiles.begin(), hostiles.end(),
                       [](const Hostile& hostile) { return !hostile.closed_after && !MayStay(hostile); });
  }
  void ExpectPutOut(const std::vector<Hostile>& hostiles, absl::Duration measured) {
    for (int kind = 0; kind < kKinds; ++kind) {
      int open = 0;
      absl::Duration first = absl::InfiniteDuration();
      absl::Duration last;
      for (const Hostile& hostile : hostiles) {
        if (hostile.kind != kind) continue;
        if (!hostile.closed_after && !MayStay(hostile)) ++open;
        first = std::min(first, hostile.closed_after.value_or(absl::InfiniteDuration()));
        last = std::max(last, hostile.closed_after.value_or(absl::ZeroDuration()));
      }
      EXPECT_EQ(open, 0) << "of kind " << kind << " are not put out";
      std::cout << "kind " << kind << ": put out after " << first << " to " << last << " (measured for " << measured
                << ")" << std::endl;
    }
  }
};

TEST_F(ManyHostileTest, IdleSlowAndDeafOnesHoldNobodyUp) {
  Start(ShortTimes(6));
  // On a busy machine a percentile may be anybody's; hostile clients that matter do so each time.
  Round round = Play();
  for (int again = 0; again < 2 && round.among_ms > 2 * round.alone_ms; ++again) round = Play();
  EXPECT_LE(round.among_ms, 2 * round.alone_ms);
  ExpectSmallAndServing();
}

TEST_F(HostileTest, DeafExportsMakeWay) {
  Start(ShortTimes());
  std::vector<RawConnection> deaf;
  for (int i = 0; i < 8; ++i) {
    RawConnection& connection = deaf.emplace_back(port());
    connection.SendPreface(0);
    connection.StartCall(1, "/telemetry.v1.DatasetService/Export");
    connection.SendData(1, RawConnection::Message(""));
  }
  const auto stub =
      v1::DatasetService::NewStub(grpc::CreateChannel(collector_->address(), grpc::InsecureChannelCredentials()));
  grpc::ClientContext context;
  context.set_deadline(absl::ToChronoTime(absl::Now() + MostTime()));
  auto reader = stub->Export(&context, {});
  v1::ExportItem item;
  EXPECT_TRUE(reader->Read(&item));
  context.TryCancel();
  reader->Finish();
}

}  // namespace
}  // namespace telemetry::faults

// Clients that mean no good, or are in a bad way, over real sockets against the real program: its memory stays bounded,
// and others are served as before.
//
// The limit of 256 MiB is tested here for the transport: compressed and endless messages, lengths that lie, batches of
// empty or unreadable records, and batches that wait for the disk. The content of valid records, as the caches and the
// pages of an export hold it, is not part of these tests.

#include <grpcpp/create_channel.h>
#include <zlib.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iostream>
#include <iterator>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "gtest/gtest.h"
#include "proto/record/ids.h"
#include "telemetry/v1/dataset.grpc.pb.h"
#include "tests/faults/hostile_fixture.h"
#include "tests/faults/raw_http2.h"

namespace telemetry::faults {
namespace {

void InParallel(int count, const std::function<void(int)>& what) {
  std::vector<std::thread> threads;
  for (int i = 0; i < count; ++i) threads.emplace_back(what, i);
  for (std::thread& thread : threads) thread.join();
}

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
  const std::string bomb = http2::GrpcMessage(Compressed(FullSize() ? size_t{4} << 30 : size_t{400} << 20), true);
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
  const std::string begin = http2::GrpcMessageHead(uint32_t{1} << 31) + std::string(16 << 20, 'x');
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
    const std::string message = http2::GrpcMessage(BatchMessage(batch));
    InParallel(16, [&](int i) {
      RawConnection connection(port());
      connection.SendPreface();
      connection.StartCall(1, kStream);
      connection.SendData(1, http2::GrpcMessage(OpenMessage(ProducerId(i))));
      connection.SendData(1, message);
      connection.AwaitEnd(1, absl::Seconds(1));
    });
    std::cout << message.size() << " bytes: " << bench::PeakMib(collector_->pid()) << " MiB" << std::endl;
  }
  ExpectSmallAndServing();
}

TEST_F(HostileTest, MessagesThatNeverEnd) {
  Start();
  const std::string part = http2::GrpcMessageHead(8 << 20) + std::string((8 << 20) - 1, 'x');
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
  const std::string messages[] = {http2::GrpcMessage(BatchMessage(MakeBatch(1, RunRecord((1 << 20) - 200), 8))),
                                  http2::GrpcMessage(BatchMessage(MakeBatch(1, AttemptRecord(20), 65536)))};
  std::vector<std::unique_ptr<RawConnection>> connections;
  const auto connect = [this](int i) {
    auto connection = std::make_unique<RawConnection>(port());
    connection->SendPreface();
    connection->StartCall(1, kStream);
    connection->SendData(1, http2::GrpcMessage(OpenMessage(ProducerId(i))));
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

// Sends one batch after another with unary calls.
class OneByOne {
 public:
  explicit OneByOne(const std::string& address)
      : stub_(v1::IngestService::NewStub(grpc::CreateChannel(address, grpc::InsecureChannelCredentials()))) {}

  // Returns how many records were refused; -1: the call failed.
  int Send(const std::vector<v1::Record>& records) {
    v1::IngestRequest request;
    request.mutable_open()->set_producer_id(ProducerId(1));
    v1::Batch& batch = *request.mutable_batch();
    batch.set_first_seq(next_seq_);
    uint32_t crc = 0;
    for (const v1::Record& record : records)
      crc = record::Crc32c(crc, *batch.add_records() = record.SerializeAsString());
    batch.set_crc32c(crc);
    grpc::ClientContext context;
    context.set_deadline(absl::ToChronoTime(absl::Now() + absl::Minutes(2)));
    v1::IngestResponse response;
    const grpc::Status status = stub_->Ingest(&context, request, &response);
    EXPECT_TRUE(status.ok()) << status.error_message();
    next_seq_ += records.size();
    EXPECT_TRUE(!status.ok() || response.ack().committed_seq() + 1 == next_seq_);
    return status.ok() ? response.ack().rejects_size() : -1;
  }

 private:
  const std::unique_ptr<v1::IngestService::Stub> stub_;
  uint64_t next_seq_ = 1;
};

// A bound far below the bytes that are sent, and far above the memory that one batch at a time takes.
constexpr double kNothingKeptMib = 130;

v1::Record Attempt() {
  v1::Record record;
  record.ParseFromString(AttemptRecord(20));
  return record;
}

v1::Record RowWithStatus(uint64_t seq, const std::string& status) {
  v1::Record record;
  v1::Measurement& row = *record.mutable_measurement();
  row.set_attempt_id(std::string(16, 'x'));
  row.set_seq(seq);
  row.set_status(status);
  row.set_config_id(7);
  return record;
}

std::string DistinctText(uint64_t number, size_t bytes) {
  std::string text = absl::StrCat(number, "-");
  text.resize(bytes, 's');
  return text;
}

TEST_F(HostileTest, EachRowHasAnotherStatus) {
  Start();
  OneByOne client(collector_->address());
  EXPECT_EQ(client.Send({Attempt()}), 0);
  uint64_t seq = 0;
  for (int i = 0; i < 25; ++i, ++seq) {
    EXPECT_EQ(client.Send({RowWithStatus(seq + 1, DistinctText(seq, 6 << 20))}), 1) << "of 6 MiB";
  }
  for (int batch = 0; batch < 100; ++batch) {
    std::vector<v1::Record> rows;
    for (int i = 0; i < 250; ++i, ++seq) rows.push_back(RowWithStatus(seq + 1, DistinctText(seq, 4000)));
    EXPECT_EQ(client.Send(rows), 0) << "of 4 kB";
  }
  EXPECT_LT(bench::PeakMib(collector_->pid()), kNothingKeptMib);
  ExpectSmallAndServing();
}

TEST_F(HostileTest, EachConfigHasAnotherLargeArgument) {
  Start();
  OneByOne client(collector_->address());
  uint64_t config = 0;
  for (int batch = 0; batch < 125; ++batch) {
    std::vector<v1::Record> configs(16);
    for (v1::Record& record : configs) {
      record.mutable_config()->set_config_id(++config);
      record.mutable_config()->set_text(absl::StrCat("Config(x='", DistinctText(config, 60'000), "')"));
    }
    EXPECT_EQ(client.Send(configs), 0);
  }
  EXPECT_LT(bench::PeakMib(collector_->pid()), kNothingKeptMib);
  ExpectSmallAndServing();
}

// They come back under another name each time.
TEST_F(HostileTest, ProducersThatOpenAndSendNothing) {
  Start();
  constexpr int kClients = 16;
  const int openings = FullSize() ? 10'000 : 600;
  InParallel(kClients, [&](int client) {
    const auto stub =
        v1::IngestService::NewStub(grpc::CreateChannel(collector_->address(), grpc::InsecureChannelCredentials()));
    for (int i = 0; i < openings; ++i) {
      grpc::ClientContext context;
      context.set_deadline(absl::ToChronoTime(absl::Now() + absl::Minutes(2)));
      v1::IngestRequest request;
      request.mutable_open()->set_producer_id(ProducerId(client * openings + i));
      request.mutable_open()->set_client(std::string(1000, 'c'));
      v1::IngestResponse response;
      const grpc::Status status = stub->Ingest(&context, request, &response);
      EXPECT_TRUE(status.ok()) << status.error_message();
    }
  });
  EXPECT_LT(bench::PeakMib(collector_->pid()), kNothingKeptMib);
  ExpectSmallAndServing();
  // The log is in the database then: the 4096 who came last, each with a page of its own for its long name. Without the
  // limit there would be 43 MiB.
  EXPECT_EQ(collector_->Stop(), 0);
  const double database_mib = static_cast<double>(std::filesystem::file_size(folder_ + "/dataset.db")) / (1 << 20);
  std::cout << "database: " << database_mib << " MiB" << std::endl;
  EXPECT_LT(database_mib, 28);
}

// Calls whose messages trickle, each method's in turn, from another address than the good client's: an address has half
// of the calls. Half of the connections never acknowledge the collector's SETTINGS, so that gRPC does not limit theirs.
TEST_F(HostileTest, CallsThatTrickle) {
  Start();
  const std::string methods[] = {kIngest, kStream, "/telemetry.v1.DatasetService/ListRuns",
                                 "/telemetry.v1.DatasetService/Export", "/grpc.health.v1.Health/Watch",
                                 "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo"};
  constexpr int kConnections = 200;
  std::vector<RawConnection> connections;
  for (int i = 0; i < kConnections; ++i) {
    RawConnection& connection = connections.emplace_back(port(), 2);
    if (i % 2 == 0) connection.IgnoreSettings();
    connection.SendPreface();
  }
  // Each has taken in the collector's settings.
  for (RawConnection& connection : connections) connection.AwaitEnd(1, absl::Milliseconds(20));
  for (uint32_t call = 0; call < 200; ++call) {
    for (RawConnection& connection : connections) {
      connection.StartCall(2 * call + 1, methods[call % std::size(methods)]);
      connection.SendData(2 * call + 1, std::string(1, '\0'), absl::ZeroDuration());
    }
  }
  ExpectSmallAndServing();
}

TEST_F(HostileTest, DeafExportsMakeWay) {
  Start(ShortTimes());
  std::vector<RawConnection> deaf;
  for (int i = 0; i < 8; ++i) {
    RawConnection& connection = deaf.emplace_back(port());
    connection.SendPreface(0);
    connection.StartCall(1, "/telemetry.v1.DatasetService/Export");
    connection.SendData(1, http2::GrpcMessage(""));
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

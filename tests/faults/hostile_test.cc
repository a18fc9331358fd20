// Tests hostile and broken clients over real sockets against the real program: the collector's memory stays bounded,
// and other clients are served as before.
//
// Each test here checks how the collector handles one kind of client. hostile_suite_test.cc measures the cost of
// attacks.

#include <grpcpp/create_channel.h>

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
#include "telemetry/v1/dataset.grpc.pb.h"
#include "tests/faults/attacks/gzip_bomb.h"
#include "tests/faults/attacks/raw_http2.h"
#include "tests/faults/attacks/unary_producer.h"
#include "tests/faults/hostile_fixture.h"

namespace telemetry::faults {
namespace {

void InParallel(int count, const std::function<void(int)>& what) {
  std::vector<std::thread> threads;
  for (int i = 0; i < count; ++i) threads.emplace_back(what, i);
  for (std::thread& thread : threads) thread.join();
}

TEST_F(HostileTest, GzipBombs) {
  Start();
  const std::string bomb = http2::GrpcMessage(GzippedZeros(FullSize() ? size_t{4} << 30 : size_t{400} << 20), true);
  for (const char* method :
       {kStream, kIngest, "/telemetry.v1.DatasetService/ListRuns", kExport, "/grpc.health.v1.Health/Check",
        "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo"}) {
    RawConnection connection(port());
    connection.SendPreface();
    connection.StartCall(1, method, {{"grpc-encoding", "gzip"}});
    connection.SendData(1, bomb);
    EXPECT_TRUE(connection.AwaitEnd(1, absl::Seconds(10))) << method;
    EXPECT_LT(bench::PeakMib(collector_->pid()), kMemoryMib) << method;
  }
  ExpectSmallAndServing();
}

// gRPC trusts the announced length and continues to read. The total size of such messages and their duration are
// limited.
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

TEST_F(HostileTest, TheDiskStalls) {
  const std::string stall = folder_ + "/stall";
  Start({absl::StrCat("LD_PRELOAD=", bench::ProgramPath("libstalling-disk.so")), "TELEMETRY_STALL=" + stall});
  // The largest batches that are allowed, one of large records and one of small records.
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
      // Sends as long as the window permits.
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

// A limit far below the number of bytes sent, and far above the memory needed for one batch at a time.
constexpr double kNothingKeptMib = 130;

TEST_F(HostileTest, EachRowHasAnotherStatus) {
  Start();
  UnaryProducer client(collector_->address(), ProducerId(1));
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
  UnaryProducer client(collector_->address(), ProducerId(1));
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

// Every call opens a producer with a new id.
TEST_F(HostileTest, ProducersThatOpenAndSendNothing) {
  Start();
  constexpr int kClients = 16;
  const int openings = FullSize() ? 10'000 : 600;
  std::atomic<int> opened = 0;
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
      if (status.ok()) ++opened;
      EXPECT_TRUE(status.ok() || status.error_code() == grpc::StatusCode::RESOURCE_EXHAUSTED) << status.error_message();
    }
  });
  EXPECT_GE(opened, 4096);
  std::cout << opened << " of " << kClients * openings << " producers were opened" << std::endl;
  EXPECT_LT(bench::PeakMib(collector_->pid()), kNothingKeptMib);
  // A client with the attackers' address opens a producer, too, and is not refused for long.
  ServeNewClient(collector_->address(), absl::Seconds(5));
  // After the collector has stopped, the write-ahead log has been copied into the database: the last 4096 producers,
  // each with a page for its long name. If all of them were kept, the database would have 43 MiB.
  EXPECT_EQ(collector_->Stop(), 0);
  const double database_mib = static_cast<double>(std::filesystem::file_size(folder_ + "/dataset.db")) / (1 << 20);
  std::cout << "database: " << database_mib << " MiB" << std::endl;
  EXPECT_LT(database_mib, 28);
}

// Each method is called with messages that arrive slowly, in turn, from an address other than the well-behaved
// client's, because one address may have at most half of the calls. Half of the connections never acknowledge the
// collector's SETTINGS, so that gRPC does not limit their calls.
TEST_F(HostileTest, CallsThatTrickle) {
  Start();
  const std::string methods[] = {kIngest, kStream, "/telemetry.v1.DatasetService/ListRuns", kExport,
                                 "/grpc.health.v1.Health/Watch"};
  constexpr int kConnections = 100;
  std::vector<RawConnection> connections;
  for (int i = 0; i < kConnections; ++i) {
    RawConnection& connection = connections.emplace_back(port(), 2);
    if (i % 2 == 0) connection.IgnoreSettings();
    connection.SendPreface();
  }
  // By now each connection has received the collector's settings.
  for (RawConnection& connection : connections) connection.AwaitEnd(1, absl::Milliseconds(20));
  for (uint32_t call = 0; call < 200; ++call) {
    for (RawConnection& connection : connections) {
      connection.StartCall(2 * call + 1, methods[call % std::size(methods)]);
      connection.SendData(2 * call + 1, std::string(1, '\0'), absl::ZeroDuration());
    }
  }
  ExpectSmallAndServing();
}

// Starts one export for each of `clients` clients that read nothing, each with a separate address, and waits until the
// collector has ended all of them.
void ExportWithoutReading(int port, int clients) {
  std::vector<RawConnection> deaf;
  for (int i = 0; i < clients; ++i) {
    RawConnection& connection = deaf.emplace_back(port, /*host=*/2 + i);
    connection.SendPreface();
    connection.StartCall(1, kExport);
    connection.SendData(1, http2::GrpcMessage(""));
  }
  for (RawConnection& connection : deaf) EXPECT_TRUE(connection.AwaitEnd(1, MostTime())) << "is not put out";
}

// Returns the graph whose parsed form needs the most memory: 2.4 MB of strings of one byte each.
v1::Record LargeGraph() {
  v1::Record record;
  v1::IrGraph& graph = *record.mutable_ir_graph();
  graph.set_run_id(std::string(64, 'a'));
  graph.set_kind("device");
  for (int i = 0; i < 1000; ++i) {
    v1::IrNode& node = *graph.add_nodes();
    node.set_id(absl::StrCat(i));
    for (int key = 0; key < 790; ++key) node.add_omitted("k");
  }
  return record;
}

v1::Record LargeRun(int number) {
  v1::Record record;
  record.ParseFromString(RunRecord((1 << 20) - 200));
  std::string id = absl::StrCat(number);
  id.resize(64, 'a');
  record.mutable_run()->set_run_id(id);
  return record;
}

TEST_F(HostileTest, ExportsOfLargeGraphsWhoseClientsDoNotRead) {
  Start(ShortTimes());
  EXPECT_EQ(UnaryProducer(collector_->address(), ProducerId(1)).Send({LargeGraph()}), 0);
  for (const int clients : {4, 16, 64}) {
    ExportWithoutReading(port(), clients);
    std::cout << clients << " exports: " << bench::PeakMib(collector_->pid()) << " MiB" << std::endl;
  }
  ExpectSmallAndServing();
}

TEST_F(HostileTest, ExportsOfLargeRunsWhoseClientsDoNotRead) {
  Start(ShortTimes());
  UnaryProducer client(collector_->address(), ProducerId(1));
  for (int i = 0; i < 16; ++i) EXPECT_EQ(client.Send({LargeRun(i)}), 0);
  for (const int clients : {4, 16, 64}) {
    ExportWithoutReading(port(), clients);
    std::cout << clients << " exports: " << bench::PeakMib(collector_->pid()) << " MiB" << std::endl;
  }
  ExpectSmallAndServing();
}

// The rows of a page are parsed one after the other, up to the size of a page, and not many of them at once.
TEST_F(HostileTest, AnExportOfLargeRows) {
  constexpr int kRows = 60;
  constexpr double kMostMib = 24;
  Start();
  UnaryProducer client(collector_->address(), ProducerId(1));
  EXPECT_EQ(client.Send({Attempt()}), 0);
  for (uint64_t i = 1; i <= kRows; ++i) {
    v1::Record row = RowWithStatus(i, "error");
    row.mutable_measurement()->mutable_failure()->set_message(std::string((1 << 20) - 1000, 'm'));
    EXPECT_EQ(client.Send({row}), 0);
  }
  const double before = bench::PeakMib(collector_->pid());
  const auto stub =
      v1::DatasetService::NewStub(grpc::CreateChannel(collector_->address(), grpc::InsecureChannelCredentials()));
  grpc::ClientContext context;
  const auto reader = stub->Export(&context, {});
  int rows = 0;
  for (v1::ExportItem item; reader->Read(&item);) rows += item.rows().measurements_size();
  EXPECT_TRUE(reader->Finish().ok());
  EXPECT_EQ(rows, kRows);
  EXPECT_LT(bench::PeakMib(collector_->pid()), before + kMostMib);
}

TEST_F(HostileTest, ARunWithManyLargeAttempts) {
  Start();
  UnaryProducer client(collector_->address(), ProducerId(1));
  const std::string environment = absl::StrCat("{\"x\":\"", std::string(250'000, 'e'), "\"}");
  for (int batch = 0; batch < 50; ++batch) {
    std::vector<v1::Record> attempts(20, Attempt());
    for (size_t i = 0; i < attempts.size(); ++i) {
      attempts[i].mutable_attempt()->set_attempt_id(ProducerId(batch * 20 + static_cast<int>(i)));
      attempts[i].mutable_attempt()->set_environment_json(environment);
    }
    EXPECT_EQ(client.Send(attempts), 0);
  }
  const auto stub =
      v1::DatasetService::NewStub(grpc::CreateChannel(collector_->address(), grpc::InsecureChannelCredentials()));
  grpc::ClientContext context;
  v1::GetRunRequest request;
  request.set_run_id(std::string(64, 'a'));
  v1::RunSummary run;
  EXPECT_TRUE(stub->GetRun(&context, request, &run).ok());
  EXPECT_EQ(run.attempts(), 1000u);
  ExpectSmallAndServing();
}

TEST_F(HostileTest, DeafExportsMakeWay) {
  Start(ShortTimes());
  std::vector<RawConnection> deaf;
  for (int i = 0; i < 8; ++i) {
    RawConnection& connection = deaf.emplace_back(port());
    connection.SendPreface(0);
    connection.StartCall(1, kExport);
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

// Tests telemetry-collector delete on a PostgreSQL database while a collector serves it and a producer streams to it.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "server/collector/collector_server.h"
#include "tests/run_program.h"
#include "tests/server/collector/collector_story.h"
#include "tests/server/storage/test_dataset.h"

namespace telemetry::collector {
namespace {

using storage::AttemptRecord;
using storage::Row;
using storage::RunId;
using storage::RunRecord;

TEST(DeletionBesideProducers, AStreamGoesOnAndWhatIsAcknowledgedAfterItIsStored) {
  const std::unique_ptr<storage::TestDataset> dataset = storage::NewPostgresqlDataset();
  std::atomic<int> fatal_errors = 0;
  const std::unique_ptr<CollectorServer> server = *CollectorServer::Start(
      {.db = dataset->db(), .on_fatal = [&fatal_errors](const absl::Status&) { ++fatal_errors; }});
  TestStream stream(server->InProcessChannel());
  ASSERT_TRUE(stream.Open('p'));
  uint64_t seq = 0;
  const auto send = [&](const std::vector<v1::Record>& records) -> int {
    stream.Send(MakeBatch(seq + 1, records));
    seq += records.size();
    const std::optional<v1::Ack> ack = stream.AwaitAck(seq);
    EXPECT_TRUE(ack) << "the stream ended";
    return ack ? ack->rejects_size() : -1;
  };
  const std::vector<v1::Record> announced = {RunRecord('a'), AttemptRecord('x', 'a'), RunRecord('b'),
                                             AttemptRecord('y', 'b')};
  ASSERT_EQ(send(announced), 0);

  std::atomic<bool> deletes = true;
  ProgramOutcome outcome;
  std::thread command([&] {
    outcome = RunProgram("telemetry-collector", absl::StrCat("delete --yes --db '", dataset->db(), "' --run aaaa"));
    deletes = false;
  });
  uint64_t row = 0;
  bool alive = true;
  while (alive && deletes) {
    ++row;
    // The row of the deleted attempt is stored or refused; the other row is stored.
    const int refused = send({Row('x', row, 0.5), Row('y', row, 0.5)});
    alive = refused >= 0;
    EXPECT_LE(refused, 1);
  }
  command.join();
  ASSERT_TRUE(alive);
  EXPECT_EQ(outcome.exit_status, 0) << outcome.output;
  EXPECT_THAT(outcome.output, ::testing::HasSubstr("deleted 1 attempt with "));
  EXPECT_EQ(dataset->Query("SELECT count(*) FROM measurements"), absl::StrCat(row));

  EXPECT_EQ(send({Row('x', row + 1, 0.5)}), 1) << "rows of a deleted attempt are refused";
  EXPECT_EQ(send(announced), 0);
  EXPECT_EQ(send({Row('x', row + 1, 0.5), Row('y', row + 1, 0.5)}), 0);
  EXPECT_EQ(dataset->Query("SELECT count(*) FROM measurements"), absl::StrCat(row + 2));
  EXPECT_EQ(dataset->Query("SELECT count(*) FROM runs"), "2");
  EXPECT_EQ(fatal_errors, 0);
}

}  // namespace
}  // namespace telemetry::collector

// Tests that the long data of one sender does not slow down the rows of another: a search in a table or an index must
// not read the long rows with which it compares. Counts pages, which is exact, instead of measuring time.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "server/storage/sqlite/migrator.h"
#include "server/storage/sqlite/sqlite_database.h"
#include "server/storage/tables/batch_writer.h"
#include "tests/server/storage/dataset_story.h"

namespace telemetry::storage::tables {
namespace {

using ::testing::IsEmpty;

constexpr int kRows = 200;
constexpr size_t kLong = size_t{128} << 10;
constexpr size_t kShort = 10;

// A kind of record with a text of any length.
struct Case {
  std::string name;
  // Returns records of the sender's attempt and run: `rows` rows with a text of `bytes` bytes each.
  std::function<std::vector<v1::Record>(char sender, int rows, size_t bytes)> records;
};

std::vector<v1::Record> WithFailures(char sender, int rows, size_t bytes) {
  std::vector<v1::Record> records;
  for (int i = 1; i <= rows; ++i) {
    records.push_back(Row(sender, i, 0.5));
    records.back().mutable_measurement()->mutable_failure()->set_message(std::string(bytes, 'f'));
  }
  return records;
}

std::vector<v1::Record> WithSamples(char sender, int rows, size_t bytes) {
  std::vector<v1::Record> records;
  for (int i = 1; i <= rows; ++i) {
    records.push_back(DetailRecord(sender, i));
    for (size_t sample = 0; sample < bytes / 10; ++sample) {
      records.back().mutable_measurement_detail()->add_samples_ms(0.12345678);
    }
  }
  return records;
}

std::vector<v1::Record> WithDecorators(char sender, int rows, size_t bytes) {
  std::vector<v1::Record> records;
  for (int i = 1; i <= rows; ++i) {
    v1::RunConfig& config = *records.emplace_back().mutable_run_config();
    config.set_run_id(RunId(sender));
    config.set_config_id(i);
    config.set_decorator(std::string(bytes, 'd'));
  }
  return records;
}

std::vector<v1::Record> WithArguments(char sender, int rows, size_t bytes) {
  std::vector<v1::Record> records;
  for (int i = 1; i <= rows; ++i) {
    records.push_back(ConfigRecord(
        i, absl::StrCat("Config(n='", i * 7919 % kRows, std::string(1, sender), std::string(bytes, 'a'), "')")));
  }
  return records;
}

std::vector<v1::Record> WithNodes(char sender, int rows, size_t bytes) {
  v1::Record graph = GraphRecord(sender);
  graph.mutable_ir_graph()->clear_edges();
  for (int i = 0; i < rows; ++i) {
    graph.mutable_ir_graph()->add_nodes()->set_value_json(absl::StrCat("\"", std::string(bytes, 'v'), "\""));
    graph.mutable_ir_graph()->mutable_nodes()->rbegin()->set_id(absl::StrCat(i));
  }
  return {graph};
}

std::vector<v1::Record> WithEdges(char sender, int rows, size_t bytes) {
  v1::Record graph = GraphRecord(sender);
  for (int i = 0; i < rows; ++i) {
    v1::IrEdge& edge = *graph.mutable_ir_graph()->add_edges();
    edge.set_source("a");
    edge.set_target("b");
    edge.set_dtype(std::string(bytes, 't'));
  }
  return {graph};
}

std::vector<v1::Record> WithSuperseded(char sender, int rows, size_t bytes) {
  std::vector<v1::Record> records;
  for (int i = 1; i <= rows; ++i) {
    v1::Attempt& attempt = *records.emplace_back().mutable_attempt();
    attempt.set_attempt_id(absl::StrCat(absl::Dec(i, absl::kZeroPad15), std::string(1, sender)));
    attempt.set_run_id(RunId(sender));
    attempt.set_origin(std::string(bytes, 'o'));
    attempt.set_provisional(true);
    attempt.add_supersedes(absl::StrCat(absl::Dec(i, absl::kZeroPad14), "s", std::string(1, sender)));
  }
  return records;
}

// A dataset with rows of three senders. The keys of 'c' are between those of 'a' and 'b'.
class SharedDataset {
 public:
  SharedDataset() : database_(*sqlite::SqliteDatabase::Open(":memory:", {.vfs = {}, .checksums = false})) {
    EXPECT_TRUE(sqlite::Migrate(database_).ok());
    writer_.emplace(database_, BatchWriter::Writers::kThisOne);
    for (const char sender : {'a', 'c', 'b'}) Send(sender, {RunRecord(sender), AttemptRecord(sender, sender)});
  }

  // Sends records in one transaction. Returns the number of pages that it used.
  int Send(char sender, const std::vector<v1::Record>& records) {
    const std::string producer(16, sender);
    const ProducerOpening opening = {
        .producer_id = producer, .epoch = ++epoch_, .client = "test", .sender = std::string(1, sender)};
    EXPECT_TRUE(database_.Execute("BEGIN").ok());
    const auto opened = writer_->OpenProducers({opening}, 0);
    EXPECT_TRUE(opened.ok() && opened->front().status.ok()) << opened.status();
    ProducerBatch batch = {.producer_id = producer, .epoch = epoch_, .first_seq = opened->front().committed_seq + 1};
    AddRecords(records, &batch);
    TakePages();
    const auto outcomes = writer_->Store({batch}, 0);
    const int pages = TakePages();
    EXPECT_TRUE(outcomes.ok()) << outcomes.status();
    EXPECT_THAT(outcomes->front().refused, IsEmpty()) << outcomes->front().refused.front().message;
    EXPECT_TRUE(database_.Execute("COMMIT").ok());
    return pages;
  }

 private:
  // Returns the number of pages that the connection has used since the last call.
  int TakePages() {
    int pages = 0;
    for (const int counter : {SQLITE_DBSTATUS_CACHE_HIT, SQLITE_DBSTATUS_CACHE_MISS}) {
      int since = 0;
      int highest = 0;
      sqlite3_db_status(database_.handle(), counter, &since, &highest, /*resetFlg=*/1);
      pages += since;
    }
    return pages;
  }

  sqlite::SqliteDatabase database_;
  std::optional<BatchWriter> writer_;
  uint64_t epoch_ = 0;
};

class LongRowsTest : public ::testing::TestWithParam<Case> {
 protected:
  // Returns the number of pages that short rows use beside rows with texts of `bytes` bytes.
  static int PagesBeside(size_t bytes) {
    SharedDataset dataset;
    for (const char sender : {'a', 'b'}) dataset.Send(sender, GetParam().records(sender, kRows, bytes));
    return dataset.Send('c', GetParam().records('c', kRows, kShort));
  }
};

TEST_P(LongRowsTest, CostOtherSendersNothing) {
  const int beside_short = PagesBeside(kShort);
  const int beside_long = PagesBeside(kLong);
  RecordProperty("pages", absl::StrCat(beside_short, " ", beside_long));
  // The trees may have one more level.
  EXPECT_LT(beside_long, 1.5 * beside_short);
}

INSTANTIATE_TEST_SUITE_P(Of, LongRowsTest,
                         ::testing::Values(Case{"Failures", WithFailures}, Case{"Samples", WithSamples},
                                           Case{"Decorators", WithDecorators}, Case{"Arguments", WithArguments},
                                           Case{"Nodes", WithNodes}, Case{"Edges", WithEdges},
                                           Case{"SupersededAttempts", WithSuperseded}),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace telemetry::storage::tables

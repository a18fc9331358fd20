#include "worker/forward/record_lines.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace telemetry::worker::forward {
namespace {

using ::testing::ElementsAre;

// Returns "+N" for a record with run_id N and "-BYTES" for bad bytes.
std::vector<std::string> Read(const std::vector<std::string>& feeds) {
  RecordLines lines(R"({"run_id")");
  std::vector<RecordLines::Item> items;
  for (const std::string& bytes : feeds) lines.Feed(bytes, &items);
  lines.Finish(&items);
  std::vector<std::string> result;
  for (const RecordLines::Item& item : items) {
    result.push_back(item.ok ? "+" + item.record.Find("run_id")->text : "-" + item.raw);
    EXPECT_NE(item.ok, !item.error.empty());
  }
  return result;
}

TEST(RecordLines, OneALine) {
  EXPECT_THAT(Read({"{\"run_id\": \"a\"}\n{\"run_id\": \"b\"}\n"}), ElementsAre("+a", "+b"));
}

TEST(RecordLines, PiecesOfALineAreJoined) {
  EXPECT_THAT(Read({"{\"run", "_id\": \"a\"", "}\n{\"run_id\": \"b\"}"}), ElementsAre("+a", "+b"));
}

TEST(RecordLines, MergedRecordsAreTakenApart) {
  EXPECT_THAT(Read({"{\"run_id\": \"a\"}{\"run_id\": \"b\"}{\"run_id\": \"c\"}\n"}), ElementsAre("+a", "+b", "+c"));
}

TEST(RecordLines, ATornRecordCostsNoneOfItsNeighbours) {
  EXPECT_THAT(Read({"{\"run_id\": \"a\"}{\"run_id\": \"to{\"run_id\": \"b\"}\n{\"run_id\": \"c"}),
              ElementsAre("+a", "-{\"run_id\": \"to", "+b", "-{\"run_id\": \"c"));
}

TEST(RecordLines, TheStartTextMayStandInsideARecord) {
  EXPECT_THAT(Read({"{\"run_id\": \"a\", \"graph\": {\"run_id\": \"x\"}}{\"run_id\": \"b\"}\n"}),
              ElementsAre("+a", "+b"));
}

TEST(RecordLines, ManyTornRecordsInOneLineAreReadInOneGo) {
  std::string line;
  for (int i = 0; i < 3000; ++i) line += R"({"run_id": "torn)";
  EXPECT_THAT(Read({line + "\n{\"run_id\": \"b\"}\n"}), ElementsAre("-" + line, "+b"));
}

TEST(RecordLines, LineNumbersCount) {
  RecordLines lines(R"({"run_id")");
  std::vector<RecordLines::Item> items;
  lines.Feed("\n{\"run_id\": \"a\"}\r\nrubbish\n", &items);
  ASSERT_EQ(items.size(), 2U);
  EXPECT_EQ(items[0].line, 2U);
  EXPECT_EQ(items[1].line, 3U);
}

}  // namespace
}  // namespace telemetry::worker::forward

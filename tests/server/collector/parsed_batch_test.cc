#include "server/collector/parsed_batch.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "telemetry/v1/records.pb.h"
#include "tests/server/collector/collector_story.h"

namespace telemetry::collector {
namespace {

v1::Batch EmptyRecords(uint64_t count) { return MakeBatchOfBytes(1, std::vector<std::string>(count)); }

TEST(ParsedBatch, EmptyRecordsCountForTheMemoryThatTheyTake) {
  const v1::Batch batch = EmptyRecords(1000);
  EXPECT_EQ(RecordBytes(batch), 0u);
  EXPECT_GE(MemoryBytes(batch), 1000 * (sizeof(v1::Record) + sizeof(storage::RefusedRecord)));
  const ParsedBatch parsed(ProducerId('p'), 1, batch);
  EXPECT_EQ(parsed.bytes(), 0u);
  EXPECT_EQ(parsed.memory_bytes(), MemoryBytes(batch));
}

TEST(ParsedBatch, TheMostRecordsAreTakenAndOneMoreIsRefused) {
  EXPECT_TRUE(CheckBatch(EmptyRecords(kMaxBatchRecords), Limits()).ok());
  EXPECT_TRUE(absl::IsInvalidArgument(CheckBatch(EmptyRecords(kMaxBatchRecords + 1), Limits())));
}

}  // namespace
}  // namespace telemetry::collector

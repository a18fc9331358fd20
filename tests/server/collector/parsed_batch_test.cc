#include "server/collector/parsed_batch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "server/collector/message_buffer.h"
#include "telemetry/v1/records.pb.h"
#include "tests/server/collector/collector_story.h"

namespace telemetry::collector {
namespace {

grpc::ByteBuffer MessageOf(const v1::Batch& batch) {
  v1::StreamRequest request;
  *request.mutable_batch() = batch;
  return ToBuffer(request);
}

BatchOutline OutlineOf(const grpc::ByteBuffer& message) { return ReadOutline(message)->batch.value(); }

grpc::ByteBuffer Records(const std::vector<std::string>& records) { return MessageOf(MakeBatchOfBytes(1, records)); }

grpc::ByteBuffer EmptyRecords(uint64_t count) { return Records(std::vector<std::string>(count)); }

TEST(ParsedBatch, EmptyRecordsCountForTheMemoryThatTheyTake) {
  const grpc::ByteBuffer message = EmptyRecords(1000);
  const BatchOutline outline = OutlineOf(message);
  EXPECT_EQ(outline.record_bytes, 0u);
  EXPECT_GE(outline.memory_bytes, 1000 * (sizeof(v1::Record) + sizeof(storage::RefusedRecord)));
  ParsedBatch parsed(ProducerId('p'), 1, outline, message, storage::RecordSizes());
  EXPECT_EQ(parsed.bytes(), 0u);
  EXPECT_EQ(parsed.memory_bytes(), outline.memory_bytes);
  EXPECT_EQ(parsed.mutable_batch().records.size(), 1000u);
}

TEST(ParsedBatch, TheMostRecordsAreTakenAndOneMoreIsRefused) {
  EXPECT_TRUE(CheckBatch(OutlineOf(EmptyRecords(kMaxBatchRecords)), Limits()).ok());
  EXPECT_TRUE(absl::IsInvalidArgument(CheckBatch(OutlineOf(EmptyRecords(kMaxBatchRecords + 1)), Limits())));
}

TEST(ParsedBatch, TheOutlineSaysWhatTheMessageSays) {
  const v1::Batch batch = MakeBatchOfBytes(7, {"", "abc", std::string(100000, 'x')});
  const BatchOutline outline = OutlineOf(MessageOf(batch));
  EXPECT_EQ(outline.first_seq, 7u);
  EXPECT_EQ(outline.records, 3u);
  EXPECT_EQ(outline.record_bytes, 100003u);
  EXPECT_EQ(outline.crc32c, batch.crc32c());
  EXPECT_EQ(outline.claimed_crc32c, batch.crc32c());
  std::vector<std::string> records;
  ForEachRecord(MessageOf(batch), [&records](const std::string& bytes) { records.push_back(bytes); });
  EXPECT_EQ(records, std::vector<std::string>(batch.records().begin(), batch.records().end()));
}

TEST(ParsedBatch, AMessageInManyPiecesIsReadAsOne) {
  v1::StreamRequest request;
  *request.mutable_batch() = MakeBatchOfBytes(1, {std::string(1000, 'a'), "", std::string(300, 'b')});
  const std::string bytes = request.SerializeAsString();
  std::vector<grpc::Slice> slices;
  for (size_t at = 0; at < bytes.size(); at += 7) slices.emplace_back(bytes.substr(at, 7));
  const grpc::ByteBuffer message(slices.data(), slices.size());
  EXPECT_EQ(OutlineOf(message).crc32c, request.batch().crc32c());
  std::vector<std::string> records;
  ForEachRecord(message, [&records](const std::string& record) { records.push_back(record); });
  EXPECT_EQ(records, std::vector<std::string>(request.batch().records().begin(), request.batch().records().end()));
}

TEST(ParsedBatch, WhatIsNoMessageIsMalformed) {
  v1::StreamRequest request;
  *request.mutable_batch() = MakeBatchOfBytes(1, {"record"});
  const std::string whole = request.SerializeAsString();
  for (const std::string& bytes : {whole.substr(0, whole.size() - 1), whole + whole, whole + "\x07",
                                   std::string("\xff"), std::string("\x12\xff\xff\xff\xff\x0f")}) {
    const grpc::Slice slice(bytes);
    EXPECT_TRUE(absl::IsInvalidArgument(ReadOutline(grpc::ByteBuffer(&slice, 1)).status())) << bytes;
  }
}

TEST(ParsedBatch, UnknownFieldsAreSkipped) {
  v1::StreamRequest request;
  *request.mutable_batch() = MakeBatchOfBytes(1, {"record"});
  const grpc::Slice slice(std::string("\x9a\x06\x02hi", 5) + request.SerializeAsString());
  EXPECT_EQ(OutlineOf(grpc::ByteBuffer(&slice, 1)).records, 1u);
}

// Records of few bytes that ask for much memory.
std::vector<v1::Record> HollowRecords() {
  v1::Record nodes;
  for (int i = 0; i < 10000; ++i) nodes.mutable_ir_graph()->add_nodes();
  v1::Record omitted;
  for (int i = 0; i < 10000; ++i) omitted.mutable_ir_graph()->add_edges()->add_omitted("");
  return {nodes, omitted};
}

TEST(ParsedBatch, HollowRecordsAreRefusedUnparsed) {
  for (const v1::Record& record : HollowRecords()) {
    const std::string bytes = record.SerializeAsString();
    const grpc::ByteBuffer message = Records({bytes, "", bytes});
    const BatchOutline outline = OutlineOf(message);
    EXPECT_EQ(outline.hollow, (std::vector<uint64_t>{0, 2}));
    ParsedBatch parsed(ProducerId('p'), 1, outline, message, storage::RecordSizes());
    EXPECT_EQ(parsed.mutable_batch().records[2]->reject().raw(), bytes);
    EXPECT_THAT(parsed.mutable_batch().refused[2].message, ::testing::HasSubstr("empty parts"));
  }
}

TEST(ParsedBatch, EmptyStringsCountForTheMemoryThatTheyTake) {
  v1::Record supersedes;
  for (int i = 0; i < 10000; ++i) supersedes.mutable_attempt()->add_supersedes("");
  EXPECT_GE(OutlineOf(Records({supersedes.SerializeAsString()})).memory_bytes, 10000 * sizeof(std::string));
}

// A record of kinds that overwrite each other, each an object of its own.
TEST(ParsedBatch, ManyKindsInOneRecordAreHollow) {
  std::string bytes;
  for (int i = 0; i < 1000; ++i) bytes += std::string("\x0a\x00\x12\x00", 4);
  EXPECT_EQ(OutlineOf(Records({bytes})).hollow.size(), 1u);
}

TEST(ParsedBatch, LeanGraphsAreNotHollow) {
  v1::Record record;
  record.mutable_ir_graph()->set_run_id(std::string(64, 'a'));
  record.mutable_ir_graph()->set_kind("device");
  for (int i = 0; i < 1000; ++i) {
    v1::IrNode* node = record.mutable_ir_graph()->add_nodes();
    node->set_id(absl::StrCat("n", i));
    node->set_op_kind("load");
    v1::IrEdge* edge = record.mutable_ir_graph()->add_edges();
    edge->set_source(absl::StrCat("n", i));
    edge->set_target(absl::StrCat("n", i + 1));
  }
  EXPECT_TRUE(OutlineOf(Records({record.SerializeAsString()})).hollow.empty());
}

}  // namespace
}  // namespace telemetry::collector

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "server/batch/batch_parser.h"
#include "server/call/message_buffer.h"
#include "telemetry/v1/records.pb.h"
#include "tests/server/collector/collector_story.h"

namespace telemetry::collector {
namespace {

grpc::ByteBuffer SerializeBatch(const v1::Batch& batch) {
  v1::StreamRequest request;
  *request.mutable_batch() = batch;
  return call::ToBuffer(request);
}

batch::BatchOutline ParseOutline(const grpc::ByteBuffer& message) { return batch::ReadOutline(message)->batch.value(); }

grpc::ByteBuffer Records(const std::vector<std::string>& records) {
  return SerializeBatch(MakeBatchOfBytes(1, records));
}

grpc::ByteBuffer EmptyRecords(uint64_t count) { return Records(std::vector<std::string>(count)); }

std::vector<std::unique_ptr<batch::ParsedBatch>> ParsePieces(const grpc::ByteBuffer& message) {
  const storage::RecordSizes sizes;
  batch::BatchParser parser(ProducerId('p'), 1, ParseOutline(message), message, sizes);
  std::vector<std::unique_ptr<batch::ParsedBatch>> pieces;
  while (!parser.done()) pieces.push_back(parser.ParseNext());
  return pieces;
}

std::vector<std::string> ParseRecords(const grpc::ByteBuffer& message) {
  batch::RecordCursor cursor(message);
  std::vector<std::string> records;
  for (std::string bytes; cursor.Next(bytes);) records.push_back(bytes);
  return records;
}

TEST(ParsedBatch, EmptyRecordsCountForTheMemoryThatTheyTake) {
  const grpc::ByteBuffer message = EmptyRecords(1000);
  const batch::BatchOutline outline = ParseOutline(message);
  EXPECT_EQ(outline.record_bytes, 0u);
  ASSERT_EQ(outline.pieces.size(), 1u);
  EXPECT_GE(outline.pieces[0].memory_bytes, 1000 * (sizeof(v1::Record) + sizeof(storage::CheckedRecord)));
  const auto parsed = ParsePieces(message);
  ASSERT_EQ(parsed.size(), 1u);
  EXPECT_EQ(parsed[0]->bytes(), 0u);
  EXPECT_EQ(parsed[0]->memory_bytes(), outline.pieces[0].memory_bytes);
  EXPECT_EQ(parsed[0]->mutable_batch().records.size(), 1000u);
}

// Parses records of many sizes: each piece is within the limits or has one record, and the pieces together are the
// batch.
TEST(ParsedBatch, PiecesAreTheWholeBatchInOrder) {
  std::vector<std::string> records;
  for (size_t i = 0; i < 10000; ++i) records.push_back(std::string(i % 300, '\xff'));  // not a Record
  records.push_back(std::string(5 << 20, '\xff'));
  records.emplace_back();
  const auto pieces = ParsePieces(Records(records));
  uint64_t next_seq = 1;
  std::vector<std::string> parsed;
  for (const auto& piece : pieces) {
    const storage::ProducerBatch& batch = piece->mutable_batch();
    EXPECT_EQ(batch.first_seq, next_seq);
    next_seq += batch.records.size();
    EXPECT_TRUE(batch.records.size() == 1 ||
                (piece->bytes() <= call::PieceLimits().bytes && piece->memory_bytes() <= call::kMaxPieceMemoryBytes))
        << batch.records.size();
    EXPECT_LE(batch.records.size(), call::PieceLimits().rows);
    for (const auto& [record, refusal] : batch.records) {
      parsed.push_back(record->has_reject() ? record->reject().raw() : "");
    }
  }
  EXPECT_GT(pieces.size(), 3u);
  EXPECT_EQ(parsed, records);
}

TEST(ParsedBatch, IdsAndPartsOfGraphsAreRows) {
  v1::Record attempt = storage::AttemptRecord('x', 'a');
  for (char letter : std::string("yz")) attempt.mutable_attempt()->add_supersedes(storage::AttemptId(letter));
  const auto pieces =
      ParsePieces(SerializeBatch(MakeBatch(1, {storage::RunRecord('a'), attempt, storage::GraphRecord('a')})));
  ASSERT_EQ(pieces.size(), 1u);
  EXPECT_EQ(pieces[0]->rows(), 1u + (1 + 2 * 8) + 4);
}

TEST(ParsedBatch, TheMostRecordsAreTakenAndOneMoreIsRefused) {
  EXPECT_TRUE(batch::ReadOutline(EmptyRecords(call::kMaxBatchRecords)).ok());
  const absl::Status status = batch::ReadOutline(EmptyRecords(call::kMaxBatchRecords + 1)).status();
  EXPECT_TRUE(absl::IsInvalidArgument(status)) << status;
  EXPECT_THAT(status.message(), testing::HasSubstr("more than 65536 records"));
}

TEST(ParsedBatch, TheOutlineSaysWhatTheMessageSays) {
  const v1::Batch batch = MakeBatchOfBytes(7, {"", "abc", std::string(100000, 'x')});
  const batch::BatchOutline outline = ParseOutline(SerializeBatch(batch));
  EXPECT_EQ(outline.first_seq, 7u);
  EXPECT_EQ(outline.records, 3u);
  EXPECT_EQ(outline.record_bytes, 100003u);
  EXPECT_EQ(outline.crc32c, batch.crc32c());
  EXPECT_EQ(outline.claimed_crc32c, batch.crc32c());
  EXPECT_EQ(ParseRecords(SerializeBatch(batch)),
            std::vector<std::string>(batch.records().begin(), batch.records().end()));
}

TEST(ParsedBatch, AMessageInManyPiecesIsReadAsOne) {
  v1::StreamRequest request;
  *request.mutable_batch() = MakeBatchOfBytes(1, {std::string(1000, 'a'), "", std::string(300, 'b')});
  const std::string bytes = request.SerializeAsString();
  std::vector<grpc::Slice> slices;
  for (size_t at = 0; at < bytes.size(); at += 7) slices.emplace_back(bytes.substr(at, 7));
  const grpc::ByteBuffer message(slices.data(), slices.size());
  EXPECT_EQ(ParseOutline(message).crc32c, request.batch().crc32c());
  EXPECT_EQ(ParseRecords(message),
            std::vector<std::string>(request.batch().records().begin(), request.batch().records().end()));
}

TEST(ParsedBatch, WhatIsNoMessageIsMalformed) {
  v1::StreamRequest request;
  *request.mutable_batch() = MakeBatchOfBytes(1, {"record"});
  const std::string whole = request.SerializeAsString();
  for (const std::string& bytes : {whole.substr(0, whole.size() - 1), whole + whole, whole + "\x07",
                                   std::string("\xff"), std::string("\x12\xff\xff\xff\xff\x0f")}) {
    const grpc::Slice slice(bytes);
    EXPECT_TRUE(absl::IsInvalidArgument(batch::ReadOutline(grpc::ByteBuffer(&slice, 1)).status())) << bytes;
  }
}

TEST(ParsedBatch, UnknownFieldsAreSkipped) {
  v1::StreamRequest request;
  *request.mutable_batch() = MakeBatchOfBytes(1, {"record"});
  const grpc::Slice slice(std::string("\x9a\x06\x02hi", 5) + request.SerializeAsString());
  EXPECT_EQ(ParseOutline(grpc::ByteBuffer(&slice, 1)).records, 1u);
}

// Returns records of few bytes that would use much memory.
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
    const batch::BatchOutline outline = ParseOutline(message);
    EXPECT_EQ(outline.too_heavy, (std::vector<uint64_t>{0, 2}));
    const auto parsed = ParsePieces(message);
    ASSERT_EQ(parsed.size(), 1u);
    const auto& [refused, refusal] = parsed[0]->mutable_batch().records[2];
    EXPECT_EQ(refused->reject().raw(), bytes);
    EXPECT_THAT(refusal.value().message, ::testing::HasSubstr("empty parts"));
  }
}

TEST(ParsedBatch, EmptyStringsCountForTheMemoryThatTheyTake) {
  v1::Record supersedes;
  for (int i = 0; i < 10000; ++i) supersedes.mutable_attempt()->add_supersedes("");
  EXPECT_GE(ParseOutline(Records({supersedes.SerializeAsString()})).pieces[0].memory_bytes,
            10000 * sizeof(std::string));
}

// Ids cost the writer far more time than their bytes suggest.
TEST(ParsedBatch, SupersededAttemptsCountByTheWritersWork) {
  v1::Record supersedes;
  for (int i = 0; i < 256; ++i) supersedes.mutable_attempt()->add_supersedes(std::string(16, 'x'));
  const batch::PieceOutline piece = ParseOutline(Records({supersedes.SerializeAsString()})).pieces[0];
  EXPECT_GT(piece.rows, 2000u);
  EXPECT_GE(piece.memory_bytes, piece.rows * call::kLeastBytesOfRow);
}

// Builds a record whose kinds overwrite each other, each with its own object.
TEST(ParsedBatch, ManyKindsInOneRecordAreTooHeavy) {
  std::string bytes;
  for (int i = 0; i < 1000; ++i) bytes += std::string("\x0a\x00\x12\x00", 4);
  EXPECT_EQ(ParseOutline(Records({bytes})).too_heavy.size(), 1u);
}

TEST(ParsedBatch, LeanGraphsAreNotTooHeavy) {
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
  EXPECT_TRUE(ParseOutline(Records({record.SerializeAsString()})).too_heavy.empty());
}

}  // namespace
}  // namespace telemetry::collector

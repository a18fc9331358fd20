#include "client/batch_encoder.h"

#include <string>
#include <vector>

#include "client/frame.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "proto/record/ids.h"
#include "telemetry/v1/ingest.pb.h"

namespace telemetry::client {
namespace {

TEST(BatchEncoderTest, IsReadAsTheMessageItStandsFor) {
  const std::vector<std::string> payloads = {"", "x", std::string(200, 'y'), std::string(70000, '\xff')};
  SpoolBatch batch{.first_seq = 11, .last_seq = 14};
  std::string all;
  for (const std::string& payload : payloads) {
    payload.copy(AddFrame(payload.size(), &batch.frames), payload.size());
    all += payload;
  }
  const EncodedBatch encoded = EncodeBatch(batch, (uint64_t{1} << 62) + 1);

  v1::StreamRequest request;
  ASSERT_TRUE(request.ParseFromString(encoded.head + encoded.body));
  EXPECT_EQ(request.batch().first_seq(), (uint64_t{1} << 62) + 1);
  EXPECT_THAT(request.batch().records(), testing::ElementsAreArray(payloads));
  EXPECT_EQ(request.batch().crc32c(), record::Crc32c(0, all));
  EXPECT_EQ(encoded.record_bytes, all.size());
  EXPECT_EQ(request.ByteSizeLong(), encoded.head.size() + encoded.body.size()) << "nothing unknown in it";
}

TEST(BatchEncoderTest, ManyEmptyRecordsFit) {
  SpoolBatch batch{.first_seq = 1, .last_seq = 1000};
  for (int i = 0; i < 1000; ++i) AddFrame(0, &batch.frames);
  const EncodedBatch encoded = EncodeBatch(batch, 1);
  v1::StreamRequest request;
  ASSERT_TRUE(request.ParseFromString(encoded.head + encoded.body));
  EXPECT_EQ(request.batch().records_size(), 1000);
}

}  // namespace
}  // namespace telemetry::client

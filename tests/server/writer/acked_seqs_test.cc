#include "server/writer/acked_seqs.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/status/status.h"

namespace telemetry::writer {
namespace {

class AckedSeqsTest : public ::testing::Test {
 protected:
  LostRecords Open(const std::string& producer, uint64_t stored, absl::Status status = absl::OkStatus(),
                   uint64_t acked = 0) {
    const std::vector<storage::ProducerOpening> openings = {
        {.producer_id = producer, .client = "", .sender = "", .acked_seq = acked}};
    return acked_.Check(openings, std::vector<storage::OpenOutcome>{{.status = status, .committed_seq = stored}});
  }
  LostRecords Commit(const std::string& producer, uint64_t stored, absl::Status status = absl::OkStatus()) {
    const std::vector<storage::ProducerBatch> batches = {{.producer_id = producer, .records = {}}};
    std::vector<storage::BatchOutcome> outcomes(1);
    outcomes[0].status = status;
    outcomes[0].committed_seq = stored;
    return acked_.Check(batches, outcomes);
  }

  AckedSeqs acked_;
};

TEST_F(AckedSeqsTest, ALogThatGrowsHasLostNothing) {
  EXPECT_EQ(Open("p", 0).producers, 0u);
  EXPECT_EQ(Commit("p", 5).producers, 0u);
  EXPECT_EQ(Commit("p", 9).producers, 0u);
  EXPECT_EQ(Open("p", 9).producers, 0u);
  EXPECT_EQ(Open("q", 3).producers, 0u);
}

TEST_F(AckedSeqsTest, AShorterLogIsReportedOnce) {
  Commit("p", 9);
  const LostRecords lost = Open("p", 4);
  EXPECT_EQ(lost.producers, 1u);
  EXPECT_EQ(lost.records, 5u);
  EXPECT_EQ(Open("p", 4).producers, 0u);
  EXPECT_EQ(Commit("p", 9).producers, 0u);
  EXPECT_EQ(Open("p", 0).records, 9u) << "the producer itself is missing";
}

TEST_F(AckedSeqsTest, AGapShowsALossAndOtherRefusalsDoNot) {
  Commit("p", 9);
  EXPECT_EQ(Commit("p", 0, absl::UnavailableError("open again")).producers, 0u);
  EXPECT_EQ(Open("p", 0, absl::PermissionDeniedError("of another sender")).producers, 0u);
  EXPECT_EQ(Commit("p", 7, absl::OutOfRangeError("a gap")).records, 2u);
}

TEST_F(AckedSeqsTest, AProducerKnowsWhatAnotherCollectorHasAcknowledged) {
  EXPECT_EQ(Open("p", 4, absl::OkStatus(), /*acked=*/9).claimed, 5u);
  EXPECT_EQ(Open("p", 4, absl::OkStatus(), /*acked=*/4).producers, 0u);
  EXPECT_EQ(Commit("p", 9).producers, 0u);
  // An account that is older than what the collector knows does not hide a loss.
  EXPECT_EQ(Open("p", 5, absl::OkStatus(), /*acked=*/3).records, 4u);
  EXPECT_EQ(Open("q", 0, absl::PermissionDeniedError("of another sender"), /*acked=*/7).producers, 0u);
  EXPECT_EQ(Open("q", 0).producers, 0u);
}

TEST_F(AckedSeqsTest, WhatAProducerClaimsIsCountedApart) {
  Commit("p", 9);
  LostRecords lost = Open("p", 6, absl::OkStatus(), /*acked=*/20);
  EXPECT_EQ(lost.records, 3u);
  EXPECT_EQ(lost.claimed, 11u);
  EXPECT_EQ(lost.producers, 1u);
  lost = Open("liar", 0, absl::OkStatus(), /*acked=*/~uint64_t{0});
  EXPECT_EQ(lost.records, 0u);
  EXPECT_EQ(lost.claimed, AckedSeqs::kMostClaimed);
  EXPECT_EQ(Open("liar", 0).producers, 0u) << "a claim is not remembered";
}

TEST_F(AckedSeqsTest, ClaimsMakeTheCollectorForgetNothing) {
  Commit("p", 9);
  for (size_t i = 0; i <= AckedSeqs::kMostProducers; ++i) Open(std::to_string(i), 0, absl::OkStatus(), /*acked=*/7);
  EXPECT_EQ(Open("p", 4).records, 5u);
}

TEST_F(AckedSeqsTest, RemembersABoundedNumberOfProducers) {
  for (size_t i = 0; i <= AckedSeqs::kMostProducers; ++i) Commit(std::to_string(i), 2);
  EXPECT_EQ(Open("0", 1).producers, 0u);
  EXPECT_EQ(Open(std::to_string(AckedSeqs::kMostProducers), 1).producers, 1u);
}

}  // namespace
}  // namespace telemetry::writer

#include "worker/forward/attempt_identity.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace telemetry::worker::forward {
namespace {

using ::testing::Contains;
using ::testing::IsEmpty;
using ::testing::SizeIs;

const std::string kRun(64, 'a');

record::sidecar::Row Row(double timestamp_s, std::optional<double> perf_ms = std::nullopt) {
  record::sidecar::Row row;
  row.run_id = kRun;
  row.timestamp_s = timestamp_s;
  row.config_id = 7;
  row.status = perf_ms.has_value() ? "ok" : "started";
  row.perf_ms = perf_ms;
  return row;
}

// Returns the identity of an attempt that is alone in its file.
AttemptIdentity Identity(const std::vector<record::sidecar::Row>& rows, const std::string& origin = "",
                         AttemptIdentity::Occurrences occurrences = {}) {
  AttemptIdentity identity(origin, kRun);
  for (const record::sidecar::Row& row : rows) identity.Add(row, &occurrences);
  return identity;
}

TEST(AttemptIdentity, SameRowsSameId) {
  EXPECT_EQ(Identity({Row(1), Row(2, 0.5)}).attempt_id(), Identity({Row(1), Row(2, 0.5)}).attempt_id());
  EXPECT_THAT(Identity({Row(1)}).attempt_id(), SizeIs(16));
}

TEST(AttemptIdentity, OriginAndRowsEachMakeAnotherId) {
  const std::string id = Identity({Row(1)}).attempt_id();
  EXPECT_NE(Identity({Row(1)}, "github:1").attempt_id(), id);
  EXPECT_NE(Identity({Row(1.01)}).attempt_id(), id);
}

TEST(AttemptIdentity, EqualAttemptsOfOneFileAreTwo) {
  AttemptIdentity::Occurrences file;
  AttemptIdentity first("", kRun);
  AttemptIdentity second("", kRun);
  first.Add(Row(1), &file);
  second.Add(Row(1), &file);
  EXPECT_NE(first.attempt_id(), second.attempt_id());
}

TEST(AttemptIdentity, AnEqualBeginningInTheSameFileChangesNothing) {
  // Joining files does not change the ids of their attempts.
  AttemptIdentity::Occurrences file;
  for (const double perf_ms : {0.5, 0.25}) {
    AttemptIdentity identity("", kRun);
    const std::vector<record::sidecar::Row> rows = {Row(1), Row(2, perf_ms), Row(3, perf_ms)};
    for (const record::sidecar::Row& row : rows) identity.Add(row, &file);
    EXPECT_EQ(identity.attempt_id(), Identity(rows).attempt_id());
  }
}

TEST(AttemptIdentity, TheSecondMeasuredRowClosesTheChain) {
  AttemptIdentity::Occurrences file;
  AttemptIdentity identity("", kRun);
  identity.Add(Row(1), &file);
  identity.Add(Row(2, 0.5), &file);
  EXPECT_FALSE(identity.closed());
  identity.Add(Row(3, 0.5), &file);
  EXPECT_TRUE(identity.closed());
  const std::string id = identity.attempt_id();
  identity.Add(Row(4, 0.25), &file);
  EXPECT_EQ(identity.attempt_id(), id);
}

TEST(AttemptIdentity, WithoutAMeasurementTheChainHasAnEnd) {
  AttemptIdentity::Occurrences file;
  AttemptIdentity identity("", kRun);
  for (size_t i = 1; i < AttemptIdentity::kMaxLinks; ++i) {
    identity.Add(Row(static_cast<double>(i)), &file);
    EXPECT_FALSE(identity.closed()) << i;
  }
  identity.Add(Row(100), &file);
  EXPECT_TRUE(identity.closed());
}

TEST(AttemptIdentity, ALongerViewSupersedesEachShorterOne) {
  const AttemptIdentity longer = Identity({Row(1), Row(2), Row(3, 0.5)});
  EXPECT_THAT(longer.superseded_ids(), SizeIs(2));
  EXPECT_THAT(longer.superseded_ids(), Contains(Identity({Row(1)}).attempt_id()));
  EXPECT_THAT(longer.superseded_ids(), Contains(Identity({Row(1), Row(2)}).attempt_id()));
  EXPECT_THAT(Identity({Row(1)}).superseded_ids(), IsEmpty());
}

}  // namespace
}  // namespace telemetry::worker::forward

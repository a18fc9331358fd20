#include "worker/forward/attempt_identity.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace telemetry::forward {
namespace {

using ::testing::Contains;
using ::testing::IsEmpty;
using ::testing::SizeIs;

const std::string kRun(64, 'a');

record::SidecarRow Row(double timestamp_s, std::optional<double> perf_ms = std::nullopt) {
  record::SidecarRow row;
  row.run_id = kRun;
  row.timestamp_s = timestamp_s;
  row.config_id = 7;
  row.status = perf_ms.has_value() ? "ok" : "started";
  row.perf_ms = perf_ms;
  return row;
}

AttemptIdentity Identity(const std::vector<record::SidecarRow>& rows, const std::string& origin = "",
                         uint64_t occurrence = 0) {
  AttemptIdentity identity(origin, kRun, occurrence);
  for (const record::SidecarRow& row : rows) identity.Add(row);
  return identity;
}

TEST(AttemptIdentity, SameRowsSameId) {
  EXPECT_EQ(Identity({Row(1), Row(2, 0.5)}).attempt_id(), Identity({Row(1), Row(2, 0.5)}).attempt_id());
  EXPECT_THAT(Identity({Row(1)}).attempt_id(), SizeIs(16));
}

TEST(AttemptIdentity, OriginRowsAndOccurrenceEachMakeAnotherId) {
  const std::string id = Identity({Row(1)}).attempt_id();
  EXPECT_NE(Identity({Row(1)}, "github:1").attempt_id(), id);
  EXPECT_NE(Identity({Row(1)}, "", 1).attempt_id(), id);
  EXPECT_NE(Identity({Row(1.01)}).attempt_id(), id);
}

TEST(AttemptIdentity, AMeasuredRowClosesTheChain) {
  AttemptIdentity identity = Identity({Row(1), Row(2, 0.5)});
  EXPECT_TRUE(identity.closed());
  const std::string id = identity.attempt_id();
  identity.Add(Row(3, 0.25));
  EXPECT_EQ(identity.attempt_id(), id);
}

TEST(AttemptIdentity, WithoutAMeasurementTheSixteenthRowCloses) {
  AttemptIdentity identity("", kRun, 0);
  for (int i = 1; i < 16; ++i) {
    identity.Add(Row(i));
    EXPECT_FALSE(identity.closed()) << i;
  }
  identity.Add(Row(16));
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
}  // namespace telemetry::forward

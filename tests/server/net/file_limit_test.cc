#include "server/net/file_limit.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

namespace telemetry::net {
namespace {

TEST(FileLimit, LeavesDescriptorsToTheDataset) {
  EXPECT_EQ(ConnectionsWithin(10'000), 10'000 - kReservedFiles);
  EXPECT_EQ(ConnectionsWithin(kReservedFiles + 1), 1);
  EXPECT_EQ(ConnectionsWithin(kReservedFiles), 0);
  EXPECT_EQ(ConnectionsWithin(0), 0);
}

TEST(FileLimit, IsRaisedAsFarAsTheSystemAllows) {
  rlimit before = {};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  EXPECT_EQ(RaiseFileLimit(), before.rlim_max);
  rlimit after = {};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &after), 0);
  EXPECT_EQ(after.rlim_cur, before.rlim_max);
  setrlimit(RLIMIT_NOFILE, &before);
}

}  // namespace
}  // namespace telemetry::net

#include "proto/access/address.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>

namespace telemetry::access {
namespace {

using ::testing::HasSubstr;

TEST(Address, StaysOnThisMachine) {
  for (const char* address :
       {"127.0.0.1:4747", "127.1.2.3:0", "localhost:4747", "[::1]:4747", "unix:/run/collector.sock", "unix:x"}) {
    EXPECT_TRUE(StaysOnThisMachine(address)) << address;
  }
}

TEST(Address, IsAHostAndAPort) {
  for (const char* address : {"127.0.0.1:4747", "0.0.0.0:0", "localhost:65535", "ci-host_1.lan:80", "[::1]:4747"}) {
    EXPECT_TRUE(IsHostPort(address)) << address;
  }
  for (const char* address : {"", ":", "127.0.0.1", "127.0.0.1:", ":4747", "127.0.0.1:99999", "127.0.0.1:65536",
                              "127.0.0.1:http", "127.0.0.1:-1", "127.0.0.1: 80", "host:4294967376", "unix:/p",
                              "unix:/p:80", "dns:///host:80", "::1:4747", "[]:80", "[::1:80", "a b:80"}) {
    EXPECT_FALSE(IsHostPort(address)) << address;
  }
}

TEST(Address, CanBeConnectedTo) {
  for (const char* address : {"127.0.0.1:4747", "collector:1", "a.b-c_d:65535", "[::1]:4747", "unix:/run/c.sock"}) {
    EXPECT_TRUE(CheckAddress(address).ok()) << CheckAddress(address);
  }
}

TEST(Address, OrSaysWhatIsWrong) {
  const std::pair<const char*, const char*> mistakes[] = {
      {"127.0.0.1", "has no port"},      {"collector:", "has no port"},
      {"collector:0", "has no port"},    {"collector:65536", "has no port"},
      {"collector:http", "has no port"}, {"http://127.0.0.1:4747", "has a scheme"},
      {"::1:4747", "brackets"},          {"", "is not a host"},
      {":4747", "is not a host"},        {"a b:80", "is not a host"}};
  for (const auto& [address, words] : mistakes) {
    const absl::Status status = CheckAddress(address);
    EXPECT_TRUE(absl::IsInvalidArgument(status)) << address;
    EXPECT_THAT(status.ToString(), HasSubstr(words));
    EXPECT_THAT(status.ToString(), HasSubstr("HOST:PORT"));
  }
}

TEST(Address, OrDoesNot) {
  for (const char* address : {"0.0.0.0:4747", "[::]:4747", "10.0.0.1:4747", "127.0.0.1.example.org:80", "127.evil:80",
                              "localhost.example.org:80", "collector:4747", "[::2]:4747", "", ":4747"}) {
    EXPECT_FALSE(StaysOnThisMachine(address)) << address;
  }
}

}  // namespace
}  // namespace telemetry::access

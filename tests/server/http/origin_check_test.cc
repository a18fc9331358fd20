#include "server/http/origin_check.h"

#include <gtest/gtest.h>

namespace telemetry::http {
namespace {

bool Allows(const OriginCheck& check, std::string_view host) { return check.CheckHost(host).ok(); }

TEST(OriginCheck, KnowsTheNamesOfTheLoopback) {
  const OriginCheck check("127.0.0.1:4748", {});
  for (const char* host : {"127.0.0.1:4748", "127.0.0.1", "localhost", "LocalHost:80", "[::1]:4748", "[::1]"}) {
    EXPECT_TRUE(Allows(check, host)) << host;
  }
  for (const char* host : {"", "example.org", "localhost.example.org:4748", "127.0.0.1.example.org", "10.0.0.1:4748",
                           "localhost.", "user@localhost", "::1", "[::1", "localhost:80:80", "[localhost]"}) {
    EXPECT_FALSE(Allows(check, host)) << host;
  }
}

TEST(OriginCheck, KnowsEveryAddressBeyondTheLoopback) {
  for (const char* listen : {"0.0.0.0:4748", "[::]:4748", "10.0.0.5:4748"}) {
    const OriginCheck check(listen, {});
    for (const char* host : {"10.0.0.5:4748", "192.168.1.1", "[fd00::1]:4748", "localhost:4748"}) {
      EXPECT_TRUE(Allows(check, host)) << listen << " " << host;
    }
    for (const char* host : {"example.org:4748", "10.0.0.5.example.org", "10.0.0", "[fd00::g]", ""}) {
      EXPECT_FALSE(Allows(check, host)) << listen << " " << host;
    }
  }
}

TEST(OriginCheck, KnowsConfiguredNames) {
  const OriginCheck check("0.0.0.0:4748", {"Telemetry.example.org"});
  EXPECT_TRUE(Allows(check, "telemetry.example.org:4748"));
  EXPECT_TRUE(Allows(check, "TELEMETRY.EXAMPLE.ORG"));
  EXPECT_FALSE(Allows(check, "example.org"));
  EXPECT_TRUE(Allows(OriginCheck("gpu1.example.org:4748", {}), "gpu1.example.org"));
}

bool AllowsOrigin(std::string_view origin, bool is_secure = false) {
  return OriginCheck::CheckOrigin(origin, "localhost:4748", is_secure).ok();
}

TEST(OriginCheck, AcceptsItsOwnPagesOnly) {
  EXPECT_TRUE(AllowsOrigin(""));
  EXPECT_TRUE(AllowsOrigin("http://localhost:4748"));
  EXPECT_TRUE(AllowsOrigin("HTTP://LOCALHOST:4748"));
  for (const char* origin : {"null", "http://localhost", "http://localhost:80", "http://example.org", "localhost:4748",
                             "http://localhost:4748.example.org", "http://localhost:4748/", "ftp://localhost:4748"}) {
    EXPECT_FALSE(AllowsOrigin(origin)) << origin;
  }
}

TEST(OriginCheck, MayHaveTlsInFrontOfIt) {
  EXPECT_TRUE(AllowsOrigin("https://localhost:4748"));
  EXPECT_TRUE(AllowsOrigin("https://localhost:4748", /*is_secure=*/true));
  EXPECT_FALSE(AllowsOrigin("http://localhost:4748", /*is_secure=*/true));
}

}  // namespace
}  // namespace telemetry::http

#include "server/http/accept_encoding.h"

#include <gtest/gtest.h>

namespace telemetry::http {
namespace {

TEST(AcceptsGzip, FindsTheCoding) {
  for (const char* header :
       {"gzip", "GZIP", "br, gzip", "deflate,gzip;q=0.5", " gzip ; q=1.0", "gzip;q=0.001, *;q=0"}) {
    EXPECT_TRUE(AcceptsGzip(header)) << header;
  }
}

TEST(AcceptsGzip, RespectsARefusal) {
  for (const char* header : {"", "br", "gzip;q=0", "gzip; q=0.000", "x-gzip2", "gzipped", "gzip;q=x"}) {
    EXPECT_FALSE(AcceptsGzip(header)) << header;
  }
}

}  // namespace
}  // namespace telemetry::http

#include "proto/access/request_id.h"

#include <gtest/gtest.h>

#include <string>

namespace telemetry::access {
namespace {

TEST(RequestId, IsShortAndHoldsNothingThatActs) {
  for (const char* id : {"a", "9f3c0a117de2b845-1a", "job_17.4", "0f8fad5b-d9cb-469f-a165-70867728950e"}) {
    EXPECT_TRUE(IsRequestId(id)) << id;
  }
  EXPECT_TRUE(IsRequestId(std::string(64, 'a')));
  for (const char* text : {"", " ", "a b", "a\n", "a\"", "a=b", "ä", "../x", "{}"})
    EXPECT_FALSE(IsRequestId(text)) << text;
  EXPECT_FALSE(IsRequestId(std::string(65, 'a')));
  EXPECT_FALSE(IsRequestId(std::string("a\0b", 3)));
}

}  // namespace
}  // namespace telemetry::access

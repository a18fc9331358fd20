#include "tests/environment.h"

#include <stdlib.h>

#include <stdexcept>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace telemetry {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::ThrowsMessage;

class EnvironmentTest : public testing::Test {
 protected:
  EnvironmentTest() {
    unsetenv("TELEMETRY_FAULTS");
    unsetenv("TELEMETRY_SEED");
  }
};

TEST_F(EnvironmentTest, FaultsAreTheDefaultOrWhatIsSet) {
  EXPECT_EQ(Faults(), 50);
  EXPECT_EQ(Faults(4), 4);
  setenv("TELEMETRY_FAULTS", "1", 1);
  EXPECT_EQ(Faults(4), 1);
}

TEST_F(EnvironmentTest, ACountThatWouldTestNothingIsRefused) {
  for (const char* text : {"0", "-1", "", "many", "5x", "1e3", "99999999999"}) {
    setenv("TELEMETRY_FAULTS", text, 1);
    EXPECT_THAT([] { Faults(); },
                ThrowsMessage<std::invalid_argument>(AllOf(HasSubstr("TELEMETRY_FAULTS='" + std::string(text) + "'"),
                                                           HasSubstr("expected a whole number from 1"))));
  }
}

TEST_F(EnvironmentTest, ASeedMayBeZeroButNoWord) {
  setenv("TELEMETRY_SEED", "0", 1);
  EXPECT_EQ(TestSeed(), 0U);
  setenv("TELEMETRY_SEED", "4294967295", 1);
  EXPECT_EQ(TestSeed(), 4294967295U);
  setenv("TELEMETRY_SEED", "word", 1);
  EXPECT_THROW(TestSeed(), std::invalid_argument);
}

}  // namespace
}  // namespace telemetry

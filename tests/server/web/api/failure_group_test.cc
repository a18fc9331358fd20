#include "server/web/api/failure_group.h"

#include <gtest/gtest.h>

#include "server/storage/sql/failure_json.h"

namespace telemetry::web::api {
namespace {

std::string Failure(const std::string& message) {
  v1::Failure failure;
  failure.set_phase("compile");
  failure.set_error_class("PTXError");
  failure.set_message(message);
  return storage::sql::FailureToJson(failure);
}

TEST(FailureGroupTest, ReplacesNumbersAddressesAndHashes) {
  EXPECT_EQ(GeneralMessage("needs 300 of 255 registers"), "needs # of # registers");
  EXPECT_EQ(GeneralMessage("at 0x7ffd12ab: f16x2"), "at #: f16x2");
  EXPECT_EQ(GeneralMessage("file cafe0123beef, line 4"), "file #, line #");
  EXPECT_EQ(GeneralMessage("float32 face decade"), "float32 face decade");
  EXPECT_EQ(GeneralMessage("10ms 1.5"), "#ms #.#");
  EXPECT_EQ(GeneralMessage("first\nsecond 1"), "first");
  EXPECT_EQ(GeneralMessage(""), "");
}

TEST(FailureGroupTest, GroupsByReason) {
  const FailureReason reason = ReasonOf("error", Failure("needs 300 registers"));
  EXPECT_EQ(reason.phase, "compile");
  EXPECT_EQ(reason.error_class, "PTXError");
  EXPECT_EQ(reason.code, "");
  EXPECT_EQ(reason.Id(), ReasonOf("error", Failure("needs 280 registers")).Id());
  EXPECT_NE(reason.Id(), ReasonOf("timeout", Failure("needs 300 registers")).Id());
  EXPECT_NE(reason.Id(), ReasonOf("error", "").Id());
  EXPECT_EQ(reason.Id().size(), 16U);
  EXPECT_EQ(FailureText(Failure("x")), "compile: PTXError: x");
  EXPECT_EQ(FailureText(""), "");
  EXPECT_EQ(FailureText("not JSON"), "not JSON");
}

TEST(FailureGroupTest, ReadsAFailureThatIsCutAnywhereInItsMessage) {
  const std::string whole = Failure("line\n\"quoted\" \U0001F600 \u00e9 end of a long message");
  const size_t begin = whole.find("line");
  for (size_t size = begin; size < whole.size(); ++size) {
    const FailureReason reason = ReasonOf("error", whole.substr(0, size));
    EXPECT_EQ(reason.phase, "compile") << whole.substr(0, size);
    EXPECT_EQ(reason.error_class, "PTXError");
  }
}

}  // namespace
}  // namespace telemetry::web::api

#include "server/http/cookie.h"

#include <gtest/gtest.h>

namespace telemetry::http {
namespace {

TEST(FindCookie, ReturnsTheFirstOfItsName) {
  EXPECT_EQ(FindCookie("a=1; session=x=y; session=z; b=2", "session"), "x=y");
  EXPECT_EQ(FindCookie("session=x", "session"), "x");
  EXPECT_EQ(FindCookie("a=1;session=x", "session"), "x");
  EXPECT_EQ(FindCookie("session=; a=1", "session"), "");
}

TEST(FindCookie, ComparesTheWholeName) {
  EXPECT_EQ(FindCookie("my_session=1; session2=2; Session=3", "session"), "");
  EXPECT_EQ(FindCookie("a=session=1", "session"), "");
  EXPECT_EQ(FindCookie("session; a", "session"), "");
  EXPECT_EQ(FindCookie("", "session"), "");
  EXPECT_EQ(FindCookie(";;; ; =", "session"), "");
}

}  // namespace
}  // namespace telemetry::http

#include "worker/device/library.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace telemetry::worker::device {
namespace {

using testing::AllOf;
using testing::HasSubstr;

TEST(SharedLibraryTest, TakesTheFirstThatOpens) {
  const SharedLibrary library = SharedLibrary::Open({"libnowhere.so.1", "libm.so.6", "libc.so.6"}).value();
  EXPECT_EQ(library.name(), "libm.so.6");
  double (*cosine)(double) = nullptr;
  ASSERT_EQ(FunctionBinder(library).Bind("cos", &cosine).status(), absl::OkStatus());
  EXPECT_EQ(cosine(0), 1);
}

TEST(SharedLibraryTest, SaysWhatWasTried) {
  const absl::Status status = SharedLibrary::Open({"libnowhere.so.1", "libnothing.so.2"}).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(status.message()), AllOf(HasSubstr("libnowhere.so.1"), HasSubstr("libnothing.so.2")));
}

TEST(FunctionBinderTest, NamesTheFirstThatIsMissing) {
  const SharedLibrary library = SharedLibrary::Open({"libm.so.6"}).value();
  double (*cosine)(double) = nullptr;
  void (*missing)() = nullptr;
  void (*optional)() = nullptr;
  FunctionBinder binder(library);
  binder.BindOptional("not_needed", &optional)
      .Bind("cos", &cosine)
      .Bind("not_there", &missing)
      .Bind("nor_this", &missing);
  EXPECT_EQ(binder.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(binder.status().message()), AllOf(HasSubstr("libm.so.6"), HasSubstr("not_there")));
  EXPECT_NE(cosine, nullptr);
  EXPECT_EQ(optional, nullptr);
}

}  // namespace
}  // namespace telemetry::worker::device

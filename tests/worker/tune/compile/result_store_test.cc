#include "worker/tune/compile/result_store.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "absl/strings/str_cat.h"

namespace telemetry::worker::tune::compile {
namespace {

std::shared_ptr<const CompileResult> Compiled(size_t bytes) {
  return std::make_shared<const CompileResult>(
      CompileResult{.code = device::CompiledCode{.binary = std::string(bytes, 'x')}});
}

std::shared_ptr<const CompileResult> Failed(absl::StatusCode code) {
  return std::make_shared<const CompileResult>(CompileResult{.code = absl::Status(code, "")});
}

TEST(ResultStoreTest, ForgetsTheOldest) {
  ResultStore store(10000);
  for (int i = 0; i < 30; ++i) store.Add(absl::StrCat(i), Compiled(1000));
  EXPECT_EQ(store.Find("0"), nullptr);
  EXPECT_EQ(store.Find("20"), nullptr);
  EXPECT_NE(store.Find("22"), nullptr);
  EXPECT_NE(store.Find("29"), nullptr);
  store.Add("huge", Compiled(20000));
  EXPECT_EQ(store.Find("29"), nullptr);
  EXPECT_EQ(store.Find("huge"), nullptr);
  store.Add("small", Compiled(10));
  EXPECT_NE(store.Find("small"), nullptr);
}

TEST(ResultStoreTest, KeepsWhatTheSourceIsToBlameFor) {
  ResultStore store(10000);
  for (const auto code :
       {absl::StatusCode::kInvalidArgument, absl::StatusCode::kDeadlineExceeded, absl::StatusCode::kInternal,
        absl::StatusCode::kUnavailable, absl::StatusCode::kNotFound, absl::StatusCode::kCancelled}) {
    store.Add(absl::StatusCodeToString(code), Failed(code));
  }
  EXPECT_NE(store.Find("INVALID_ARGUMENT"), nullptr);
  EXPECT_NE(store.Find("DEADLINE_EXCEEDED"), nullptr);
  EXPECT_NE(store.Find("INTERNAL"), nullptr);
  EXPECT_EQ(store.Find("UNAVAILABLE"), nullptr);
  EXPECT_EQ(store.Find("NOT_FOUND"), nullptr);
  EXPECT_EQ(store.Find("CANCELLED"), nullptr);
}

}  // namespace
}  // namespace telemetry::worker::tune::compile

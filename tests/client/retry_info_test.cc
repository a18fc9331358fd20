#include "client/retry_info.h"

#include <string>

#include "gtest/gtest.h"
#include "telemetry/v1/status.pb.h"

namespace telemetry::client {
namespace {

std::string DetailsWithDelay(int64_t seconds, int32_t nanos) {
  v1::RetryInfo info;
  info.mutable_retry_delay()->set_seconds(seconds);
  info.mutable_retry_delay()->set_nanos(nanos);
  v1::RpcStatus status;
  status.add_details()->set_type_url("type.googleapis.com/google.rpc.DebugInfo");
  google::protobuf::Any* detail = status.add_details();
  detail->set_type_url("type.googleapis.com/google.rpc.RetryInfo");
  detail->set_value(info.SerializeAsString());
  return status.SerializeAsString();
}

TEST(RetryInfoTest, FindsTheDelay) {
  EXPECT_EQ(ParseRetryDelay(DetailsWithDelay(1, 500'000'000)), absl::Milliseconds(1500));
}

TEST(RetryInfoTest, NoDetailsMeanNoDelay) {
  EXPECT_EQ(ParseRetryDelay(""), std::nullopt);
  EXPECT_EQ(ParseRetryDelay("\xff garbage"), std::nullopt);
}

TEST(RetryInfoTest, AbsurdDelaysAreBounded) {
  EXPECT_EQ(ParseRetryDelay(DetailsWithDelay(1'000'000'000, 0)), absl::Hours(1));
  EXPECT_EQ(ParseRetryDelay(DetailsWithDelay(-5, 0)), absl::ZeroDuration());
}

}  // namespace
}  // namespace telemetry::client

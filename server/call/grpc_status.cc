#include "server/call/grpc_status.h"

#include "absl/strings/cord.h"
#include "telemetry/v1/status.pb.h"

namespace telemetry::call {
namespace {

constexpr char kRetryInfoUrl[] = "type.googleapis.com/google.rpc.RetryInfo";

}  // namespace

absl::Status TryAgainLater(const std::string& message, absl::Duration retry_delay) {
  absl::Status status = absl::ResourceExhaustedError(message);
  v1::RetryInfo info;
  const absl::Duration whole = absl::Trunc(retry_delay, absl::Seconds(1));
  info.mutable_retry_delay()->set_seconds(absl::ToInt64Seconds(whole));
  info.mutable_retry_delay()->set_nanos(static_cast<int32_t>(absl::ToInt64Nanoseconds(retry_delay - whole)));
  status.SetPayload(kRetryInfoUrl, absl::Cord(info.SerializeAsString()));
  return status;
}

grpc::Status ToGrpc(const absl::Status& status) {
  if (status.ok()) return grpc::Status::OK;
  const auto code = static_cast<grpc::StatusCode>(status.raw_code());
  const std::string message(status.message());
  const absl::optional<absl::Cord> retry_info = status.GetPayload(kRetryInfoUrl);
  if (!retry_info) return {code, message};
  v1::RpcStatus details;
  details.set_code(code);
  details.set_message(message);
  google::protobuf::Any* detail = details.add_details();
  detail->set_type_url(kRetryInfoUrl);
  detail->set_value(std::string(*retry_info));
  return {code, message, details.SerializeAsString()};
}

}  // namespace telemetry::call

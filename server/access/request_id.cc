#include "server/access/request_id.h"

#include <grpcpp/server_context.h>

#include <atomic>
#include <cstdint>
#include <random>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "proto/access/request_id.h"

namespace telemetry::access {
namespace {

std::string ProcessPrefix() {
  std::random_device random;
  return absl::StrCat(absl::Hex(random(), absl::kZeroPad8), absl::Hex(random(), absl::kZeroPad8), "-");
}

// Returns the id that the caller sent, or an empty string if there is no valid one.
std::string SentId(const grpc::ServerContext& context) {
  const auto [begin, end] = context.client_metadata().equal_range(kRequestIdKey);
  if (begin == end || std::next(begin) != end) return "";
  const std::string_view id(begin->second.data(), begin->second.size());
  return IsRequestId(id) ? std::string(id) : "";
}

}  // namespace

std::string NewRequestId() {
  static const std::string prefix = ProcessPrefix();
  static std::atomic<uint64_t> count = 0;
  return absl::StrCat(prefix, absl::Hex(++count));
}

std::string BeginRequest(grpc::ServerContext& context) {
  std::string id = SentId(context);
  if (id.empty()) id = NewRequestId();
  context.AddInitialMetadata(kRequestIdKey, id);
  return id;
}

}  // namespace telemetry::access

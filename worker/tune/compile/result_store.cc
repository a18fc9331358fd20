#include "worker/tune/compile/result_store.h"

#include <utility>

namespace telemetry::worker::tune::compile {
namespace {

bool SaysSomethingOfTheSource(const absl::Status& status) {
  return status.ok() || absl::IsInvalidArgument(status) || absl::IsDeadlineExceeded(status) ||
         absl::IsResourceExhausted(status) || absl::IsInternal(status);
}

size_t SizeOf(const CompileResult& result) {
  return sizeof(result) + (result.code.ok() ? result.code->binary.size() + result.code->log.size()
                                            : result.code.status().message().size());
}

}  // namespace

std::shared_ptr<const CompileResult> ResultStore::Find(const std::string& key) const {
  const auto found = results_.find(key);
  return found == results_.end() ? nullptr : found->second;
}

void ResultStore::Add(const std::string& key, const std::shared_ptr<const CompileResult>& result) {
  if (!SaysSomethingOfTheSource(result->code.status())) return;
  const size_t size = SizeOf(*result);
  if (!results_.emplace(key, result).second) return;
  keys_.push_back(key);
  bytes_ += size;
  while (bytes_ > limit_bytes_) {
    const auto oldest = results_.find(keys_.front());
    bytes_ -= SizeOf(*oldest->second);
    results_.erase(oldest);
    keys_.pop_front();
  }
}

}  // namespace telemetry::worker::tune::compile

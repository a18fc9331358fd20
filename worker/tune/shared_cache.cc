#include "worker/tune/shared_cache.h"

#include "absl/strings/str_cat.h"
#include "proto/base/status_macros.h"
#include "proto/record/ids.h"

namespace telemetry::worker::tune {

absl::StatusOr<BestConfig> SharedCache::Find(const v1::Run& run) {
  v1::GetCacheRequest request;
  request.set_namespace_(kNamespace);
  request.set_key(run.run_id());
  request.set_hardware(run.hardware());
  ASSIGN_OR_RETURN(const v1::CacheEntry entry, client_.Get(request));
  absl::StatusOr<BestConfig> best = ParseBestConfig(entry.value());
  if (best.ok() && best->run_id == run.run_id()) return best;
  return absl::FailedPreconditionError(
      absl::StrCat("the cached config of \"", entry.sender(),
                   "\" is ignored: ", best.ok() ? "it is one of another run" : std::string(best.status().message())));
}

absl::Status SharedCache::Put(const BestConfig& best, const record::Json& versions) {
  v1::CacheEntry entry;
  entry.set_namespace_(kNamespace);
  entry.set_key(best.run_id);
  entry.set_value(record::ToJson(ToJson(best)));
  entry.set_hardware(best.hardware);
  entry.set_versions_json(record::ToJson(versions));
  ASSIGN_OR_RETURN(*entry.mutable_attempt_id(), record::HexDecode(best.attempt_id));
  return client_.Put(entry).status();
}

}  // namespace telemetry::worker::tune

#include "server/dataset/deletion_log.h"

#include "absl/strings/str_join.h"
#include "proto/log/log.h"
#include "proto/record/ids.h"

namespace telemetry::dataset {

void DeletedCounts::Add(const v1::DeleteStep& step) {
  attempts += static_cast<uint64_t>(step.attempts_size());
  for (const v1::DeletedAttempt& attempt : step.attempts()) rows += attempt.rows();
  runs += step.runs();
}

void LogDeletion(const Deleter& deleter, const v1::DeleteRequest& request, const DeletedCounts& counts,
                 const std::string& reason) {
  const auto append_hex = [](std::string* out, const std::string& id) { out->append(record::HexEncode(id)); };
  log::Info("deleted from the dataset", {{"by", deleter.by},
                                         {"token", deleter.token_id},
                                         {"peer", deleter.peer},
                                         {"request_id", deleter.request_id},
                                         {"run_ids", absl::StrJoin(request.run_ids(), ",")},
                                         {"attempt_ids", absl::StrJoin(request.attempt_ids(), ",", append_hex)},
                                         {"origins", absl::StrJoin(request.origins(), ",")},
                                         {"attempts", counts.attempts},
                                         {"rows", counts.rows},
                                         {"runs", counts.runs},
                                         {"ended_early", reason}});
}

}  // namespace telemetry::dataset

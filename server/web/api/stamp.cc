#include "server/web/api/stamp.h"

#include "proto/base/status_macros.h"
#include "proto/record/strings.h"
#include "server/web/api/common.h"

namespace telemetry::web::api {

using record::Cat;

absl::StatusOr<std::string> StampOf(const Call& call, const std::string& condition) {
  storage::sql::Statement read(
      call.scratch,
      Cat("SELECT count(*), max(a.attempt), max(a.changed_us), sum(a.row_count), sum(a.detail_count) FROM runs AS r "
          "JOIN attempts AS a ON a.run = r.run LEFT JOIN kernels AS k ON k.kernel = r.kernel WHERE ",
          condition)
          .c_str());
  RETURN_IF_ERROR(read.Step().status());
  return Cat(read.Int(0), " ", read.Int(1), " ", read.Int(2), " ", read.Int(3), " ", read.Int(4));
}

absl::StatusOr<std::string> StampOfRun(const Call& call) {
  return StampOf(call, Cat("r.run_id = ", Quoted(call.path.front())));
}

absl::StatusOr<std::string> StampOfSummaries(const Call& call) {
  const summary::Progress progress = call.state.progress();
  return Cat(progress.version, " ", progress.done_attempts, " ", progress.total_attempts, " ", progress.complete);
}

}  // namespace telemetry::web::api

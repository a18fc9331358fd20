#include "worker/tune/timeline.h"

#include <fcntl.h>

#include <utility>

#include "absl/strings/str_format.h"
#include "absl/time/time.h"
#include "proto/base/status_macros.h"
#include "proto/record/sidecar/csv_fields.h"

namespace telemetry::worker::tune {

absl::StatusOr<std::unique_ptr<Timeline>> Timeline::Create(const std::string& path) {
  ASSIGN_OR_RETURN(client::File file, client::File::Open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC));
  RETURN_IF_ERROR(file.Write("step,config,begin_s,end_s\n"));
  return std::unique_ptr<Timeline>(new Timeline(std::move(file)));
}

double Timeline::SecondsAt(SteadyTime time) const { return absl::ToDoubleSeconds(absl::FromChrono(time - opened_)); }

void Timeline::Add(std::string_view step, std::string_view config, SteadyTime begin, SteadyTime end) {
  std::string line(step);
  line += ',';
  record::sidecar::AppendCsvField(config, &line);
  absl::StrAppendFormat(&line, ",%.6f,%.6f\n", SecondsAt(begin), SecondsAt(end));
  absl::MutexLock lock(&mutex_);
  status_.Update(file_.Write(line));
}

absl::Status Timeline::status() const {
  absl::MutexLock lock(&mutex_);
  return status_;
}

}  // namespace telemetry::worker::tune

#include "server/export/selection.h"

#include <algorithm>
#include <string>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "proto/base/nearest.h"

namespace telemetry::exporter {
namespace {

using Values = google::protobuf::RepeatedPtrField<std::string>;

std::string Quoted(const std::string& text) { return absl::StrCat("'", text, "'"); }

std::string Suggest(const std::string& value, const Values& known) {
  constexpr size_t kMostListed = 10;
  const std::vector<std::string> candidates(known.begin(), known.end());
  const std::string nearest = Nearest(value, candidates);
  if (!nearest.empty()) return absl::StrCat("did you mean ", Quoted(nearest), "?");
  const auto end = candidates.begin() + static_cast<ptrdiff_t>(std::min(candidates.size(), kMostListed));
  const std::string listed = absl::StrJoin(
      candidates.begin(), end, ", ", [](std::string* out, const std::string& name) { out->append(Quoted(name)); });
  return absl::StrCat("the dataset has ", listed, candidates.size() > kMostListed ? ", ..." : "");
}

// Returns a message about an unknown value, or an empty string if the value is not given, exists, or the existing
// values are unknown.
std::string Unknown(const char* no, const std::string& value, const Values& known) {
  if (value.empty() || known.empty() || absl::c_linear_search(known, value)) return "";
  return absl::StrCat(no, " ", Quoted(value), "; ", Suggest(value, known));
}

std::string FormatFlags(const v1::Filter& filter) {
  std::vector<std::string> flags;
  const auto add = [&flags](const char* flag, const std::string& value) {
    if (!value.empty()) flags.push_back(absl::StrCat(flag, " ", Quoted(value)));
  };
  add("--kernel", filter.kernel_name());
  add("--hardware", filter.hardware());
  add("--run", filter.run_id());
  add("--status", filter.status());
  if (filter.since_unix_us() != 0) flags.emplace_back("--since");
  if (filter.attempts() == v1::Filter::ATTEMPTS_LATEST) flags.emplace_back("--attempts latest");
  if (filter.attempts() == v1::Filter::ATTEMPTS_BEST) flags.emplace_back("--attempts best");
  return absl::StrJoin(flags, " ");
}

}  // namespace

absl::Status NothingSelected(const v1::Filter& filter, const v1::FilterValues& values) {
  std::vector<std::string> reasons = {
      Unknown("no kernel is called", filter.kernel_name(), values.kernel_names()),
      Unknown("no run is on the device", filter.hardware(), values.hardware()),
      Unknown("no row has the status", filter.status(), values.statuses()),
  };
  std::erase(reasons, "");
  const std::string flags = FormatFlags(filter);
  if (reasons.empty() && !flags.empty()) reasons.push_back(absl::StrCat("no row matches ", flags));
  if (reasons.empty()) reasons.emplace_back("the dataset has no rows");
  return absl::NotFoundError(
      absl::StrCat(absl::StrJoin(reasons, "; "), " (nothing was written; --allow-empty exports no rows)"));
}

}  // namespace telemetry::exporter

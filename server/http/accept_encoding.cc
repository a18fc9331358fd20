#include "server/http/accept_encoding.h"

#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "proto/record/strings.h"

namespace telemetry::http {
namespace {

// Returns the weight of "q=0.5", and 1 for any other parameter.
double Weight(absl::string_view parameter) {
  parameter = absl::StripAsciiWhitespace(parameter);
  double weight = 1;
  if (absl::ConsumePrefix(&parameter, "q=") && !absl::SimpleAtod(parameter, &weight)) return 0;
  return weight;
}

}  // namespace

bool AcceptsGzip(std::string_view accept_encoding) {
  for (const absl::string_view coding : absl::StrSplit(record::AbslView(accept_encoding), ',')) {
    const std::pair<absl::string_view, absl::string_view> parts = absl::StrSplit(coding, absl::MaxSplits(';', 1));
    if (absl::EqualsIgnoreCase(absl::StripAsciiWhitespace(parts.first), "gzip")) return Weight(parts.second) > 0;
  }
  return false;
}

}  // namespace telemetry::http

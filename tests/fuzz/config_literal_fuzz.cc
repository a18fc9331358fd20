// Fuzzes the parser of configs written as Python literals: a config that is read is written as a call that is read as
// the same config, and its arguments can be joined again.

#include <string>
#include <string_view>

#include "proto/record/json.h"
#include "proto/record/python_literal.h"
#include "tests/fuzz/fuzz.h"

namespace telemetry::record {
namespace {

using fuzz::Require;

void CheckArguments(std::string_view text) {
  const std::vector<std::string_view> arguments = SplitConfigArguments(text);
  if (arguments.empty()) return;
  std::string joined = "Config(";
  std::string_view separator;
  for (const std::string_view argument : arguments) {
    joined.append(separator).append(argument);
    separator = ", ";
  }
  Require(joined + ")" == text, "the arguments join to the text");
}

void CheckConfig(const Json& config) {
  const std::string text = FormatConfig(config);
  const absl::StatusOr<Json> again = ParseConfig(text);
  Require(again.ok() && *again == config, "a written config comes back");
  Require(FormatConfig(*again) == text, "it is written the same way");
  const absl::StatusOr<Json> json = ParseJson(ToJson(config));
  Require(json.ok() && *json == config, "a config is JSON");
  Require(config.members.empty() || SplitConfigArguments(text).size() == config.members.size(),
          "as many argument texts as arguments");
}

}  // namespace
}  // namespace telemetry::record

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace telemetry::record;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  CheckArguments(text);
  if (const absl::StatusOr<Json> config = ParseConfig(text); config.ok()) CheckConfig(*config);
  return 0;
}

#include "worker/tune/config_header.h"

#include <algorithm>
#include <cctype>
#include <set>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_format.h"
#include "proto/base/status_macros.h"
#include "proto/record/ids.h"
#include "proto/record/strings.h"
#include "worker/spec/config_source.h"

namespace telemetry::worker::tune {
namespace {

using record::Cat;
using spec::Macro;

bool IsOfIdentifier(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; }) &&
         (text.empty() || std::isdigit(static_cast<unsigned char>(text.front())) == 0);
}

// Returns a line of a comment. A backslash at its end would continue the comment on the next line.
std::string CommentLine(std::string text) {
  for (char& c : text) {
    if (std::iscntrl(static_cast<unsigned char>(c)) != 0) c = ' ';
  }
  const bool is_continued = text.ends_with('\\') || text.ends_with("?\?/");
  return Cat("// ", text, is_continued ? "." : "", "\n");
}

std::vector<Macro> LaunchMacros(const spec::LaunchSize& size) {
  std::vector<Macro> macros;
  for (size_t axis = 0; axis < 3; ++axis) {
    macros.push_back({Cat("launch_blocks_", std::string(1, "xyz"[axis])), std::to_string(size.grid[axis])});
  }
  for (size_t axis = 0; axis < 3; ++axis) {
    macros.push_back({Cat("launch_threads_", std::string(1, "xyz"[axis])), std::to_string(size.threads[axis])});
  }
  macros.push_back({"launch_shared_bytes", std::to_string(size.shared_bytes)});
  return macros;
}

}  // namespace

absl::StatusOr<std::string> ConfigHeader(const BestConfig& best, const SpecKernel& kernel, std::string_view prefix) {
  if (!IsOfIdentifier(prefix)) {
    return absl::InvalidArgumentError(
        Cat("--prefix '", prefix, "': a prefix of macros has letters, digits and _, and does not begin with a digit"));
  }
  ASSIGN_OR_RETURN(std::vector<Macro> macros, kernel.MacrosOf(best.config));
  ASSIGN_OR_RETURN(const spec::LaunchSize size, kernel.LaunchOf(best.config));
  for (Macro& macro : LaunchMacros(size)) macros.push_back(std::move(macro));
  const std::string guard = Cat(prefix, "TUNED_CONFIG_", best.run_id.substr(0, 16), "_H");
  std::string text =
      CommentLine(Cat("The best known config of ", best.kernel_name, " ", best.input_shapes, " ", best.dtypes, " on ",
                      best.hardware, ": ", absl::StrFormat("%.6f ms", best.perf_ms)));
  text += CommentLine(Cat("run_id ", best.run_id, ", config_id ", record::FormatConfigId(best.config.id())));
  text += "// Written by telemetry-worker best --format header.\n";
  text += Cat("#ifndef ", guard, "\n#define ", guard, "\n\n");
  std::set<std::string> names;
  for (const Macro& macro : macros) {
    if (!names.insert(macro.name).second) {
      return absl::InvalidArgumentError(
          Cat("the parameter '", macro.name, "' has the name of a macro of the launch: rename it"));
    }
    text += Cat("#define ", prefix, macro.name, " ", macro.value, "\n");
  }
  return text + "\n#endif\n";
}

}  // namespace telemetry::worker::tune

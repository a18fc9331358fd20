#include "worker/repro/program_files.h"

#include <algorithm>
#include <cctype>
#include <filesystem>

#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "proto/record/ids.h"
#include "proto/record/strings.h"

namespace telemetry::worker::repro {

using record::Cat;

std::vector<std::string> Provenance(const RecordedMeasurement& measured) {
  const v1::Measurement& row = measured.row;
  std::string result = Cat("status ", row.status());
  if (row.has_perf_ms()) result += absl::StrFormat(", %.6f ms", row.perf_ms());
  return {Cat("run_id ", measured.run.run_id()),
          Cat("config_id ", record::FormatConfigId(measured.config_id)),
          Cat("attempt_id ", record::HexEncode(measured.attempt.attempt_id()), ", row ", row.seq()),
          Cat("kernel ", measured.run.kernel_name(), " ", measured.run.input_shapes(), " ", measured.run.dtypes()),
          Cat("hardware ", measured.run.hardware()),
          Cat(measured.config.ToString()),
          Cat("measured: ", result)};
}

std::string ForShell(const std::string& path) {
  const std::string safe = path.starts_with('-') ? "./" + path : path;
  const bool is_plain = std::all_of(safe.begin(), safe.end(), [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '/' || c == '.' || c == '_' || c == '-';
  });
  return is_plain ? safe : Cat("'", absl::StrReplaceAll(safe, {{"'", R"('\'')"}}), "'");
}

std::string CommentLine(std::string text) {
  for (char& c : text) {
    if (std::iscntrl(static_cast<unsigned char>(c)) != 0) c = ' ';
  }
  return Cat("// ", text, text.ends_with('\\') ? "." : "", "\n");
}

std::string CppCommandOf(const std::string& path, std::string_view libraries) {
  const std::filesystem::path source = path;
  // The executable is in the folder of its source.
  const std::string program =
      source.has_extension() ? std::filesystem::path(source).replace_extension().string() : path + ".out";
  // g++ would link a file with another extension as an object file.
  const std::string input = source.extension() == ".cpp" ? ForShell(path) : Cat("-x c++ ", ForShell(path), " -x none");
  return Cat("g++ -std=c++17 -O2 ", input, " -o ", ForShell(program), " ", libraries, " && ",
             ForShell(source.has_parent_path() ? program : "./" + program));
}

}  // namespace telemetry::worker::repro

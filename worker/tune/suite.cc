#include "worker/tune/suite.h"

#include <filesystem>
#include <fstream>
#include <functional>
#include <sstream>
#include <utility>

#include "proto/base/status_macros.h"
#include "proto/record/strings.h"

namespace telemetry::worker::tune {
namespace {

using record::Cat;
using record::Json;
using runtime::Settings;

using Reader = std::function<absl::Status(const Json& value)>;
using Readers = std::vector<std::pair<std::string, Reader>>;

std::string_view Text(const absl::Status& status) { return {status.message().data(), status.message().size()}; }

absl::Status Wrong(std::string_view where, std::string_view what) {
  return absl::InvalidArgumentError(Cat(where, ": ", what));
}

// Reads each member of an object with the reader for its key. A key without a reader is an error, because it is
// probably misspelt.
absl::Status ReadObject(const Json& object, const std::string& where, const Readers& readers) {
  if (object.kind != Json::Kind::kObject) return Wrong(where, "expected an object");
  for (const auto& [key, value] : object.members) {
    const Reader* reader = nullptr;
    std::string names;
    for (const auto& [name, read] : readers) {
      if (name == key) reader = &read;
      names += Cat(names.empty() ? "" : ", ", name);
    }
    if (reader == nullptr) return Wrong(where, Cat("unknown key '", key, "'; expected one of ", names));
    if (absl::Status status = (*reader)(value); !status.ok()) return Wrong(Cat(where, ".", key), Text(status));
  }
  return absl::OkStatus();
}

absl::Status ReadText(const Json& value, std::string* text) {
  if (value.kind != Json::Kind::kString) return absl::InvalidArgumentError("expected a string");
  *text = value.text;
  return absl::OkStatus();
}

absl::Status ReadTexts(const Json& value, std::vector<std::string>* texts) {
  if (value.kind != Json::Kind::kArray) return absl::InvalidArgumentError("expected a list of strings");
  for (const Json& item : value.items) {
    if (item.kind != Json::Kind::kString) return absl::InvalidArgumentError("expected a list of strings");
    texts->push_back(item.text);
  }
  return absl::OkStatus();
}

absl::Status ReadEffort(const Json& value, std::optional<search::Effort>* effort) {
  absl::StatusOr<search::Effort> parsed = search::ParseEffort(value.text);
  if (parsed.ok()) *effort = *parsed;
  return parsed.status();
}

absl::Status ReadSettings(const Json& value, std::optional<Settings>* settings) {
  if (value.kind != Json::Kind::kObject) return absl::InvalidArgumentError("expected an object");
  std::vector<runtime::NamedSetting> named;
  for (const auto& [name, setting] : value.members) {
    const bool is_bool = setting.kind == Json::Kind::kTrue || setting.kind == Json::Kind::kFalse;
    named.emplace_back(name, is_bool ? (setting.kind == Json::Kind::kTrue ? "true" : "false") : setting.text);
  }
  absl::StatusOr<Settings> parsed = runtime::MakeSettings(named);
  if (parsed.ok()) *settings = *parsed;
  return parsed.status();
}

absl::StatusOr<SuiteEntry> ParseEntry(const Json& object, const std::string& where) {
  SuiteEntry entry;
  std::string name;
  std::vector<std::string> arguments;
  const Readers readers = {
      {"kernel", [&](const Json& value) { return ReadText(value, &name); }},
      {"args", [&](const Json& value) { return ReadTexts(value, &arguments); }},
      {"effort", [&](const Json& value) { return ReadEffort(value, &entry.effort); }},
      {"spec", [&](const Json& value) { return ReadText(value, &entry.spec); }},
      {"settings", [&](const Json& value) { return ReadSettings(value, &entry.settings); }},
  };
  RETURN_IF_ERROR(ReadObject(object, where, readers));
  if (!entry.spec.empty()) {
    if (!name.empty() || !arguments.empty()) return Wrong(where, "a spec has neither a kernel nor args");
    return entry;
  }
  absl::StatusOr<const kernels::LibraryKernel*> kernel = kernels::FindKernel(name);
  if (!kernel.ok()) return Wrong(Cat(where, ".kernel"), Text(kernel.status()));
  entry.kernel = *kernel;
  absl::StatusOr<kernels::Problem> problem = kernels::ParseProblem(*entry.kernel, arguments);
  if (!problem.ok()) return Wrong(Cat(where, ".args"), Text(problem.status()));
  entry.problem = *std::move(problem);
  return entry;
}

absl::Status ReadEntries(const Json& list, std::vector<SuiteEntry>* entries) {
  if (list.kind != Json::Kind::kArray) return absl::InvalidArgumentError("expected a list");
  for (size_t i = 0; i < list.items.size(); ++i) {
    ASSIGN_OR_RETURN(SuiteEntry entry, ParseEntry(list.items[i], Cat("[", i, "]")));
    entries->push_back(std::move(entry));
  }
  return absl::OkStatus();
}

}  // namespace

std::string SuiteEntry::Name() const { return kernel == nullptr ? spec : Cat(kernel->name, " ", problem.ToString()); }

absl::StatusOr<Suite> ParseSuite(std::string_view text) {
  ASSIGN_OR_RETURN(Json object, record::ParseJson(text));
  Suite suite;
  const Readers readers = {
      {"devices", [&](const Json& value) { return ReadTexts(value, &suite.devices); }},
      {"effort", [&](const Json& value) { return ReadEffort(value, &suite.effort); }},
      {"kernels", [&](const Json& value) { return ReadEntries(value, &suite.entries); }},
  };
  RETURN_IF_ERROR(ReadObject(object, "suite", readers));
  if (suite.entries.empty()) return Wrong("suite.kernels", "nothing to tune");
  return suite;
}

absl::StatusOr<Suite> ReadSuite(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  if (!file || !(text << file.rdbuf())) return absl::NotFoundError(Cat("--suite ", path, ": cannot be read"));
  absl::StatusOr<Suite> suite = ParseSuite(text.str());
  if (!suite.ok()) return Wrong(path, Text(suite.status()));
  for (SuiteEntry& entry : suite->entries) {
    if (!entry.spec.empty()) entry.spec = (std::filesystem::path(path).parent_path() / entry.spec).string();
  }
  return suite;
}

}  // namespace telemetry::worker::tune

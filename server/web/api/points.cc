#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "proto/base/status_macros.h"
#include "proto/record/strings.h"
#include "server/web/api/endpoints.h"
#include "server/web/api/knob_view.h"
#include "server/web/rows/stage.h"

namespace telemetry::web::api {
namespace {

using json::JsonWriter;
using rows::Knob;
using rows::MeasuredConfig;

constexpr size_t kMostPlottedKnobs = 40;
constexpr size_t kMostPlottedValues = 1000;

// Returns the selected knobs, in the order of `names`, or the most effective ones. INVALID_ARGUMENT: there is no such
// knob.
absl::StatusOr<std::vector<const Knob*>> SelectKnobs(const KnobView& view, const std::vector<std::string>& names) {
  std::vector<const Knob*> knobs;
  if (names.empty()) {
    for (const VariedKnob& varied : view.knobs) {
      if (knobs.size() < kMostPlottedKnobs) knobs.push_back(&varied.knob);
    }
    return knobs;
  }
  for (const std::string& name : names) {
    const Knob* found = nullptr;
    for (const VariedKnob& varied : view.knobs) {
      if (varied.knob.name == name) found = &varied.knob;
    }
    for (const Knob& knob : view.constant) {
      if (knob.name == name) found = &knob;
    }
    if (found == nullptr) return absl::InvalidArgumentError("parameter knob: the configs have no such knob");
    knobs.push_back(found);
  }
  return knobs;
}

// Returns the places of the points: the best tenth of them, and an even sample of the rest.
std::vector<size_t> Sample(size_t size, size_t points) {
  std::vector<size_t> places;
  const size_t count = std::min(size, points);
  const size_t best = count == size ? count : count / 10;
  for (size_t i = 0; i < best; ++i) places.push_back(i);
  for (size_t i = 0; i < count - best; ++i) places.push_back(best + i * (size - best) / (count - best));
  return places;
}

void WriteKnobs(const std::vector<const Knob*>& knobs, JsonWriter& out) {
  out.BeginArray("knobs");
  for (const Knob* const knob : knobs) {
    out.BeginObject();
    out.Field("name", knob->name);
    out.Field("type", knob->is_number ? "number" : "text");
    out.BeginArray("values");
    for (size_t i = 0; i < std::min(kMostPlottedValues, knob->values.size()); ++i) {
      out.BeginObject();
      out.Field("text", knob->values[i].text);
      out.Field("number", knob->values[i].number);
      out.EndObject();
    }
    out.EndArray();
    out.EndObject();
  }
  out.EndArray();
}

// Writes a column of the points.
template <typename Get>
void WriteColumn(JsonWriter& out, const char* key, const std::vector<size_t>& places, const Get& get) {
  out.BeginArray(key);
  for (const size_t place : places) out.Value(get(place));
  out.EndArray();
}

void WriteValues(const std::vector<const Knob*>& knobs, const std::vector<size_t>& places, JsonWriter& out) {
  out.BeginArray("values");
  for (const Knob* const knob : knobs) {
    out.BeginArray();
    for (const size_t place : places) {
      const int32_t value = knob->value_of[place];
      value == Knob::kAbsent || value >= static_cast<int32_t>(kMostPlottedValues) ? out.Value(nullptr)
                                                                                  : out.Value(value);
    }
    out.EndArray();
  }
  out.EndArray();
}

// Writes the texts of the values of each knob, for a CSV, which has no list of the knobs' values.
void WriteKnobColumns(const std::vector<const Knob*>& knobs, const std::vector<size_t>& places, JsonWriter& out) {
  for (const Knob* const knob : knobs) {
    out.BeginArray(record::Cat("knob ", knob->name));
    for (const size_t place : places) {
      const int32_t value = knob->value_of[place];
      value == Knob::kAbsent ? out.Value(nullptr) : out.Value(knob->values[static_cast<size_t>(value)].text);
    }
    out.EndArray();
  }
}

void WritePoints(const KnobView& view, const std::vector<const Knob*>& knobs, const std::vector<size_t>& places,
                 const rows::StatusTable& statuses, bool is_csv, JsonWriter& out) {
  const auto at = [&view](size_t place) -> const MeasuredConfig& { return view.configs[place]; };
  out.BeginObject("points");
  WriteColumn(out, "config_id", places, [&](size_t place) { return view.table.Find(at(place).config).id; });
  WriteColumn(out, "attempt", places, [&](size_t place) { return at(place).attempt; });
  WriteColumn(out, "seq", places, [&](size_t place) { return at(place).seq; });
  WriteColumn(out, "status", places, [&](size_t place) { return statuses.Name(at(place).status); });
  WriteColumn(out, "perf_ms", places,
              [&](size_t place) { return at(place).is_measured() ? at(place).perf_ms : std::nullopt; });
  WriteColumn(out, "compile_ms", places, [&](size_t place) {
    const std::optional<double> seconds = at(place).compile_time_s;
    return seconds.has_value() ? std::optional(*seconds * 1000) : std::nullopt;
  });
  WriteColumn(out, "stage", places, [&](size_t place) {
    const std::string_view name = rows::StageName(at(place).stage);
    return name.empty() ? std::nullopt : std::optional(name);
  });
  is_csv ? WriteKnobColumns(knobs, places, out) : WriteValues(knobs, places, out);
  out.EndObject();
}

}  // namespace

absl::Status GetPoints(const Call& call, JsonWriter& out) {
  RETURN_IF_ERROR(call.parameters.Allow({"sender", "points", "format"}, {"attempt", "knob"}));
  ASSIGN_OR_RETURN(const int64_t points, call.parameters.Bounded("points", 1000, 10, 4000));
  ASSIGN_OR_RETURN(const std::vector<std::string> names, call.parameters.All("knob", kMostPlottedKnobs));
  ASSIGN_OR_RETURN(const std::string format, call.parameters.Choice("format", {"json", "csv"}));
  ASSIGN_OR_RETURN(const RunScope scope, FindRun(call));
  ASSIGN_OR_RETURN(const KnobView view, ReadKnobView(call, scope));
  ASSIGN_OR_RETURN(const std::vector<const Knob*> knobs, SelectKnobs(view, names));
  rows::StatusTable statuses(call.dataset);
  RETURN_IF_ERROR(statuses.Refresh());
  const std::vector<size_t> places = Sample(view.configs.size(), static_cast<size_t>(points));
  out.BeginObject();
  WriteKnobs(knobs, out);
  WritePoints(view, knobs, places, statuses, format == "csv", out);
  out.BeginArray("attempts");
  for (const std::string& id : scope.attempt_ids) out.Value(id);
  out.EndArray();
  out.Field("total", view.configs.size());
  out.Field("sampled", view.is_cut || places.size() < view.configs.size());
  out.EndObject();
  return absl::OkStatus();
}

}  // namespace telemetry::web::api

#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "proto/record/json.h"
#include "proto/record/numbers.h"
#include "worker/compare/report.h"

namespace telemetry::worker::compare {
namespace {

using record::Json;

// Builds an object member by member.
class Object {
 public:
  Object& Add(const char* key, Json value) {
    object_.members.emplace_back(key, std::move(value));
    return *this;
  }
  Object& Add(const char* key, const std::string& text) { return Add(key, Json::String(text)); }
  Object& Add(const char* key, std::string_view text) { return Add(key, Json::String(std::string(text))); }
  Object& Add(const char* key, size_t count) { return Add(key, Json::Integer(static_cast<int64_t>(count))); }
  // Adds null for a value that is missing or not finite.
  Object& Add(const char* key, std::optional<double> value) {
    const bool is_number = value.has_value() && std::isfinite(*value);
    return Add(key, is_number ? Json::Number(record::FloatRepr(*value)) : Json::Null());
  }
  Json Take() { return std::move(object_); }

 private:
  Json object_ = Json::Object();
};

Json TextsOf(const std::vector<std::string>& texts) {
  Json array = Json::Array();
  for (const std::string& text : texts) array.items.push_back(Json::String(text));
  return array;
}

Json ToJson(const std::optional<statistics::SideTime>& time, size_t attempts) {
  if (!time.has_value()) return Json::Null();
  return Object()
      .Add("ms", std::optional(time->time))
      .Add("low", time->low)
      .Add("high", time->high)
      .Add("attempts", attempts)
      .Take();
}

Json ToJson(const TimeComparison& time) {
  if (!time.change.has_value()) return Json::Null();
  return Object()
      .Add("ratio", std::optional(time.change->ratio))
      .Add("low", time.change->low)
      .Add("high", time.change->high)
      .Add("p_value", std::optional(time.change->p_value))
      .Add("adjusted_p", std::optional(time.adjusted_p))
      .Add("detectable", std::optional(time.detectable))
      .Take();
}

Json ToJson(const RunComparison& run) {
  Json times = Json::Array();
  for (const TimeComparison& time : run.times) {
    times.items.push_back(Object()
                              .Add("time", NameOf(time.kind))
                              .Add("verdict", NameOf(ShownVerdict(run, time)))
                              .Add("reason", time.reason)
                              .Add("base", ToJson(time.base, time.base_attempts))
                              .Add("head", ToJson(time.head, time.head_attempts))
                              .Add("change", ToJson(time))
                              .Take());
  }
  return Object()
      .Add("kernel_name", run.key.kernel_name)
      .Add("input_shapes", run.key.input_shapes)
      .Add("dtypes", run.key.dtypes)
      .Add("hardware", run.key.hardware)
      .Add("settings_signature", run.key.settings_signature)
      .Add("verdict", NameOf(run.verdict))
      .Add("times", std::move(times))
      .Add("remarks", TextsOf(run.remarks))
      .Take();
}

}  // namespace

std::string ToJson(const Report& report) {
  Object counts;
  for (const Verdict verdict : kVerdicts) counts.Add(NameOf(verdict).data(), CountOf(report, verdict));
  Json runs = Json::Array();
  for (const RunComparison& run : report.runs) runs.items.push_back(ToJson(run));
  return record::ToIndentedJson(Object()
                                    .Add("version", size_t{1})
                                    .Add("base", report.base)
                                    .Add("head", report.head)
                                    .Add("threshold", std::optional(report.options.threshold))
                                    .Add("false_alarms", std::optional(report.options.false_alarms))
                                    .Add("counts", counts.Take())
                                    .Add("runs", std::move(runs))
                                    .Add("remarks", TextsOf(report.remarks))
                                    .Take()) +
         "\n";
}

}  // namespace telemetry::worker::compare

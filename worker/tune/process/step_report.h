#pragma once

#include <functional>
#include <string_view>

#include "proto/base/steady.h"

namespace telemetry::worker::tune::process {

// Receives the begin and the end of a step of an attempt, for a timeline. `config` is the text of the step's config;
// empty: the step is not one of a config. Called from any thread.
using StepReport =
    std::function<void(std::string_view step, std::string_view config, SteadyTime begin, SteadyTime end)>;

// Reports the step from now to the end of its scope. `report` may be empty and must outlive this object.
class ReportedStep {
 public:
  ReportedStep(const StepReport& report, std::string_view step) : report_(report), step_(step) {}
  ~ReportedStep() {
    if (report_) report_(step_, "", begin_, SteadyNow());
  }
  ReportedStep(const ReportedStep&) = delete;
  ReportedStep& operator=(const ReportedStep&) = delete;

 private:
  const StepReport& report_;
  const std::string_view step_;
  const SteadyTime begin_ = SteadyNow();
};

}  // namespace telemetry::worker::tune::process

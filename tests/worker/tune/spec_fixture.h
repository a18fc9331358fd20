#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <fstream>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "proto/record/strings.h"
#include "tests/worker/tune/tune_fixture.h"
#include "worker/spec/specification.h"
#include "worker/tune/spec_subject.h"

namespace telemetry::worker::tune {

// Writes specifications into the fixture's folder, and tunes their kernels on the CPU's OpenCL device.
class SpecFixture : public testing::Test {
 protected:
  absl::StatusOr<SpecSubject> Subject(const std::string& path) {
    absl::StatusOr<spec::Specification> read = spec::ReadSpecification(path);
    if (!read.ok()) return read.status();
    return MakeSpecSubject(std::make_shared<const spec::Specification>(*std::move(read)), fixture_.device(),
                           /*on_step=*/nullptr);
  }

  absl::StatusOr<TuneResult> Tune(const std::string& path, int configs) {
    return Tune(path, fixture_.Options(configs));
  }
  absl::StatusOr<TuneResult> Tune(const std::string& path, TunerOptions options) {
    absl::StatusOr<SpecSubject> subject = Subject(path);
    if (!subject.ok()) return subject.status();
    return fixture_.Tune(std::move(subject->subject), std::move(subject->info), std::move(options));
  }

  std::string Write(const std::string& name, const std::string& text) {
    std::string path = record::Cat(fixture_.folder(), "/", name);
    std::ofstream(path) << text;
    return path;
  }

  // Writes a specification of a kernel that adds 1 to each of 64 numbers and has a parameter `mode`.
  std::string WriteSpec(const std::string& source, const std::string& modes, const std::string& more = "",
                        const std::string& type = "int32") {
    Write("kernel.cl", source);
    return Write("spec.json",
                 record::Cat(R"({"ConfigurationSpace": {"TuningParameters": [
        {"Name": "mode", "Type": "int", "Values": ")",
                             modes, R"("}]},
        "KernelSpecification": {"Language": "OpenCL", "KernelName": "add", "KernelFile": "kernel.cl",
        "GlobalSize": {"X": "64"}, "LocalSize": {"X": "16"}, "Arguments": [
        {"Name": "out", "Type": ")",
                             type, R"(", "MemoryType": "Vector", "AccessType": "WriteOnly", "Size": 64},
        {"Name": "in", "Type": ")",
                             type, R"(", "MemoryType": "Vector", "AccessType": "ReadOnly", "FillType": "Range",
         "Size": 64}])",
                             more.empty() ? "" : ", ", more, "}}"));
  }

  static uint64_t Id(const char* config) { return codegen::Config::Parse(config)->id(); }

  // Returns the status of each value of `mode`, and the class of its failure.
  std::map<uint64_t, std::string> Results() const {
    std::map<uint64_t, std::string> results;
    for (const v1::Record& record : fixture_.producer().records()) {
      if (!record.has_measurement() || record.measurement().status() == "started") continue;
      const v1::Measurement& row = record.measurement();
      results[row.config_id()] = record::Cat(row.status(), row.has_failure() ? " " : "", row.failure().error_class());
    }
    return results;
  }

  // Returns the message of a config's failure; empty: it has none.
  std::string MessageOf(const char* config) const {
    for (const v1::Measurement& row : fixture_.Rows()) {
      if (row.config_id() == Id(config) && row.has_failure()) return row.failure().message();
    }
    return "";
  }

  mutable TuneFixture fixture_;
};

}  // namespace telemetry::worker::tune

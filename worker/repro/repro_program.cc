#include "worker/repro/repro_program.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "absl/strings/numbers.h"
#include "proto/base/status_macros.h"
#include "proto/record/ids.h"
#include "proto/record/strings.h"
#include "worker/codegen/target.h"
#include "worker/repro/program_files.h"
#include "worker/repro/recorded_run.h"
#include "worker/wrapper/launch_plan.h"
#include "worker/wrapper/program/program.h"

namespace telemetry::worker::repro {

using record::Cat;

namespace {

absl::StatusOr<codegen::Target> MakeTarget(const RecordedMeasurement& measured, const RecordedRun& run,
                                           std::vector<std::string>* notices) {
  // The config ran on the device, so its limits need not be checked again.
  codegen::Target target = {.max_threads_per_block = 1 << 20, .shared_bytes_per_block = size_t{1} << 30};
  if (run.dialect == device::Dialect::kCuda) {
    ASSIGN_OR_RETURN(codegen::Target known,
                     codegen::Target::ForArchitecture(ArchitectureOf(measured.attempt, notices)));
    target = known;
  }
  if (!absl::SimpleAtoi(DeviceText(measured.attempt, "compute_units"), &target.compute_units)) return target;
  target.compute_units = std::max(target.compute_units - run.settings.persistent_reserved_sms, 1);
  return target;
}

}  // namespace

std::string CppCommand(const wrapper::Plan& plan, const wrapper::program::ProgramOptions& options,
                       const std::string& path) {
  const std::filesystem::path source = path;
  // The executable is in the folder of its source.
  const std::string program =
      source.has_extension() ? std::filesystem::path(source).replace_extension().string() : path + ".out";
  // g++ would link a file with another extension as an object file.
  const std::string input = source.extension() == ".cpp" ? ForShell(path) : Cat("-x c++ ", ForShell(path), " -x none");
  return Cat(wrapper::program::CompileCommand(plan, options, input, ForShell(program)), " && ",
             ForShell(source.has_parent_path() ? program : "./" + program));
}

absl::StatusOr<ReproProgram> MakeReproProgram(const RecordedMeasurement& measured, ProgramLanguage language,
                                              const std::string& path) {
  ASSIGN_OR_RETURN(RecordedRun run, ReadRun(measured.run));
  ReproProgram program = {.notices = std::move(run.notices)};
  ASSIGN_OR_RETURN(codegen::Target target, MakeTarget(measured, run, &program.notices));
  ASSIGN_OR_RETURN(wrapper::Plan plan, wrapper::PlanOfLaunch(*run.kernel, run.problem, measured.config));

  wrapper::program::ProgramOptions options = {
      .target = target,
      .generate = {.allow_tf32 = run.settings.dot_precision == runtime::DotPrecision::kTf32,
                   .fast_math = run.settings.fast_math},
      .seed = static_cast<uint64_t>(measured.attempt.seed()),
      .name = Cat(measured.run.kernel_name(), "_", record::FormatConfigId(measured.config_id)),
      .comments = Provenance(measured)};
  for (const std::string& notice : program.notices) options.comments.push_back(Cat("note: ", notice));
  if (measured.row.status() == "ok" && measured.row.has_perf_ms()) options.measured_ms = measured.row.perf_ms();

  const bool is_cpp = language == ProgramLanguage::kCpp;
  ASSIGN_OR_RETURN(std::string text, is_cpp ? wrapper::program::CppProgram(plan, options)
                                            : wrapper::program::PythonProgram(plan, options));
  program.text = std::move(text);
  program.path = path.empty() ? Cat(wrapper::program::FileName(plan, options), is_cpp ? ".cpp" : ".py") : path;
  program.command = is_cpp ? CppCommand(plan, options, program.path) : Cat("python3 ", ForShell(program.path));
  return program;
}

}  // namespace telemetry::worker::repro

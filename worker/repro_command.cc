#include <iostream>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "client/dataset_client.h"
#include "proto/access/credential_flags.h"
#include "proto/base/status_macros.h"
#include "proto/record/ids.h"
#include "spdlog/spdlog.h"
#include "worker/command_line.h"
#include "worker/commands.h"
#include "worker/output_file.h"
#include "worker/repro/recorded_measurement.h"
#include "worker/repro/repro_program.h"
#include "worker/repro/spec_program.h"

namespace telemetry::worker {
namespace {

struct ReproFlags {
  std::string run;
  std::string spec;
  std::string config_id;
  std::string language = "cpp";
  std::string collector;
  access::Credentials credentials;
  std::string out;
  std::string deadline = "1m";
};

absl::StatusOr<repro::ReproProgram> MakeProgram(const ReproFlags& flags) {
  std::optional<uint64_t> config_id;
  if (!flags.config_id.empty()) {
    absl::StatusOr<uint64_t> id = record::ParseConfigId(flags.config_id);
    if (!id.ok()) return absl::InvalidArgumentError(absl::StrCat("--config-id: ", id.status().message()));
    config_id = *id;
  }
  ASSIGN_OR_RETURN(absl::Duration deadline, ParseDuration("--deadline", flags.deadline));
  RETURN_IF_ERROR(access::Connection::Check(flags.credentials, flags.collector));
  client::DatasetClient collector(
      {.collector = flags.collector, .credentials = flags.credentials, .deadline = deadline});
  ASSIGN_OR_RETURN(repro::RecordedMeasurement measured, repro::FindMeasurement(collector, flags.run, config_id));
  const auto language = flags.language == "python" ? repro::ProgramLanguage::kPython : repro::ProgramLanguage::kCpp;
  const std::string path = flags.out == "-" ? "" : flags.out;
  if (flags.spec.empty()) return repro::MakeReproProgram(measured, language, path);
  return repro::MakeSpecProgram(measured, flags.spec, language, path);
}

class ReproCommand final : public cli::Command {
 public:
  ReproCommand()
      : Command(
            {.name = "repro",
             .summary = "Write a standalone program that repeats a measurement of the collector",
             .examples =
                 R"help(  telemetry-worker repro 3f09c1 --collector collector:4747                             the run's best config
  telemetry-worker repro 3f09c1 --config-id 0123456789abcdef --collector collector:4747   also a config that failed
  telemetry-worker repro 3f09c1 --collector collector:4747 --as python --out -         to standard output
  telemetry-worker repro 3f09c1 --spec conv.json --collector collector:4747            your own kernel
  eval "$(telemetry-worker repro 3f09c1 --collector collector:4747)"                   writes, compiles and runs it
)help",
             .notes =
                 R"help(The program does not depend on this project. It creates the same inputs, launches the same code, compares the results
and prints its time beside the measured one. C++ programs need the CUDA toolkit (or OpenCL, if the run was measured with
it), Python programs need CuPy. The command that compiles and runs the program is printed on standard output, unless
--out - prints the program there; the program contains the command, too.
With --spec, the program also runs the reference of the specification. Its inputs are files next to it. In Python, OpenCL
kernels need PyOpenCL.
The columns run_id and config_id of an export list the ids. The first digits of a run_id are enough.
Exit status: 0 written; 1 not written; 2 wrong usage.)help"}) {}

  void AddFlags(cli::Flags& flags) override {
    flags.command().add_option("run", flags_.run, "The run's id, or its first digits")->required()->type_name("RUN_ID");
    flags.Add("config-id", flags_.config_id, "The config's id: 16 digits (default: the run's best)")
        ->type_name("CONFIG_ID");
    flags.Add("spec", flags_.spec, "The T1 specification that was tuned, if the run is not of a kernel of the library")
        ->type_name("FILE");
    flags.Add("as", flags_.language, "Language of the program")->check(CLI::IsMember({"cpp", "python"}));
    flags.Add("collector", flags_.collector, "Collector that has the measurement")->required()->type_name("HOST:PORT");
    access::AddCredentialFlags(flags, flags_.credentials);
    flags
        .Add("out", flags_.out,
             "Output file, or - for standard output (default: KERNEL_CONFIG_ID.cpp or .py in this folder)")
        ->type_name("FILE");
    flags.Add("deadline", flags_.deadline, "Time limit for the collector's answers")->type_name("DURATION");
  }

  absl::StatusOr<int> Run() override {
    ASSIGN_OR_RETURN(repro::ReproProgram program, MakeProgram(flags_));
    for (const std::string& notice : program.notices) spdlog::warn("{}", notice);
    if (flags_.out == "-" && !program.files.empty()) {
      return absl::InvalidArgumentError("--out -: the program reads files with its inputs; pass a path");
    }
    if (flags_.out == "-") {
      std::cout << program.text;
      return cli::kExitDone;
    }
    RETURN_IF_ERROR(WriteOutputFile(program.path, program.text));
    for (const repro::DataFile& file : program.files) RETURN_IF_ERROR(WriteOutputFile(file.path, file.bytes));
    spdlog::info("wrote {}", program.path);
    std::cout << program.command << "\n";
    return cli::kExitDone;
  }

 private:
  ReproFlags flags_;
};

}  // namespace

std::unique_ptr<cli::Command> NewRepro() { return cli::New<ReproCommand>(); }

}  // namespace telemetry::worker

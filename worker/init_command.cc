#include <filesystem>
#include <iostream>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "proto/base/status_macros.h"
#include "proto/record/json.h"
#include "worker/commands.h"
#include "worker/spec/file_bytes.h"
#include "worker/spec/first_specification.h"

namespace telemetry::worker {
namespace {

constexpr size_t kMostSourceBytes = 16 << 20;

class InitCommand final : public cli::Command {
 public:
  InitCommand()
      : Command(
            {.name = "init",
             .summary = "Print a first T1 specification for a CUDA or OpenCL source",
             .examples =
                 R"(  telemetry-worker init conv.cu > conv.json              fill in what its comments say, then tune --spec conv.json
  telemetry-worker init kernels.cl --kernel nbody        one of several kernels of a file
)",
             .notes =
                 R"(The specification has the arguments of the kernel, and a parameter for each macro that the source tests. Write it beside
the source: names of files are relative to it.
Exit status: 0 printed; 1 the file cannot be read or has no such kernel; 2 wrong usage.)"}) {}

  void AddFlags(cli::Flags& flags) override {
    flags.command().add_option("source", source_, "A .cu or .cl file")->required()->type_name("SOURCE");
    flags.Add("kernel", kernel_, "The kernel's name (default: the first of the file)")->type_name("NAME");
    flags.Add("dialect", dialect_, "Language of the source (default: by the end of its name)")
        ->check(CLI::IsMember({"cuda", "opencl"}));
  }

  absl::StatusOr<int> Run() override {
    std::string dialect = dialect_;
    if (dialect.empty() && source_.ends_with(".cu")) dialect = "cuda";
    if (dialect.empty() && source_.ends_with(".cl")) dialect = "opencl";
    if (dialect.empty()) {
      return absl::InvalidArgumentError(absl::StrCat(source_, ": neither .cu nor .cl; give --dialect"));
    }
    const absl::StatusOr<std::string> text = spec::ReadFileBytes(source_, kMostSourceBytes);
    if (!text.ok()) return absl::FailedPreconditionError(text.status().message());
    ASSIGN_OR_RETURN(
        const record::Json specification,
        spec::FirstSpecification(*text, std::filesystem::path(source_).filename().string(),
                                 dialect == "cuda" ? device::Dialect::kCuda : device::Dialect::kOpenCl, kernel_));
    std::cout << record::ToIndentedJson(specification) << "\n";
    return cli::kExitDone;
  }

 private:
  std::string source_;
  std::string kernel_;
  std::string dialect_;
};

}  // namespace

std::unique_ptr<cli::Command> NewInit() { return cli::New<InitCommand>(); }

}  // namespace telemetry::worker

#include <filesystem>
#include <fstream>
#include <set>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "proto/base/status_macros.h"
#include "proto/record/strings.h"
#include "spdlog/spdlog.h"
#include "worker/repro/call_program.h"

namespace telemetry::worker::repro {
namespace {

using record::Cat;

absl::Status WriteFile(const std::string& path, const std::string& bytes) {
  std::ofstream file(path, std::ios::binary);
  file << bytes;
  file.close();
  if (file.good()) return absl::OkStatus();
  return absl::UnavailableError(Cat("cannot write ", path, "; check that its folder exists and has space"));
}

class FolderWriter final : public runtime::ReproWriter {
 public:
  explicit FolderWriter(ReproWriterOptions options) : options_(std::move(options)) {}

  absl::Status Write(const runtime::BoundKernel& kernel, const codegen::Config& config,
                     absl::Span<const runtime::Argument> arguments, const std::string& reason) override {
    const absl::MutexLock lock(&mutex_);
    const std::string key = Cat(kernel.name(), "\n", kernel.key(), "\n", config.ToString());
    if (written_.contains(key)) return absl::OkStatus();
    ASSIGN_OR_RETURN(const ReproProgram program, MakeCallProgram(kernel, config, arguments,
                                                                 {.language = options_.language,
                                                                  .path = NewPath(kernel.name()),
                                                                  .reason = reason,
                                                                  .with_values = options_.with_values}));
    RETURN_IF_ERROR(WriteFile(program.path, program.text));
    for (const DataFile& file : program.files) RETURN_IF_ERROR(WriteFile(file.path, file.bytes));
    written_.insert(key);
    for (const std::string& notice : program.notices) spdlog::warn("{}: {}", program.path, notice);
    spdlog::warn("{}: {}; a program that repeats the call: {}", kernel.name(), reason, program.command);
    return absl::OkStatus();
  }

 private:
  // Returns the path of a file that does not exist.
  std::string NewPath(const std::string& name) const {
    const std::string extension = options_.language == ProgramLanguage::kCpp ? ".cpp" : ".py";
    for (int number = 1;; ++number) {
      const auto path = std::filesystem::path(options_.folder) / Cat(name, "_call_", number, extension);
      std::error_code error;
      if (!std::filesystem::exists(path, error)) return path.string();
    }
  }

  const ReproWriterOptions options_;
  absl::Mutex mutex_;
  std::set<std::string> written_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace

std::shared_ptr<runtime::ReproWriter> NewReproWriter(ReproWriterOptions options) {
  return std::make_shared<FolderWriter>(std::move(options));
}

}  // namespace telemetry::worker::repro

#include "tests/worker/tune/tune_fixture.h"

#include <gtest/gtest.h>

#include <set>

#include "tests/paths.h"
#include "worker/device/open_device.h"
#include "worker/kernels/draw.h"
#include "worker/kernels/kernel_spec.h"
#include "worker/kernels/problem.h"
#include "worker/tune/recording/statuses.h"

namespace telemetry::worker::tune {

TuneFixture::TuneFixture()
    : folder_(
          std::filesystem::path(testing::TempDir()) /
          ("tune-" + std::to_string(getpid()) + "-" + testing::UnitTest::GetInstance()->current_test_info()->name())) {
  std::filesystem::create_directories(folder_);
  absl::StatusOr<std::shared_ptr<device::Device>> device = device::OpenDevice("opencl:0");
  if (!device.ok()) {
    ADD_FAILURE() << device.status();
    std::abort();
  }
  device_ = *std::move(device);
}

TuneFixture::~TuneFixture() { std::filesystem::remove_all(folder_); }

LibrarySubject TuneFixture::Subject(const std::string& kernel, const std::vector<std::string>& arguments) {
  const kernels::LibraryKernel& library_kernel = **kernels::FindKernel(kernel);
  absl::StatusOr<LibrarySubject> subject = MakeLibrarySubject(
      library_kernel, *kernels::ParseProblem(library_kernel, arguments), {}, device_, /*input_seed=*/7);
  EXPECT_TRUE(subject.ok()) << subject.status();
  return *std::move(subject);
}

runtime::Arguments TuneFixture::Inputs(const std::string& kernel, const std::vector<std::string>& arguments) const {
  const kernels::LibraryKernel& library_kernel = **kernels::FindKernel(kernel);
  const kernels::Problem problem = *kernels::ParseProblem(library_kernel, arguments);
  return kernels::ArgumentsOn(device_, library_kernel, kernels::MakeCase(library_kernel, problem, 7)).value();
}

TunerOptions TuneFixture::Options(int configs) const {
  const std::string program = BinDir() + "/telemetry-worker";
  TunerOptions options;
  options.search = {.algorithm = "random", .seed = 1, .max_configs = configs};
  options.finalists = 2;
  options.final_rounds = 5;
  options.processes = {.compile = {.program = {.path = program}, .processes = 1},
                       .measure = {.device = device_->id(), .program = program},
                       .effort = {.max_samples = 10, .budget = absl::Milliseconds(5)},
                       .run_limit = absl::Seconds(20)};
  return options;
}

absl::StatusOr<TuneResult> TuneFixture::Tune(LibrarySubject subject, TunerOptions options, bool journaled) {
  return Tune(std::move(subject.subject), std::move(subject.info), std::move(options), journaled);
}

absl::StatusOr<TuneResult> TuneFixture::Tune(TuneSubject subject, recording::AttemptInfo info, TunerOptions options,
                                             bool journaled) {
  std::unique_ptr<Journal> journal;
  if (journaled) {
    absl::StatusOr<std::unique_ptr<Journal>> opened = Journal::Open(journal_path());
    if (!opened.ok()) return opened.status();
    journal = *std::move(opened);
  }
  return tune::Tune(std::move(subject), std::move(options),
                    {.info = std::move(info), .sinks = {.producer = &producer_}, .journal = journal.get()});
}

std::vector<v1::Measurement> TuneFixture::Rows() const {
  std::vector<v1::Measurement> rows;
  std::set<std::pair<std::string, uint64_t>> seen;
  for (const v1::Record& record : producer_.records()) {
    if (!record.has_measurement()) continue;
    const v1::Measurement& row = record.measurement();
    if (seen.insert({row.attempt_id(), row.seq()}).second) rows.push_back(row);
  }
  return rows;
}

std::map<std::string, int> TuneFixture::Statuses() const {
  std::map<std::string, int> statuses;
  for (const v1::Measurement& row : Rows()) {
    if (row.status() != recording::status::kStarted) ++statuses[row.status()];
  }
  return statuses;
}

std::vector<v1::Attempt> TuneFixture::Attempts() const {
  std::vector<v1::Attempt> attempts;
  for (const v1::Record& record : producer_.records()) {
    if (record.has_attempt()) attempts.push_back(record.attempt());
  }
  return attempts;
}

}  // namespace telemetry::worker::tune

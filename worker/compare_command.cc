#include <algorithm>
#include <fstream>
#include <functional>
#include <iostream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/clock.h"
#include "client/dataset_client.h"
#include "proto/access/credential_flags.h"
#include "proto/base/since.h"
#include "proto/base/status_macros.h"
#include "spdlog/spdlog.h"
#include "worker/command_line.h"
#include "worker/commands.h"
#include "worker/compare/comparison.h"
#include "worker/compare/quality.h"
#include "worker/compare/report.h"
#include "worker/compare/selector.h"
#include "worker/compare/side_collector.h"
#include "worker/snapshot/snapshot_reader.h"

namespace telemetry::worker {
namespace {

using compare::Report;
using compare::Selector;
using compare::SideCollector;

struct CompareFlags {
  std::string base;
  std::string head;
  std::string collector = "127.0.0.1:4747";
  std::string dataset;
  access::Credentials credentials;
  std::string kernel;
  std::string hardware;
  std::string since;
  double threshold_percent = 1.5;
  double false_alarms = 0.001;
  size_t least_attempts = 3;
  std::string markdown;
  std::string junit;
  std::string json;
  std::string deadline = "10m";
};

absl::StatusOr<v1::ExportRequest> MakeRequest(const CompareFlags& flags, const Selector& base, const Selector& head) {
  v1::ExportRequest request;
  request.set_details(true);
  request.set_events(true);
  v1::Filter& filter = *request.mutable_filter();
  filter.set_kernel_name(flags.kernel);
  filter.set_hardware(flags.hardware);
  int64_t since = std::min(base.since_unix_us(), head.since_unix_us());
  if (!flags.since.empty()) {
    absl::StatusOr<absl::Time> time = ParseSince(flags.since, absl::Now());
    if (!time.ok()) return absl::InvalidArgumentError(absl::StrCat("--since: ", time.status().message()));
    since = std::max(since, absl::ToUnixMicros(*time));
  }
  filter.set_since_unix_us(since);
  return request;
}

absl::Status ReadDataset(const CompareFlags& flags, const v1::ExportRequest& request,
                         const std::function<absl::Status(const v1::ExportItem&)>& take) {
  if (!flags.dataset.empty()) return snapshot::ReadSnapshot(flags.dataset, take);
  ASSIGN_OR_RETURN(const absl::Duration deadline, ParseDuration("--deadline", flags.deadline));
  RETURN_IF_ERROR(access::Connection::Check(flags.credentials, flags.collector));
  client::DatasetClient collector(
      {.collector = flags.collector, .credentials = flags.credentials, .deadline = deadline});
  return collector.Export(request, take);
}

absl::Status CheckFound(const SideCollector& sides, const Selector& base, const Selector& head) {
  if (sides.base_attempts() > 0 && sides.head_attempts() > 0) return absl::OkStatus();
  return absl::NotFoundError(
      absl::StrCat(sides.base_attempts() == 0 ? base.text() : head.text(), " selects no attempt",
                   sides.origins().empty() ? "; the dataset has none" : "; some of the origins: ",
                   absl::StrJoin(sides.origins(), ", ")));
}

absl::StatusOr<Report> Compare(const CompareFlags& flags) {
  const absl::Time now = absl::Now();
  ASSIGN_OR_RETURN(const Selector base, Selector::Parse(flags.base, now));
  ASSIGN_OR_RETURN(const Selector head, Selector::Parse(flags.head, now));
  const auto is_device = [](const Selector& selector) { return selector.kind() == Selector::Kind::kDevice; };
  if (is_device(base) != is_device(head)) {
    return absl::InvalidArgumentError("a device can be compared only with another device");
  }
  ASSIGN_OR_RETURN(const v1::ExportRequest request, MakeRequest(flags, base, head));
  SideCollector sides(base, head, request.filter());
  RETURN_IF_ERROR(ReadDataset(flags, request, [&sides](const v1::ExportItem& item) {
    sides.Take(item);
    return absl::OkStatus();
  }));
  const std::vector<compare::RunSides> runs = sides.Finish();
  RETURN_IF_ERROR(CheckFound(sides, base, head));
  const compare::CompareOptions options = {.threshold = flags.threshold_percent / 100,
                                           .false_alarms = flags.false_alarms,
                                           .least_attempts = flags.least_attempts};
  return Report{.base = base.text(),
                .head = head.text(),
                .options = options,
                .runs = compare::CompareRuns(runs, options),
                .remarks = compare::RemarksOnHosts(runs)};
}

absl::Status WriteReport(const std::string& path, const std::string& text) {
  if (path.empty()) return absl::OkStatus();
  std::ofstream file(path, std::ios::binary);
  if (!(file << text).flush()) return absl::UnavailableError(absl::StrCat(path, ": cannot be written"));
  return absl::OkStatus();
}

absl::StatusOr<Report> CompareAndWrite(const CompareFlags& flags) {
  ASSIGN_OR_RETURN(Report report, Compare(flags));
  RETURN_IF_ERROR(WriteReport(flags.markdown, compare::ToMarkdown(report)));
  RETURN_IF_ERROR(WriteReport(flags.junit, compare::ToJUnit(report)));
  RETURN_IF_ERROR(WriteReport(flags.json, compare::ToJson(report)));
  return report;
}

class CompareCommand final : public cli::Command {
 public:
  CompareCommand()
      : Command(
            {.name = "compare",
             .summary = "Compare the times of kernels on two sides of a dataset; a gate for CI",
             .examples =
                 R"(  telemetry-worker compare 'origin=main/*' origin=pr/12 --collector collector:4747
  telemetry-worker compare commit=3f09c1a commit=77d0be2 --markdown comment.md --junit compare.xml
  telemetry-worker compare dates=2025-03-01..2025-03-08 dates=2025-03-08.. --kernel softmax
  telemetry-worker compare 'device=NVIDIA H100*' 'device=NVIDIA H200' --dataset snapshot --json devices.json
)",
             .notes =
                 R"(BASE and HEAD select attempts: origin=PATTERN, commit=DIGITS (at least 7), dates=FROM..TO or device=PATTERN, with * and ?
in patterns. An attempt that both select belongs to HEAD. Runs with the same kernel, shapes, dtypes, settings and device
are compared, also across versions of the kernel's source. Each run has up to three times: of its best config, of its
default (the first one that was measured), and of the config that the tuner chose.
A time is called slower or faster if the change is at least --threshold and is not noise. The noise is that between the
attempts of a side, so that each side needs several; 6 of each, or 20 and 3, show a change of 3% where the samples
of an attempt differ by 1% and attempts by 0.3%. With few attempts the verdict is unsure, never slower.
Exit status: 0 nothing is slower; 1 something is slower; 2 wrong usage, or the dataset could not be read or a file
could not be written.)"}) {}

  void AddFlags(cli::Flags& flags) override {
    flags.command().add_option("base", flags_.base, "The side to compare with")->required()->type_name("BASE");
    flags.command().add_option("head", flags_.head, "The side to judge")->required()->type_name("HEAD");
    flags.Add("collector", flags_.collector, "Collector that has the dataset")
        ->type_name("HOST:PORT")
        ->check(cli::NotEmpty());
    access::AddCredentialFlags(flags, flags_.credentials);
    flags.Add("dataset", flags_.dataset, "Instead of a collector: BASE of telemetry-export --layout keyed --details")
        ->type_name("BASE");
    flags.Add("kernel", flags_.kernel, "Only this kernel")->type_name("NAME");
    flags.Add("hardware", flags_.hardware, "Only this device")->type_name("NAME");
    flags.Add("since", flags_.since, "Only attempts since a time: 2025-03-01, or an age like 7d")->type_name("TIME");
    flags.Add("threshold", flags_.threshold_percent, "Least change that is called, in percent")
        ->check(CLI::Range(0.1, 100.0));
    flags.Add("false-alarms", flags_.false_alarms, "Probability that a comparison of equal code calls a change")
        ->check(CLI::Range(1e-9, 0.1));
    flags
        .Add("min-attempts", flags_.least_attempts,
             "Least attempts on each side; fewer than 3 raise false alarms after throttling")
        ->check(CLI::PositiveNumber);
    flags.Add("markdown", flags_.markdown, "Also write Markdown for a pull request")->type_name("FILE");
    flags.Add("junit", flags_.junit, "Also write JUnit XML")->type_name("FILE");
    flags.Add("json", flags_.json, "Also write JSON")->type_name("FILE");
    flags.Add("deadline", flags_.deadline, "Time limit for reading the dataset")->type_name("DURATION");
  }

  absl::StatusOr<int> Run() override {
    const absl::StatusOr<Report> report = CompareAndWrite(flags_);
    if (absl::IsInvalidArgument(report.status())) return report.status();
    if (!report.ok()) {
      // Status 1 would mean that something is slower.
      spdlog::error("{}", std::string(report.status().message()));
      return cli::kExitUsage;
    }
    std::cout << compare::ToText(*report) << std::flush;
    return compare::CountOf(*report, compare::Verdict::kSlower) > 0 ? cli::kExitFailed : cli::kExitDone;
  }

 private:
  CompareFlags flags_;
};

}  // namespace

std::unique_ptr<cli::Command> NewCompare() { return cli::New<CompareCommand>(); }

}  // namespace telemetry::worker

#include <sys/signalfd.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <fstream>
#include <iostream>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "client/producer.h"
#include "proto/access/credential_flags.h"
#include "proto/base/cli/end_signals.h"
#include "proto/base/status_macros.h"
#include "proto/record/counted.h"
#include "spdlog/spdlog.h"
#include "worker/command_line.h"
#include "worker/commands.h"
#include "worker/forward/forward.h"
#include "worker/forward/origin.h"

namespace telemetry::worker {
namespace {

using record::Counted;

// Limit of the rejects in the log, because more would bury the summary. The collector stores all of them.
constexpr uint64_t kMostRejectsSaid = 20;

struct ForwardFlags {
  std::string collector = "127.0.0.1:4747";
  access::Credentials credentials;
  std::string state_dir;
  std::string origin;
  bool once = false;
  bool watch = false;
  std::string drain_timeout = "10m";
  std::string rescan_interval = "10s";
  std::string exit_when_idle;  // empty: PATHs are not folders of job folders
  uint64_t spool_limit_mib = 4096;
  std::string kernel_source_file;
  forward::IdentityFlags identity;
  std::vector<std::string> paths;
};

absl::StatusOr<std::string> ReadWholeFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  if (!file || !(text << file.rdbuf())) {
    return absl::NotFoundError(absl::StrCat("--kernel-source ", path, ": cannot be read"));
  }
  return text.str();
}

// Returns a descriptor that becomes readable when SIGTERM or SIGINT arrives. Both are blocked from then on.
int EndSignalDescriptor() {
  const sigset_t signals = cli::BlockEndSignals();
  return signalfd(-1, &signals, SFD_CLOEXEC);
}

// A progress line on stderr that is redrawn in place. Prints nothing if stderr is not a terminal.
class ProgressLine {
 public:
  void Draw(size_t done, size_t all, const forward::ForwardCounts& counts) {
    if (!on_terminal_) return;
    std::cerr << "\r\033[K" << done << "/" << Counted(all, "base path") << ", " << Counted(counts.rows, "row") << ", "
              << counts.bytes / 1024 << " KiB read"
              << (counts.rejects > 0 ? absl::StrCat(", ", counts.rejects, " unreadable") : "") << std::flush;
    drawn_ = true;
  }
  ~ProgressLine() {
    if (drawn_) std::cerr << "\n";
  }

 private:
  const bool on_terminal_ = isatty(STDERR_FILENO) != 0;
  bool drawn_ = false;
};

// Waits at most `timeout` until the collector has acknowledged every record. Logs an error and returns false if it has
// not.
bool Deliver(client::Producer* producer, const ForwardFlags& flags, absl::Duration timeout) {
  const absl::Status drained = producer->Drain(timeout);
  if (drained.ok()) return true;
  spdlog::error(
      "not everything reached the collector at {}: {}. Nothing is lost: run the command again with --state-dir {}",
      flags.collector, std::string(drained.message()), flags.state_dir);
  return false;
}

// The outcomes of the rows that were read, as counts. A row that was sent in several views of its attempt counts once.
struct RowFates {
  uint64_t read = 0;
  uint64_t made = 0;     // rows that were new to the collector
  uint64_t known = 0;    // rows that the collector had stored before
  uint64_t refused = 0;  // rows not sent because their run is not known, and records that the collector refused
  // Rows that are stored, but whose Ack had no counts: it was lost with its connection, or an older collector sent it.
  uint64_t untold = 0;
};

RowFates CountRowFates(const forward::ForwardCounts& counts, const client::ProducerStats& sent, bool delivered) {
  RowFates fates = {.read = counts.rows + counts.waiting_rows, .refused = counts.waiting_rows + sent.refused};
  fates.known = std::min(sent.known_rows, counts.rows);
  fates.made = std::min(sent.new_rows, counts.rows - fates.known);
  const uint64_t told = fates.known + fates.made + sent.refused;
  if (delivered && told < counts.rows) fates.untold = counts.rows - told;
  return fates;
}

// Prints the counts of all that was read. Returns true if all of it is stored.
bool Summarise(const forward::ForwardResult& result, const client::ProducerStats& sent, bool delivered,
               const ForwardFlags& flags) {
  const forward::ForwardCounts& counts = result.counts;
  const RowFates rows = CountRowFates(counts, sent, delivered);
  const bool complete = delivered && result.problems.empty() && rows.refused + counts.rejects == 0;
  std::cout << "read " << Counted(rows.read, "row") << " of " << Counted(counts.attempts, "attempt") << ", "
            << Counted(counts.records, "run record") << " and " << Counted(counts.graphs, "IR graph")
            << (counts.events > 0 ? absl::StrCat(" and ", Counted(counts.events, "trace line")) : "") << " from "
            << Counted(result.groups, "base path") << ": " << rows.made << " new, " << rows.known << " already known, "
            << rows.refused << " refused, " << counts.rejects << " unreadable"
            << (rows.untold > 0 ? absl::StrCat(", ", rows.untold, " stored, new or already known") : "") << "; "
            << (complete    ? "all of it is stored at "
                : delivered ? "not all of it is stored at "
                            : "not all of it is stored yet at ")
            << flags.collector << (flags.origin.empty() ? "" : absl::StrCat(" as ", flags.origin)) << "\n";
  if (counts.rejects + sent.refused > 0) {
    std::cout << "The collector's table `rejects` contains the unreadable and the refused records with their "
                 "reasons.\n";
  }
  return complete;
}

// Reads the files once if `stop_fd` is -1; otherwise follows them until `stop_fd` is readable.
absl::StatusOr<forward::ForwardResult> Read(forward::ForwardOptions options, int stop_fd,
                                            const forward::RecordSink& sink) {
  ProgressLine progress;
  options.on_progress = [&progress](size_t done, size_t all, const forward::ForwardCounts& counts) {
    progress.Draw(done, all, counts);
  };
  return stop_fd >= 0 ? forward::ForwardAndWatch(options, stop_fd, sink) : forward::ForwardOnce(options, sink);
}

absl::StatusOr<int> Forward(ForwardFlags flags) {
  for (const std::string& path : flags.paths) {
    if (path.empty()) return absl::InvalidArgumentError("a PATH is empty: is a variable on the command line not set?");
  }
  ASSIGN_OR_RETURN(absl::Duration drain_timeout, ParseDuration("--drain-timeout", flags.drain_timeout));
  ASSIGN_OR_RETURN(absl::Duration rescan, ParseDuration("--rescan-interval", flags.rescan_interval));
  RETURN_IF_ERROR(access::Connection::Check(flags.credentials, flags.collector));
  if (!flags.kernel_source_file.empty()) {
    ASSIGN_OR_RETURN(std::string source, ReadWholeFile(flags.kernel_source_file));
    flags.identity.kernel_source = std::move(source);
  }
  std::optional<forward::JobOptions> jobs;
  std::optional<forward::StartLock> start_lock;
  if (!flags.exit_when_idle.empty()) {
    ASSIGN_OR_RETURN(absl::Duration idle_limit, ParseDuration("--exit-when-idle", flags.exit_when_idle));
    if (flags.paths.size() != 1)
      return absl::InvalidArgumentError("--exit-when-idle: give one PATH, the folder of jobs");
    start_lock.emplace(flags.paths.front());
    RETURN_IF_ERROR(start_lock->Acquire());
    jobs = {.idle_limit = idle_limit, .delivery_limit = drain_timeout, .start_lock = &*start_lock};
  }
  const int stop_fd = flags.watch ? EndSignalDescriptor() : -1;

  uint64_t refusals_said = 0;
  std::atomic<bool> new_dataset = false;
  absl::StatusOr<std::unique_ptr<client::Producer>> producer = client::Producer::Open({
      .collector = flags.collector,
      .credentials = flags.credentials,
      .spool_dir = flags.state_dir,
      .client_name = "telemetry-worker/" TELEMETRY_VERSION " forward",
      .spool_limit_bytes = flags.spool_limit_mib << 20,
      .on_notice = [](const std::string& notice) { spdlog::warn("{}", notice); },
      .on_refused =
          [&refusals_said](const v1::Ack::Refused& record) {
            if (++refusals_said > kMostRejectsSaid) return;
            spdlog::error("the collector refused record {}: {}", record.seq(), record.message());
          },
      .on_new_dataset = [&new_dataset] { new_dataset = true; },
  });
  if (jobs.has_value() && absl::IsAlreadyExists(producer.status()))
    return cli::kExitDone;  // another forwarder serves them
  if (!producer.ok()) return producer.status();
  if (jobs.has_value()) {
    start_lock->Release();
    jobs->progress = {.appended_seq = [&producer] { return (*producer)->stats().appended_seq; },
                      .durable_seq = [&producer] { return (*producer)->stats().durable_seq; },
                      .committed_seq = [&producer] { return (*producer)->stats().committed_seq; }};
  }

  uint64_t said = 0;
  const auto sink = [&producer, &said](const v1::Record& record) {
    if (record.has_reject() && ++said <= kMostRejectsSaid) {
      spdlog::error("{}:{}: {}", record.reject().source(), record.reject().line(), record.reject().message());
    }
    return (*producer)->Append(record);
  };
  const forward::ForwardOptions options = {
      .paths = flags.paths,
      .origin = flags.origin,
      .identity = flags.identity,
      .jobs = jobs,
      .rescan_interval = rescan,
      .start_again = [&new_dataset] { return new_dataset.exchange(false); },
      .on_problem = [](const std::string& problem) { spdlog::error("{}", problem); },
  };
  // A stopped daemon has little time before it is killed. The spool keeps the records that are left.
  const absl::Duration patience = flags.watch ? std::min(drain_timeout, absl::Seconds(8)) : drain_timeout;
  absl::StatusOr<forward::ForwardResult> result;
  bool delivered = false;
  do {
    result = Read(options, stop_fd, sink);
    if (!result.ok()) return result.status();
    delivered = Deliver(producer->get(), flags, patience);
    // The collector's database was replaced during the delivery, so the files are read and sent again.
  } while (delivered && !flags.watch && new_dataset);

  return Summarise(*result, (*producer)->stats(), delivered, flags) ? cli::kExitDone : cli::kExitFailed;
}

class ForwardCommand final : public cli::Command {
 public:
  ForwardCommand()
      : Command(
            {.name = "forward",
             .summary = "Stream the sidecars of pytorch/helion's autotuner to a collector",
             .examples =
                 R"(  telemetry-worker forward --collector collector:4747 /tmp/autotune            every sidecar below a folder
  telemetry-worker forward --collector collector:4747 --watch /tmp/autotune    ... and follow them as they grow
  telemetry-worker forward --collector collector:4747 "$HELION_AUTOTUNE_LOG"   one base path
  telemetry-worker forward --collector collector:4747 --tls-ca ca.pem --token-file token /tmp/autotune
  telemetry-worker forward --collector collector:4747 cache.json               a cache file or T4 file of Kernel Tuner
  telemetry-worker forward --kernel-name softmax --kernel-source softmax.py --input-shapes "[(4096, 2560)]" \
      --dtypes "['torch.float16']" --hardware "NVIDIA H200" old/softmax.csv    a v1.1 file does not describe its run
)",
             .notes =
                 R"(Forwarding a file again changes nothing. Attempts of different CI jobs are distinguished by --origin.
With --exit-when-idle, PATH is the folder `jobs` of a state folder of the Python package autotune_telemetry. Delivered
files of ended processes are removed. If another forwarder uses --state-dir, the command exits at once with status 0.
Exit status (with --watch, after SIGTERM): 0 the collector stored everything; 1 a record was refused, is unreadable or
is still in the spool, or a PATH has no sidecar; 2 wrong usage.)"}) {}

  void AddFlags(cli::Flags& flags) override {
    flags.command()
        .add_option("paths", flags_.paths, "Folders, sidecars, or base paths as in HELION_AUTOTUNE_LOG")
        ->required()
        ->type_name("PATH");
    flags.Add("collector", flags_.collector, "The collector")->type_name("HOST:PORT");
    access::AddCredentialFlags(flags, flags_.credentials);
    flags_.state_dir = DefaultStateDir("forward");
    flags.Add("state-dir", flags_.state_dir, "Spool folder; used by one process at a time")->type_name("DIR");
    flags_.origin = forward::OriginFromEnvironment(cli::EnvironmentVariable);
    flags.Add("origin", flags_.origin, "Label of the CI job (default: from the CI system's variables)")
        ->type_name("LABEL");
    CLI::Option* once = flags.Switch("once", flags_.once, "Read the existing files and exit (default)");
    CLI::Option* watch = flags.Switch("watch", flags_.watch, "Follow the files until SIGTERM")->excludes(once);
    flags.Add("drain-timeout", flags_.drain_timeout, "Time limit for the delivery of the last records")
        ->type_name("TIME");
    flags.Add("rescan-interval", flags_.rescan_interval, "Interval at which --watch rescans every PATH")
        ->type_name("TIME");
    flags
        .Add("exit-when-idle", flags_.exit_when_idle,
             "Remove delivered jobs of the Python package; exit if no job has written for this long")
        ->type_name("TIME")
        ->needs(watch);
    flags.Add("spool-limit-mib", flags_.spool_limit_mib, "Spool size at which reading blocks")->type_name("MIB");
    flags.Add("kernel-name", flags_.identity.kernel_name, "v1.1, pr2699, T4: name of the kernel")->type_name("NAME");
    flags.Add("kernel-source", flags_.kernel_source_file, "v1.1, pr2699: file with the source of the kernel")
        ->type_name("FILE");
    flags
        .Add("input-shapes", flags_.identity.input_shapes,
             "v1.1, pr2699: shapes as Python prints them, \"[(4096, 2560)]\"")
        ->type_name("SHAPES");
    flags.Add("dtypes", flags_.identity.dtypes, "v1.1, pr2699: dtypes as Python prints them, \"['torch.float16']\"")
        ->type_name("DTYPES");
    flags.Add("hardware", flags_.identity.hardware, "v1.1, pr2699: name of the device")->type_name("NAME");
    flags
        .Add("settings-signature", flags_.identity.settings_signature, "v1.1: settings that are part of the kernel_id")
        ->type_name("TEXT");
  }

  absl::StatusOr<int> Run() override { return Forward(flags_); }

 private:
  ForwardFlags flags_;
};

}  // namespace

std::unique_ptr<cli::Command> NewForward() { return cli::New<ForwardCommand>(); }

}  // namespace telemetry::worker

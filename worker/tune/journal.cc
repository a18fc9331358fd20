#include "worker/tune/journal.h"

#include <fcntl.h>
#include <sys/file.h>

#include <filesystem>
#include <utility>

#include "absl/random/random.h"
#include "client/frame.h"
#include "proto/base/status_macros.h"
#include "proto/record/strings.h"

namespace telemetry::worker::tune {
namespace {

using record::Cat;
using recording::AttemptRow;

JournalRow ToMessage(const AttemptRow& row) {
  JournalRow message;
  message.set_timestamp_s(row.timestamp_s);
  message.set_generation(row.generation);
  message.set_config(row.config.ToString());
  message.set_status(row.status);
  if (row.perf_ms) message.set_perf_ms(*row.perf_ms);
  if (row.compile_time_s) message.set_compile_time_s(*row.compile_time_s);
  if (row.failure) message.set_failure(row.failure->SerializeAsString());
  message.set_source_hash(row.source_hash);
  if (row.detail) message.set_detail(row.detail->SerializeAsString());
  return message;
}

absl::StatusOr<AttemptRow> FromMessage(const JournalRow& message) {
  ASSIGN_OR_RETURN(codegen::Config config, codegen::Config::Parse(message.config()));
  AttemptRow row = {.timestamp_s = message.timestamp_s(),
                    .generation = message.generation(),
                    .config = std::move(config),
                    .status = message.status(),
                    .source_hash = message.source_hash()};
  if (message.has_perf_ms()) row.perf_ms = message.perf_ms();
  if (message.has_compile_time_s()) row.compile_time_s = message.compile_time_s();
  bool whole = true;
  if (!message.failure().empty()) whole = row.failure.emplace().ParseFromString(message.failure());
  if (!message.detail().empty()) whole = row.detail.emplace().ParseFromString(message.detail()) && whole;
  if (!whole) return absl::DataLossError("a row's failure or detail cannot be read");
  return row;
}

absl::StatusOr<std::string> ReadAll(const client::File& file) {
  ASSIGN_OR_RETURN(uint64_t size, file.Size());
  std::string bytes(size, '\0');
  ASSIGN_OR_RETURN(size_t read, file.ReadAt(0, bytes.data(), bytes.size()));
  bytes.resize(read);
  return bytes;
}

JournalRelatedRun ToMessage(absl::Span<const search::Trial> trials, double noise) {
  JournalRelatedRun message;
  message.set_noise(noise);
  for (const search::Trial& trial : trials) {
    message.add_configs(trial.config.ToString());
    message.add_perf_ms(trial.perf_ms.value_or(0));
  }
  return message;
}

absl::StatusOr<search::RelatedRun> FromMessage(const JournalRelatedRun& message) {
  if (message.configs_size() != message.perf_ms_size()) return absl::DataLossError("an entry cannot be read");
  search::RelatedRun run = {.trials = {}, .noise = message.noise()};
  for (int i = 0; i < message.configs_size(); ++i) {
    ASSIGN_OR_RETURN(codegen::Config config, codegen::Config::Parse(message.configs(i)));
    const double perf_ms = message.perf_ms(i);
    run.trials.push_back({.config = std::move(config), .perf_ms = perf_ms > 0 ? std::optional(perf_ms) : std::nullopt});
  }
  return run;
}

}  // namespace

absl::StatusOr<std::unique_ptr<Journal>> Journal::Open(const std::string& path) {
  const std::string folder = std::filesystem::path(path).parent_path().string();
  RETURN_IF_ERROR(client::MakeFolders(folder));
  ASSIGN_OR_RETURN(client::File file, client::File::Open(path, O_RDWR | O_CREAT | O_CLOEXEC));
  if (flock(file.fd(), LOCK_EX | LOCK_NB) != 0) {
    return absl::AlreadyExistsError(
        Cat(path, ": another process is running this attempt; wait for it, or pass another --state-dir or --seed"));
  }
  auto journal = std::unique_ptr<Journal>(new Journal(path, std::move(file)));
  RETURN_IF_ERROR(journal->Read());
  return journal;
}

absl::Status Journal::Read() {
  ASSIGN_OR_RETURN(std::string bytes, ReadAll(file_));
  const std::optional<client::SegmentHeader> header = client::DecodeSegmentHeader(bytes);
  // A process that crashed while it wrote the header has written nothing else.
  if (bytes.size() < client::kSegmentHeaderBytes) return WriteHeader();
  if (!header || header->version != client::kSegmentVersion) {
    return absl::FailedPreconditionError(
        Cat(path_, ": not a journal of this version; remove the file to tune from the start"));
  }
  salt_ = header->salt;
  size_bytes_ = client::kSegmentHeaderBytes;
  RETURN_IF_ERROR(ReadEntries(header->salt, bytes));
  return file_.Truncate(size_bytes_);
}

absl::Status Journal::ReadEntries(uint32_t salt, std::string_view bytes) {
  while (const std::optional<client::Frame> frame = client::DecodeFrame(salt, bytes.substr(size_bytes_))) {
    JournalEntry entry;
    const bool whole = frame->seq == next_entry_ &&
                       entry.ParseFromArray(frame->payload.data(), static_cast<int>(frame->payload.size()));
    const absl::Status status = whole ? Take(entry) : absl::DataLossError("an entry cannot be read");
    if (!status.ok()) {
      return absl::FailedPreconditionError(
          Cat(path_, ": ", status.message(), "; remove the file to tune from the start"));
    }
    size_bytes_ += frame->size();
    ++next_entry_;
  }
  return absl::OkStatus();
}

absl::Status Journal::Take(const JournalEntry& entry) {
  if (entry.has_begin()) {
    contents_.attempt_id = entry.begin().attempt_id();
    contents_.started = absl::FromUnixMicros(entry.begin().started_unix_us());
    for (const std::string& text : entry.begin().starting_points()) {
      ASSIGN_OR_RETURN(codegen::Config config, codegen::Config::Parse(text));
      contents_.starting_points.push_back(std::move(config));
    }
    for (const JournalRelatedRun& message : entry.begin().related()) {
      ASSIGN_OR_RETURN(search::RelatedRun run, FromMessage(message));
      contents_.related.push_back(std::move(run));
    }
    ASSIGN_OR_RETURN(search::RelatedRun earlier, FromMessage(entry.begin().earlier()));
    contents_.earlier = std::move(earlier.trials);
  }
  for (const JournalRow& message : entry.rows()) {
    ASSIGN_OR_RETURN(AttemptRow row, FromMessage(message));
    contents_.rows.push_back(std::move(row));
  }
  contents_.learnt.insert(contents_.learnt.end(), entry.learnt().begin(), entry.learnt().end());
  contents_.active_s = entry.active_s();
  if (!entry.end_counters_json().empty()) end_counters_json_ = entry.end_counters_json();
  return absl::OkStatus();
}

absl::Status Journal::WriteHeader() {
  salt_ = absl::Uniform<uint32_t>(absl::BitGen());
  const std::string header = client::EncodeSegmentHeader({.salt = salt_, .first_seq = 1});
  RETURN_IF_ERROR(file_.WriteAt(0, header));
  size_bytes_ = header.size();
  RETURN_IF_ERROR(file_.Truncate(size_bytes_));
  return file_.Sync();
}

absl::Status Journal::Begin(const std::string& attempt_id, absl::Time started,
                            absl::Span<const codegen::Config> starting_points,
                            absl::Span<const search::RelatedRun> related, absl::Span<const search::Trial> earlier) {
  JournalEntry entry;
  entry.mutable_begin()->set_attempt_id(attempt_id);
  entry.mutable_begin()->set_started_unix_us(absl::ToUnixMicros(started));
  for (const codegen::Config& config : starting_points) entry.mutable_begin()->add_starting_points(config.ToString());
  for (const search::RelatedRun& run : related)
    *entry.mutable_begin()->add_related() = ToMessage(run.trials, run.noise);
  if (!earlier.empty()) *entry.mutable_begin()->mutable_earlier() = ToMessage(earlier, /*noise=*/0);
  return Write(entry);
}

absl::Status Journal::Append(absl::Span<const AttemptRow> rows, double active_s, absl::Span<const int64_t> learnt) {
  JournalEntry entry;
  entry.mutable_learnt()->Add(learnt.begin(), learnt.end());
  for (const AttemptRow& row : rows) *entry.add_rows() = ToMessage(row);
  entry.set_active_s(active_s);
  return Write(entry);
}

absl::StatusOr<std::string> Journal::End(const std::string& counters_json, double active_s) {
  if (!end_counters_json_.empty()) return end_counters_json_;
  JournalEntry entry;
  entry.set_end_counters_json(counters_json);
  entry.set_active_s(active_s);
  RETURN_IF_ERROR(Write(entry));
  end_counters_json_ = counters_json;
  return counters_json;
}

absl::Status Journal::Write(const JournalEntry& entry) {
  const std::string payload = entry.SerializeAsString();
  std::string frame;
  payload.copy(client::AddFrame(payload.size(), &frame), payload.size());
  client::SealFrame(salt_, next_entry_, frame.data());
  // Writes at the end of the last complete entry, so that the next write overwrites the rest of a failed one.
  RETURN_IF_ERROR(file_.WriteAt(size_bytes_, frame));
  RETURN_IF_ERROR(file_.Sync());
  size_bytes_ += frame.size();
  ++next_entry_;
  return absl::OkStatus();
}

absl::Status Journal::Remove() { return client::RemoveFile(path_); }

}  // namespace telemetry::worker::tune

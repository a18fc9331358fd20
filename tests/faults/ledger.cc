#include "tests/faults/ledger.h"

#include <fcntl.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>

#include "absl/strings/str_cat.h"
#include "client/little_endian.h"
#include "proto/record/ids.h"

namespace telemetry::faults {
namespace {

constexpr size_t kEntryBytes = 9;
constexpr uint64_t kConfigId = 0x01f9b95a72e7dd85;

}  // namespace

Ledger::Ledger(const std::string& path) {
  absl::StatusOr<client::File> file = client::File::Open(path, O_WRONLY | O_CREAT | O_APPEND);
  if (!file.ok()) {
    std::fprintf(stderr, "%s\n", file.status().ToString().c_str());
    std::abort();
  }
  file_ = *std::move(file);
}

void Ledger::Write(char kind, uint64_t value) {
  std::string entry(1, kind);
  client::AppendLittleEndian<uint64_t>(value, &entry);
  if (!file_.Write(entry).ok()) std::abort();
}

Ledger::Promises Ledger::Read(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  Promises promises;
  for (char entry[kEntryBytes]; file.read(entry, kEntryBytes);) {
    if (entry[0] == 'T') continue;
    uint64_t& last = entry[0] == 'A' ? promises.accepted : promises.acked;
    last = std::max(last, client::LoadLittleEndian<uint64_t>(entry + 1));
  }
  return promises;
}

std::vector<uint64_t> Ledger::ReadTimes(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::vector<uint64_t> times;
  for (char entry[kEntryBytes]; file.read(entry, kEntryBytes);) {
    if (entry[0] == 'T') times.push_back(client::LoadLittleEndian<uint64_t>(entry + 1));
  }
  return times;
}

v1::Record MakeRecord(int number, uint64_t seq) {
  const std::string run_id = record::Sha256Hex(absl::StrCat("run ", number));
  const std::string attempt_id = record::Sha256(absl::StrCat("attempt ", number)).substr(0, 16);
  v1::Record record;
  if (seq == 1) {
    record.mutable_run()->set_run_id(run_id);
    record.mutable_run()->set_kernel_name("softmax");
  } else if (seq == 2) {
    record.mutable_attempt()->set_attempt_id(attempt_id);
    record.mutable_attempt()->set_run_id(run_id);
  } else if (seq == 3) {
    record.mutable_config()->set_config_id(kConfigId);
    record.mutable_config()->set_text("Config(block_sizes=[1])");
  } else {
    v1::Measurement* row = record.mutable_measurement();
    row->set_attempt_id(attempt_id);
    row->set_seq(seq - kRecordsBeforeRows);
    row->set_timestamp_s(static_cast<double>(seq) + number / 100.0);
    row->set_status("ok");
    row->set_perf_ms(static_cast<double>(seq * 31 % 1000) / 8);
    row->set_config_id(kConfigId);
  }
  return record;
}

}  // namespace telemetry::faults

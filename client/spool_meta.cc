#include "client/spool_meta.h"

#include <fcntl.h>

#include "absl/random/random.h"
#include "absl/strings/str_cat.h"
#include "client/little_endian.h"
#include "proto/record/ids.h"

namespace telemetry::client {
namespace {

constexpr std::string_view kMagic = "TLMSMETA";
constexpr uint32_t kMetaVersion = 1;
constexpr size_t kIdBytes = 16;
// magic, version, producer_id, epoch, base_seq, has unproven_seq, unproven_seq, has dataset_id, dataset_id, crc
constexpr size_t kMetaBytes = 8 + 4 + kIdBytes + 8 + 8 + 4 + 8 + 4 + kIdBytes + 4;
constexpr size_t kCommittedBytes = 12;

uint32_t CrcBefore(std::string_view bytes, size_t end) { return record::Crc32c(0, bytes.substr(0, end)); }

}  // namespace

std::string NewProducerId() {
  absl::BitGen random;
  std::string id;
  AppendLittleEndian<uint64_t>(absl::Uniform<uint64_t>(random), &id);
  AppendLittleEndian<uint64_t>(absl::Uniform<uint64_t>(random), &id);
  return id;
}

std::string EncodeSpoolMeta(const SpoolMeta& meta) {
  std::string bytes(kMagic);
  AppendLittleEndian<uint32_t>(kMetaVersion, &bytes);
  bytes += meta.producer_id;
  AppendLittleEndian<uint64_t>(meta.epoch, &bytes);
  AppendLittleEndian<uint64_t>(meta.base_seq, &bytes);
  AppendLittleEndian<uint32_t>(meta.unproven_seq.has_value() ? 1 : 0, &bytes);
  AppendLittleEndian<uint64_t>(meta.unproven_seq.value_or(0), &bytes);
  AppendLittleEndian<uint32_t>(meta.dataset_id.empty() ? 0 : 1, &bytes);
  bytes += meta.dataset_id.empty() ? std::string(kIdBytes, '\0') : meta.dataset_id;
  AppendLittleEndian<uint32_t>(CrcBefore(bytes, bytes.size()), &bytes);
  return bytes;
}

absl::StatusOr<SpoolMeta> DecodeSpoolMeta(std::string_view bytes) {
  if (bytes.size() < kMagic.size() + 8 || bytes.substr(0, kMagic.size()) != kMagic ||
      LoadLittleEndian<uint32_t>(&bytes[bytes.size() - 4]) != CrcBefore(bytes, bytes.size() - 4)) {
    return absl::DataLossError("the spool's meta file is damaged");
  }
  const auto version = LoadLittleEndian<uint32_t>(&bytes[8]);
  if (version != kMetaVersion) {
    return absl::FailedPreconditionError(
        absl::StrCat("the spool was written by a newer version (format ", version, "); use that version"));
  }
  if (bytes.size() != kMetaBytes) return absl::DataLossError("the spool's meta file is damaged");
  SpoolMeta meta;
  meta.producer_id = bytes.substr(12, kIdBytes);
  meta.epoch = LoadLittleEndian<uint64_t>(&bytes[28]);
  meta.base_seq = LoadLittleEndian<uint64_t>(&bytes[36]);
  if (LoadLittleEndian<uint32_t>(&bytes[44]) != 0) meta.unproven_seq = LoadLittleEndian<uint64_t>(&bytes[48]);
  if (LoadLittleEndian<uint32_t>(&bytes[56]) != 0) meta.dataset_id = bytes.substr(60, kIdBytes);
  return meta;
}

absl::StatusOr<CommittedFile> CommittedFile::Open(const std::string& path) {
  absl::StatusOr<File> file = File::Open(path, O_RDWR | O_CREAT);
  if (!file.ok()) return file.status();
  std::string bytes(kCommittedBytes, '\0');
  const absl::StatusOr<size_t> read = file->ReadAt(0, bytes.data(), bytes.size());
  if (!read.ok()) return read.status();
  CommittedFile committed(*std::move(file));
  if (*read == kCommittedBytes && LoadLittleEndian<uint32_t>(&bytes[8]) == CrcBefore(bytes, 8)) {
    committed.stored_seq_ = LoadLittleEndian<uint64_t>(&bytes[0]);
  }
  return committed;
}

absl::Status CommittedFile::Store(uint64_t local_seq) {
  std::string bytes;
  AppendLittleEndian<uint64_t>(local_seq, &bytes);
  AppendLittleEndian<uint32_t>(CrcBefore(bytes, bytes.size()), &bytes);
  return file_.WriteAt(0, bytes);
}

}  // namespace telemetry::client

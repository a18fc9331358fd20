#include "client/spool_meta.h"

#include <fcntl.h>
#include <unistd.h>

#include "absl/random/random.h"
#include "absl/strings/str_cat.h"
#include "client/little_endian.h"
#include "proto/base/status_macros.h"
#include "proto/record/ids.h"

namespace telemetry::client {
namespace {

constexpr std::string_view kMetaMagic = "TLMSMETA";
constexpr uint32_t kMetaVersion = 2;
// One page each, so that writing one slot cannot damage the other. The rest is zero; the last four bytes are the crc.
constexpr size_t kSlotBytes = 4096;
constexpr size_t kSlotCrcAt = kSlotBytes - 4;
constexpr size_t kCommittedBytes = 12;

// Returns random bits from the system. The system gives the copies of a cloned virtual machine different bits; the
// generator of a copied process would give both the same.
uint64_t RandomBits() {
  uint64_t bits = 0;
  if (getentropy(&bits, sizeof bits) == 0) return bits;
  absl::BitGen random;
  return absl::Uniform<uint64_t>(random);
}

uint32_t CrcBefore(std::string_view bytes, size_t end) { return record::Crc32c(0, bytes.substr(0, end)); }

}  // namespace

std::string NewProducerId() {
  std::string id;
  AppendLittleEndian<uint64_t>(RandomBits(), &id);
  AppendLittleEndian<uint64_t>(RandomBits(), &id);
  return id;
}

uint64_t NextEpoch(uint64_t epoch) {
  constexpr int kCountAt = 32;
  return (((epoch >> kCountAt) + 1) << kCountAt) | (RandomBits() >> kCountAt);
}

std::string EncodeMetaSlot(const MetaSlot& slot) {
  const SpoolMeta& meta = slot.meta;
  std::string bytes(kMetaMagic);
  AppendLittleEndian<uint32_t>(kMetaVersion, &bytes);
  AppendLittleEndian<uint64_t>(slot.generation, &bytes);
  bytes += meta.producer_id;
  AppendLittleEndian<uint64_t>(meta.epoch, &bytes);
  AppendLittleEndian<uint64_t>(meta.base_seq, &bytes);
  AppendLittleEndian<uint32_t>(meta.unproven_seq.has_value() ? 1 : 0, &bytes);
  AppendLittleEndian<uint64_t>(meta.unproven_seq.value_or(0), &bytes);
  AppendLittleEndian<uint32_t>(meta.dataset_id.empty() ? 0 : 1, &bytes);
  bytes += meta.dataset_id;
  bytes.resize(kSlotCrcAt);
  AppendLittleEndian<uint32_t>(CrcBefore(bytes, kSlotCrcAt), &bytes);
  return bytes;
}

absl::StatusOr<MetaSlot> DecodeMetaSlot(std::string_view bytes) {
  if (bytes.size() != kSlotBytes || bytes.substr(0, kMetaMagic.size()) != kMetaMagic ||
      LoadLittleEndian<uint32_t>(&bytes[kSlotCrcAt]) != CrcBefore(bytes, kSlotCrcAt)) {
    return absl::DataLossError("the spool's meta file is damaged");
  }
  const auto version = LoadLittleEndian<uint32_t>(&bytes[8]);
  if (version != kMetaVersion) {
    return absl::FailedPreconditionError(
        absl::StrCat("the spool was written by a newer version (format ", version, "); use that version"));
  }
  MetaSlot slot{.generation = LoadLittleEndian<uint64_t>(&bytes[12])};
  slot.meta.producer_id = bytes.substr(20, record::kProducerIdBytes);
  slot.meta.epoch = LoadLittleEndian<uint64_t>(&bytes[36]);
  slot.meta.base_seq = LoadLittleEndian<uint64_t>(&bytes[44]);
  if (LoadLittleEndian<uint32_t>(&bytes[52]) != 0) slot.meta.unproven_seq = LoadLittleEndian<uint64_t>(&bytes[56]);
  if (LoadLittleEndian<uint32_t>(&bytes[64]) != 0) slot.meta.dataset_id = bytes.substr(68, record::kDatasetIdBytes);
  return slot;
}

absl::StatusOr<SpoolMeta> MetaFile::Load() {
  absl::StatusOr<File> file = File::Open(path_, O_RDWR);
  if (absl::IsNotFound(file.status())) return absl::NotFoundError("the spool has no meta file");
  if (!file.ok()) return file.status();
  std::string bytes(2 * kSlotBytes, '\0');
  ASSIGN_OR_RETURN(const size_t read, file->ReadAt(0, bytes.data(), bytes.size()));
  const absl::StatusOr<MetaSlot> even = DecodeMetaSlot(std::string_view(bytes).substr(0, kSlotBytes));
  const absl::StatusOr<MetaSlot> odd = DecodeMetaSlot(std::string_view(bytes).substr(kSlotBytes));
  for (const auto* slot : {&even, &odd}) {
    if (absl::IsFailedPrecondition(slot->status())) return slot->status();
  }
  if (!even.ok() && !odd.ok()) return even.status();
  const MetaSlot& newest = !odd.ok() || (even.ok() && even->generation > odd->generation) ? *even : *odd;
  slot_damaged_ = !even.ok() || !odd.ok();
  // The next Store() overwrites the damaged slot. On a full disk, the copy cannot be made.
  bytes.resize(read);
  if (slot_damaged_) ReplaceFile(absl::StrCat(path_, ".damaged"), bytes).IgnoreError();
  generation_ = newest.generation;
  file_ = *std::move(file);
  return newest.meta;
}

absl::Status MetaFile::Store(const SpoolMeta& meta) {
  const uint64_t next = generation_ + 1;
  const std::string slot = EncodeMetaSlot({.generation = next, .meta = meta});
  if (file_.is_open()) {
    RETURN_IF_ERROR(file_.WriteAt((next & 1) * kSlotBytes, slot));
    RETURN_IF_ERROR(file_.Sync());
  } else {
    RETURN_IF_ERROR(ReplaceFile(path_, absl::StrCat(slot, slot)));
    ASSIGN_OR_RETURN(File file, File::Open(path_, O_RDWR));
    file_ = std::move(file);
  }
  generation_ = next;
  return absl::OkStatus();
}

absl::StatusOr<CommittedFile> CommittedFile::Open(const std::string& path) {
  ASSIGN_OR_RETURN(File file, File::Open(path, O_RDWR | O_CREAT));
  std::string bytes(kCommittedBytes, '\0');
  ASSIGN_OR_RETURN(const size_t read, file.ReadAt(0, bytes.data(), bytes.size()));
  CommittedFile committed(std::move(file));
  if (read == kCommittedBytes && LoadLittleEndian<uint32_t>(&bytes[8]) == CrcBefore(bytes, 8)) {
    committed.stored_seq_ = LoadLittleEndian<uint64_t>(&bytes[0]);
  } else {
    bytes.resize(read);
    // A file that was created just before a power cut is empty or contains zeroes.
    committed.damaged_ = bytes.find_first_not_of('\0') != std::string::npos;
    if (committed.damaged_) ReplaceFile(absl::StrCat(path, ".damaged"), bytes).IgnoreError();
    // Allocates the file's space now, because the disk may be full later.
    committed.Store(0).IgnoreError();
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

#include "client/spool_recovery.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <optional>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "proto/base/status_macros.h"
#include "proto/record/counted.h"

namespace telemetry::client {
namespace {

using Notice = std::function<void(const std::string&)>;

constexpr char kDamaged[] = ".damaged";

// Keeps the file under a second name while the log continues to use it.
absl::Status KeepDamaged(const std::string& path) {
  if (link(path.c_str(), absl::StrCat(path, kDamaged).c_str()) != 0 && errno != EEXIST) {
    return ErrnoStatus("keep the damaged file", path);
  }
  return absl::OkStatus();
}

// Renames a file without any usable contents.
absl::Status MoveDamaged(const std::string& path) {
  if (rename(path.c_str(), absl::StrCat(path, kDamaged).c_str()) != 0) {
    return ErrnoStatus("set the damaged file aside", path);
  }
  return absl::OkStatus();
}

class Recovery {
 public:
  Recovery(const std::string& folder, const Notice& notice, RecoveredSpool* spool)
      : folder_(folder), notice_(notice), spool_(*spool) {}

  absl::Status Run() {
    RETURN_IF_ERROR(TightenFiles());
    RETURN_IF_ERROR(LoadSegments());
    RETURN_IF_ERROR(LoadMeta());
    if (spool_.committed_file.damaged()) {
      Say(absl::StrCat("the spool file ", FilePath("committed"),
                       " is damaged; the collector will report its last record; the file is ", "kept as ",
                       FilePath("committed"), kDamaged));
    }
    spool_.last_seq = std::max({spool_.last_seq, spool_.meta.base_seq, spool_.committed_file.stored_seq()});
    spool_.committed_seq = std::max(spool_.meta.base_seq, spool_.committed_file.stored_seq());
    RETURN_IF_ERROR(DropCommitted());
    spool_.meta.epoch = NextEpoch(spool_.meta.epoch);
    spool_.meta.unproven_seq = std::min(spool_.meta.unproven_seq.value_or(spool_.last_seq), spool_.last_seq);
    return spool_.meta_file.Store(spool_.meta);
  }

 private:
  std::string FilePath(absl::string_view name) const { return absl::StrCat(folder_, "/", name); }

  void Say(const std::string& text) const {
    if (notice_) notice_(text);
  }

  // Restricts files of older versions, which created them under the usual umask.
  absl::Status TightenFiles() const {
    ASSIGN_OR_RETURN(const std::vector<std::string> names, ListFolder(folder_));
    const auto count = std::count_if(names.begin(), names.end(),
                                     [this](const std::string& name) { return TakeFromOthers(FilePath(name)); });
    if (count > 0) {
      Say(absl::StrCat("other users could read ", count, " file(s) of the spool ", folder_,
                       ": their mode is 0600 now"));
    }
    return absl::OkStatus();
  }

  absl::Status LoadSegments() {
    ASSIGN_OR_RETURN(std::vector<std::string> names, ListFolder(folder_));
    names.erase(std::remove_if(names.begin(), names.end(),
                               [](const std::string& name) { return !ParseSegmentName(name).has_value(); }),
                names.end());
    for (const std::string& name : names) {
      ASSIGN_OR_RETURN(SegmentScan scan, ScanSegment(folder_, name));
      RETURN_IF_ERROR(Adopt(std::move(scan), name == names.back()));
    }
    return absl::OkStatus();
  }

  absl::Status Adopt(SegmentScan scan, bool is_last) {
    Segment& segment = scan.segment;
    const bool empty = segment.last_seq < segment.first_seq;
    const bool gap = !spool_.segments.empty() && segment.first_seq > spool_.last_seq + 1;
    if (gap) {
      SayDamaged(spool_.segments.back().path, segment.first_seq - spool_.last_seq - 1);
      RETURN_IF_ERROR(KeepDamaged(spool_.segments.back().path));
    }
    if (scan.header_damaged || scan.lost_records > 0) {
      SayDamaged(segment.path, scan.lost_records);
      RETURN_IF_ERROR(empty ? MoveDamaged(segment.path) : KeepDamaged(segment.path));
    }
    spool_.last_seq = std::max({spool_.last_seq, segment.last_seq, segment.first_seq - 1});
    if (empty) return scan.header_damaged ? absl::OkStatus() : RemoveFile(segment.path);
    if (is_last && scan.tail_bytes > 0) {
      // The hard link that keeps a damaged file shares its bytes, so that only a file without damage may be truncated.
      if (scan.lost_records == 0 && !scan.header_damaged) {
        KeepTail(segment, scan.tail_bytes);
        RETURN_IF_ERROR(segment.file->Truncate(segment.end));
      }
      Say(absl::StrCat("the spool's last record was not written to its end (", scan.tail_bytes,
                       " bytes); the log continues after record ", segment.last_seq));
    }
    segment.begin_position = spool_.segments.empty() ? 0 : spool_.segments.back().end_position();
    spool_.segments.push_back(std::move(segment));
    return absl::OkStatus();
  }

  // Keeps a copy of the bytes after the last record: an incomplete record and a damaged record look alike. A tail of
  // zeroes is not a record. On a full disk, the copy cannot be made.
  static void KeepTail(const Segment& segment, uint64_t bytes) {
    const absl::StatusOr<std::string> tail = segment.Read(segment.end, segment.end + bytes);
    if (!tail.ok() || tail->find_first_not_of('\0') == std::string::npos) return;
    ReplaceFile(absl::StrCat(segment.path, ".tail", kDamaged), *tail).IgnoreError();
  }

  void SayDamaged(const std::string& path, uint64_t lost_records) const {
    Say(absl::StrCat("the spool file ", path, " is damaged and has lost ", record::Counted(lost_records, "record"),
                     "; all others are kept, and the file is set aside as ", path, kDamaged));
  }

  absl::Status LoadMeta() {
    absl::StatusOr<SpoolMeta> meta = spool_.meta_file.Load();
    if (meta.ok()) {
      if (spool_.meta_file.slot_damaged()) {
        Say(absl::StrCat("half of the spool's meta file is damaged: ", FilePath("meta"),
                         "; the other half is used, and no record is lost; the file is kept as ", FilePath("meta"),
                         kDamaged));
      }
      spool_.meta = *std::move(meta);
      return absl::OkStatus();
    }
    const bool unusable = absl::IsNotFound(meta.status()) || absl::IsDataLoss(meta.status());
    return unusable ? MakeMeta(meta.status()) : meta.status();
  }

  // Creates the identity of a new log or of a log that lost its identity.
  absl::Status MakeMeta(const absl::Status& why) {
    const uint64_t before = spool_.segments.empty() ? spool_.last_seq : spool_.segments.front().first_seq - 1;
    spool_.meta = {.producer_id = NewProducerId(), .base_seq = std::max(before, spool_.committed_file.stored_seq())};
    if (absl::IsNotFound(why) && spool_.segments.empty()) return absl::OkStatus();
    Say(absl::StrCat(why.message(), " in ", folder_, "; its records continue as a new log"));
    return absl::IsNotFound(why) ? absl::OkStatus() : MoveDamaged(FilePath("meta"));
  }

  // Removes the files in which every record is acknowledged.
  absl::Status DropCommitted() {
    auto& segments = spool_.segments;
    while (!segments.empty() && segments.front().last_seq <= spool_.committed_seq) {
      RETURN_IF_ERROR(RemoveFile(segments.front().path));
      segments.erase(segments.begin());
    }
    return absl::OkStatus();
  }

  const std::string& folder_;
  const Notice& notice_;
  RecoveredSpool& spool_;
};

}  // namespace

absl::StatusOr<RecoveredSpool> RecoverSpool(const std::string& folder, const Notice& notice) {
  RETURN_IF_ERROR(MakeFolders(folder));
  ASSIGN_OR_RETURN(File lock, LockFolder(folder));
  ASSIGN_OR_RETURN(CommittedFile committed, CommittedFile::Open(absl::StrCat(folder, "/committed")));
  RecoveredSpool spool{.lock = std::move(lock),
                       .meta_file = MetaFile(absl::StrCat(folder, "/meta")),
                       .committed_file = std::move(committed)};
  RETURN_IF_ERROR(Recovery(folder, notice, &spool).Run());
  return spool;
}

}  // namespace telemetry::client

#include "client/segment.h"

#include <fcntl.h>

#include <algorithm>
#include <charconv>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "proto/base/status_macros.h"

namespace telemetry::client {
namespace {

constexpr char kSuffix[] = ".seg";
constexpr size_t kSuffixSize = sizeof(kSuffix) - 1;
constexpr size_t kSeqDigits = 20;
constexpr size_t kSaltDigits = 8;

template <typename T>
bool ParseDigits(std::string_view digits, int base, T* value) {
  const auto result = std::from_chars(digits.data(), digits.data() + digits.size(), *value, base);
  return result.ec == std::errc() && result.ptr == digits.data() + digits.size();
}

// Scans the frames after the header.
void ScanFrames(std::string_view bytes, SegmentScan* scan) {
  Segment& segment = scan->segment;
  segment.last_seq = segment.first_seq - 1;
  segment.end = std::min(bytes.size(), kSegmentHeaderBytes);
  if (bytes.size() <= kSegmentHeaderBytes) return;
  FrameScanner frames(segment.salt, segment.first_seq, bytes.substr(kSegmentHeaderBytes));
  while (const std::optional<Frame> frame = frames.Next()) {
    scan->lost_records += frame->seq - segment.last_seq - 1;
    segment.last_seq = frame->seq;
    segment.end = kSegmentHeaderBytes + frames.frame_end();
  }
  scan->tail_bytes = bytes.size() - segment.end;
}

}  // namespace

std::optional<Frame> FrameScanner::Next() {
  begin_ = end_;
  skipped_ = false;
  std::optional<Frame> frame = DecodeFrame(salt_, bytes_.substr(begin_));
  if (!frame.has_value() || frame->seq < expected_seq_) {
    const std::string_view rest = bytes_.substr(begin_);
    const size_t skipped = FindFrame(salt_, expected_seq_, expected_seq_ + rest.size() / kFrameHeaderBytes, rest);
    if (skipped == std::string_view::npos) return std::nullopt;
    skipped_ = true;
    begin_ += skipped;
    frame = DecodeFrame(salt_, bytes_.substr(begin_));
  }
  end_ = begin_ + frame->size();
  expected_seq_ = frame->seq + 1;
  return frame;
}

absl::StatusOr<std::string> Segment::Read(uint64_t from, uint64_t to) const {
  std::string bytes(to - from, '\0');
  ASSIGN_OR_RETURN(const size_t read, file->ReadAt(from, bytes.data(), bytes.size()));
  bytes.resize(read);
  return bytes;
}

absl::StatusOr<std::optional<uint64_t>> Segment::Locate(uint64_t seq) const {
  ASSIGN_OR_RETURN(const std::string bytes, Read(kSegmentHeaderBytes, std::max<uint64_t>(end, kSegmentHeaderBytes)));
  FrameScanner frames(salt, first_seq, bytes);
  while (const std::optional<Frame> frame = frames.Next()) {
    if (frame->seq >= seq) return kSegmentHeaderBytes + frames.frame_begin();
  }
  return std::nullopt;
}

std::string SegmentName(const SegmentHeader& header) {
  return absl::StrFormat("%020d-%08x%s", header.first_seq, header.salt, kSuffix);
}

std::optional<SegmentHeader> ParseSegmentName(std::string_view name) {
  SegmentHeader header;
  if (name.size() != kSeqDigits + 1 + kSaltDigits + kSuffixSize || name[kSeqDigits] != '-' ||
      name.substr(name.size() - kSuffixSize) != kSuffix ||
      !ParseDigits(name.substr(0, kSeqDigits), 10, &header.first_seq) ||
      !ParseDigits(name.substr(kSeqDigits + 1, kSaltDigits), 16, &header.salt) || header.first_seq == 0) {
    return std::nullopt;
  }
  return header;
}

absl::StatusOr<SegmentScan> ScanSegment(const std::string& folder, const std::string& name) {
  SegmentScan scan;
  scan.segment.path = absl::StrCat(folder, "/", name);
  ASSIGN_OR_RETURN(File file, File::Open(scan.segment.path, O_RDWR));
  scan.segment.file = std::make_shared<File>(std::move(file));
  ASSIGN_OR_RETURN(const uint64_t size, scan.segment.file->Size());
  ASSIGN_OR_RETURN(const std::string bytes, scan.segment.Read(0, size));

  std::optional<SegmentHeader> header = DecodeSegmentHeader(bytes);
  scan.header_damaged = !header.has_value();
  if (header.has_value() && header->version != kSegmentVersion) {
    return absl::FailedPreconditionError(absl::StrCat(scan.segment.path, " was written by a newer version (format ",
                                                      header->version, "); use that version"));
  }
  if (!header.has_value()) header = ParseSegmentName(name);
  if (!header.has_value()) return absl::DataLossError(absl::StrCat(scan.segment.path, " is not a segment of a spool"));
  scan.segment.salt = header->salt;
  scan.segment.first_seq = header->first_seq;
  ScanFrames(bytes, &scan);
  return scan;
}

absl::StatusOr<Segment> CreateSegment(const std::string& folder, const SegmentHeader& header) {
  Segment segment{.path = absl::StrCat(folder, "/", SegmentName(header)),
                  .salt = header.salt,
                  .first_seq = header.first_seq,
                  .last_seq = header.first_seq - 1,
                  .end = kSegmentHeaderBytes};
  ASSIGN_OR_RETURN(File file, File::Open(segment.path, O_RDWR | O_CREAT | O_EXCL));
  segment.file = std::make_shared<File>(std::move(file));
  if (absl::Status status = segment.file->Write(EncodeSegmentHeader(header)); !status.ok()) {
    RemoveFile(segment.path).IgnoreError();
    return status;
  }
  return segment;
}

}  // namespace telemetry::client

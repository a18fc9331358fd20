#include "server/storage/sqlite/log_writer.h"

#include <sqlite3.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "server/storage/sqlite/page_checksum.h"

namespace telemetry::storage::sqlite {
namespace {

// The format of the log: https://sqlite.org/fileformat2.html#walformat
constexpr int kLogHeaderBytes = 32;
constexpr int kFrameHeaderBytes = 24;

uint32_t BigEndian(const char* bytes) {
  uint32_t value = 0;
  for (int i = 0; i < 4; ++i) value = value << 8 | static_cast<uint8_t>(bytes[i]);
  return value;
}

// A frame's header begins with the number of its page and, in the last frame of a transaction, the size of the
// database.
uint32_t PageOf(const char* header) { return BigEndian(header); }
bool EndsTransaction(const char* header) { return BigEndian(header + 4) != 0; }

}  // namespace

int LogWriter::Write(const char* from, int size, int64_t offset) {
  if (size == kFrameHeaderBytes && offset >= std::max<int64_t>(end_, kLogHeaderBytes)) return KeepHeader(from, offset);
  if (IsPageOfHeader(size, offset)) return KeepPage(from, size);
  if (const int result = Flush(); result != SQLITE_OK) return result;
  return WriteNow(from, size, offset);
}

bool LogWriter::IsPageOfHeader(int size, int64_t offset) const {
  return ends_with_header_ && size >= kLeastPageBytes && offset == kept_at_ + static_cast<int64_t>(kept_.size());
}

int LogWriter::KeepHeader(const char* from, int64_t offset) {
  const bool follows = offset == kept_at_ + static_cast<int64_t>(kept_.size()) && !ends_with_header_;
  if (!follows) {
    if (const int result = Flush(); result != SQLITE_OK) return result;
    kept_at_ = offset;
  }
  kept_.insert(kept_.end(), from, from + kFrameHeaderBytes);
  ends_with_header_ = true;
  end_ = offset + kFrameHeaderBytes;
  return SQLITE_OK;
}

int LogWriter::KeepPage(const char* from, int size) {
  kept_.insert(kept_.end(), from, from + size);
  ends_with_header_ = false;
  end_ += size;
  const char* header = kept_.data() + kept_.size() - size - kFrameHeaderBytes;
  Seal(header, from, size, end_ - size - kFrameHeaderBytes);
  const bool is_full = kept_.size() + kFrameHeaderBytes + size > kMostBytes;
  return is_full || EndsTransaction(header) ? Flush() : SQLITE_OK;
}

int LogWriter::Flush() {
  if (kept_.empty()) return SQLITE_OK;
  seals_.Write();
  const int result = log_.pMethods->xWrite(&log_, kept_.data(), static_cast<int>(kept_.size()), kept_at_);
  if (result != SQLITE_OK) end_ = kept_at_;
  kept_.clear();
  ends_with_header_ = false;
  return result;
}

// The beginning of a log, a page that the transaction has written before, or its header with a new checksum.
int LogWriter::WriteNow(const char* from, int size, int64_t offset) {
  if (offset == 0) {
    seals_.Clear();
    end_ = 0;
  }
  const int64_t frame_at = offset - kFrameHeaderBytes;
  std::array<char, kFrameHeaderBytes> header;
  if (size >= kLeastPageBytes && frame_at >= kLogHeaderBytes &&
      log_.pMethods->xRead(&log_, header.data(), kFrameHeaderBytes, frame_at) == SQLITE_OK) {
    Seal(header.data(), from, size, frame_at);
    seals_.Write();
  }
  end_ = std::max(end_, offset + size);
  return log_.pMethods->xWrite(&log_, from, size, offset);
}

void LogWriter::Seal(const char* header, const char* page, int page_bytes, int64_t frame_at) {
  const int64_t frame_bytes = kFrameHeaderBytes + page_bytes;
  if ((frame_at - kLogHeaderBytes) % frame_bytes != 0) return;
  const uint32_t number = PageOf(header);
  seals_.Add(static_cast<uint32_t>((frame_at - kLogHeaderBytes) / frame_bytes), number,
             ComputeSeal(number, {page, static_cast<size_t>(page_bytes)}));
}

int LogWriter::Truncate(int64_t bytes) {
  if (const int result = Flush(); result != SQLITE_OK) return result;
  if (bytes == 0) seals_.Clear();
  end_ = std::min(end_, bytes);
  return log_.pMethods->xTruncate(&log_, bytes);
}

}  // namespace telemetry::storage::sqlite

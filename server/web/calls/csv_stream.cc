#include "server/web/calls/csv_stream.h"

#include <utility>

#include "proto/log/log.h"

namespace telemetry::web::calls {
namespace {

// The last line of a CSV that could not be read to its end.
constexpr char kIncomplete[] = "\"incomplete: the server could not read the rest; download it again\"\r\n";

}  // namespace

bool CsvStream::Take(std::string* text, std::function<void()> wake) {
  {
    absl::MutexLock lock(&mutex_);
    *text = std::exchange(ready_, "");
    const bool is_last = cursor_.empty() && !is_reading_;
    if (is_last) return false;
    wake_ = std::move(wake);
    if (!text->empty() || std::exchange(is_reading_, true)) return true;
  }
  const bool goes_on = later_([self = shared_from_this()](const ReadPage& page) { self->Read(page); });
  if (goes_on) return true;
  Close();
  *text = kIncomplete;
  return false;
}

void CsvStream::Read(const ReadPage& page) {
  std::string cursor;
  {
    absl::MutexLock lock(&mutex_);
    cursor = cursor_;
  }
  std::string csv;
  // The client has gone if there is no cursor.
  if (absl::Status status = cursor.empty() ? absl::OkStatus() : page(&cursor, &csv); !status.ok()) {
    log::Warn("could not read a page of a CSV", {{"reason", status.ToString()}});
    cursor.clear();
    csv = kIncomplete;
  }
  std::function<void()> wake;
  {
    absl::MutexLock lock(&mutex_);
    ready_ = std::move(csv);
    cursor_ = std::move(cursor);
    is_reading_ = false;
    wake = std::exchange(wake_, nullptr);
  }
  if (wake) wake();
}

void CsvStream::Close() {
  absl::MutexLock lock(&mutex_);
  cursor_.clear();
  ready_.clear();
  is_reading_ = false;
  wake_ = nullptr;
}

}  // namespace telemetry::web::calls

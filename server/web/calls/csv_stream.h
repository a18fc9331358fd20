#pragma once

#include <functional>
#include <memory>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "server/http/message.h"

namespace telemetry::web::calls {

// A CSV that is read page by page while it is sent: the next page is read when the last one has been taken.
// Thread-safe.
class CsvStream final : public http::BodyStream, public std::enable_shared_from_this<CsvStream> {
 public:
  // Appends the page at `cursor`, and sets `cursor` as Reader::AppendCsvPage does.
  using ReadPage = std::function<absl::Status(std::string* cursor, std::string* csv)>;
  // Calls `read` later, on a thread that may block. Returns false if there is no room for it.
  using Later = std::function<bool(std::function<void(const ReadPage& page)> read)>;

  // Begins after the first page, `csv`.
  CsvStream(std::string csv, std::string cursor, Later later)
      : later_(std::move(later)), ready_(std::move(csv)), cursor_(std::move(cursor)) {}

  bool Take(std::string* text, std::function<void()> wake) override ABSL_LOCKS_EXCLUDED(mutex_);
  void Close() override ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  void Read(const ReadPage& page) ABSL_LOCKS_EXCLUDED(mutex_);

  const Later later_;
  absl::Mutex mutex_;
  std::string ready_ ABSL_GUARDED_BY(mutex_);
  std::string cursor_ ABSL_GUARDED_BY(mutex_);  // of the next page; empty: there is none
  bool is_reading_ ABSL_GUARDED_BY(mutex_) = false;
  std::function<void()> wake_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace telemetry::web::calls

#include "server/export/read_ahead.h"

#include <cstddef>
#include <deque>
#include <optional>
#include <thread>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"

namespace telemetry::exporter {
namespace {

constexpr size_t kMostBytes = size_t{4} << 20;

// The items between the thread of the source and the thread of the sink.
class ItemQueue {
 public:
  // Adds an item. Blocks while the queue is full. Returns the error of the sink, if it had one.
  absl::Status Push(v1::ExportItem item) ABSL_LOCKS_EXCLUDED(mutex_) {
    const size_t bytes = item.ByteSizeLong();
    const absl::MutexLock lock(&mutex_);
    mutex_.Await(absl::Condition(this, &ItemQueue::HasRoom));
    if (!sink_status_.ok()) return sink_status_;
    bytes_ += bytes;
    items_.push_back({std::move(item), bytes});
    return absl::OkStatus();
  }

  // Removes the first item. Blocks until there is one. Returns nullopt after the last item.
  std::optional<v1::ExportItem> Pop() ABSL_LOCKS_EXCLUDED(mutex_) {
    const absl::MutexLock lock(&mutex_);
    mutex_.Await(absl::Condition(this, &ItemQueue::HasItem));
    if (items_.empty()) return std::nullopt;
    Entry entry = std::move(items_.front());
    items_.pop_front();
    bytes_ -= entry.bytes;
    return std::move(entry.item);
  }

  // Ends the items.
  void Close() ABSL_LOCKS_EXCLUDED(mutex_) {
    const absl::MutexLock lock(&mutex_);
    closed_ = true;
  }

  // Makes the next Push() return this error.
  void Refuse(const absl::Status& sink_status) ABSL_LOCKS_EXCLUDED(mutex_) {
    const absl::MutexLock lock(&mutex_);
    sink_status_ = sink_status;
  }

 private:
  struct Entry {
    v1::ExportItem item;
    size_t bytes = 0;
  };

  bool HasRoom() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return bytes_ < kMostBytes || !sink_status_.ok(); }
  bool HasItem() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return !items_.empty() || closed_; }

  absl::Mutex mutex_;
  std::deque<Entry> items_ ABSL_GUARDED_BY(mutex_);
  size_t bytes_ ABSL_GUARDED_BY(mutex_) = 0;
  bool closed_ ABSL_GUARDED_BY(mutex_) = false;
  absl::Status sink_status_ ABSL_GUARDED_BY(mutex_);
};

absl::Status Deliver(const DatasetSource& source, const v1::ExportRequest& request, const ItemSink& sink) {
  ItemQueue queue;
  absl::Status source_status;
  std::thread reader([&] {
    source_status = source(request, [&queue](v1::ExportItem item) { return queue.Push(std::move(item)); });
    queue.Close();
  });
  absl::Status sink_status;
  while (std::optional<v1::ExportItem> item = queue.Pop()) {
    sink_status = sink(*std::move(item));
    if (sink_status.ok()) continue;
    queue.Refuse(sink_status);
    break;
  }
  reader.join();
  return sink_status.ok() ? source_status : sink_status;
}

}  // namespace

DatasetSource ReadAhead(DatasetSource source) {
  return [source = std::move(source)](const v1::ExportRequest& request, const ItemSink& sink) {
    return Deliver(source, request, sink);
  };
}

}  // namespace telemetry::exporter

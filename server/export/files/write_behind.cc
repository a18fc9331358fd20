#include "server/export/files/write_behind.h"

#include <utility>

namespace telemetry::exporter::files {

WriteBehind::WriteBehind(FileSet* files) : files_(files), thread_([this] { Run(); }) {}

WriteBehind::~WriteBehind() { Stop(); }

absl::Status WriteBehind::Push(std::string_view suffix, std::string* text) {
  absl::MutexLock lock(&mutex_);
  mutex_.Await(absl::Condition(this, &WriteBehind::HasRoom));
  if (!status_.ok()) return status_;
  queue_.push_back({suffix, std::move(*text)});
  text->clear();
  if (!spare_.empty()) {
    *text = std::move(spare_.back());
    spare_.pop_back();
    text->clear();
  }
  return absl::OkStatus();
}

absl::Status WriteBehind::Finish() {
  Stop();
  absl::MutexLock lock(&mutex_);
  return status_;
}

void WriteBehind::Stop() {
  {
    absl::MutexLock lock(&mutex_);
    done_ = true;
  }
  if (thread_.joinable()) thread_.join();
}

void WriteBehind::Run() {
  while (true) {
    Chunk chunk;
    {
      absl::MutexLock lock(&mutex_);
      mutex_.Await(absl::Condition(this, &WriteBehind::HasWork));
      if (queue_.empty() || !status_.ok()) return;
      chunk = std::move(queue_.front());
      queue_.pop_front();
    }
    absl::Status status = files_->Append(chunk.suffix, chunk.text);
    absl::MutexLock lock(&mutex_);
    status_.Update(status);
    spare_.push_back(std::move(chunk.text));
  }
}

}  // namespace telemetry::exporter::files

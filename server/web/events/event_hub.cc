#include "server/web/events/event_hub.h"

#include <algorithm>
#include <map>
#include <utility>

#include "absl/status/statusor.h"
#include "proto/record/strings.h"

namespace telemetry::web::events {

bool EventStream::Take(std::string* text, std::function<void()> wake) {
  absl::MutexLock lock(&mutex_);
  *text = std::exchange(ready_, "");
  if (is_last_ && text->empty()) is_open_ = false;
  wake_ = std::move(wake);
  return is_open_ && !is_last_;
}

void EventStream::Close() {
  absl::MutexLock lock(&mutex_);
  is_open_ = false;
  wake_ = nullptr;
}

void EventStream::Send(std::string_view name, std::string_view data) {
  std::function<void()> wake;
  {
    absl::MutexLock lock(&mutex_);
    if (!is_open_ || is_last_) return;
    last_ = SteadyNow();
    // An event that still waits says more than a comment.
    if (name.empty() && !ready_.empty()) return;
    ready_ = name.empty() ? ":\n\n" : record::Cat("event: ", name, "\ndata: ", data, "\n\n");
    wake = std::exchange(wake_, nullptr);
  }
  if (wake) wake();
}

void EventStream::CheckAdmission() {
  if (admit_().ok()) return;
  std::function<void()> wake;
  {
    absl::MutexLock lock(&mutex_);
    if (!is_open_ || is_last_) return;
    ready_ = "event: signed_out\ndata: {}\n\n";
    is_last_ = true;
    wake = std::exchange(wake_, nullptr);
  }
  if (wake) wake();
}

bool EventStream::is_open() const {
  absl::MutexLock lock(&mutex_);
  return is_open_;
}

absl::Duration EventStream::SilentFor() const {
  absl::MutexLock lock(&mutex_);
  return ElapsedSince(last_);
}

std::shared_ptr<EventStream> EventHub::Open(const std::string& network, std::string run_id, EventStream::Admit admit) {
  absl::MutexLock lock(&mutex_);
  std::erase_if(clients_, [](const Client& client) { return !client.stream->is_open(); });
  const auto of_network =
      std::count_if(clients_.begin(), clients_.end(), [&](const Client& client) { return client.network == network; });
  const bool is_full = clients_.size() >= kMostStreams || static_cast<size_t>(of_network) >= kMostOfNetwork;
  if (is_closed_ || is_full) return nullptr;
  clients_.push_back(
      {.stream = std::make_shared<EventStream>(std::move(run_id), std::move(admit)), .network = network});
  has_opened_ = true;
  opened_.NotifyAll();
  return clients_.back().stream;
}

void EventHub::AwaitOpened(SteadyTime deadline) {
  absl::MutexLock lock(&mutex_);
  opened_.Await(mutex_, deadline, [this] {
    mutex_.AssertHeld();
    return has_opened_ || is_closed_;
  });
}

std::vector<EventHub::Client> EventHub::TakeOpen() {
  absl::MutexLock lock(&mutex_);
  has_opened_ = false;
  std::erase_if(clients_, [](const Client& client) { return !client.stream->is_open(); });
  std::vector<Client> open = clients_;
  for (Client& client : clients_) client.is_new = false;
  return open;
}

absl::Status EventHub::Publish(bool changed, const MakeSummary& make) {
  absl::Status first_error;
  std::map<std::string, std::string> made;  // by run_id
  for (const Client& client : TakeOpen()) {
    client.stream->CheckAdmission();
    if (!changed && !client.is_new) {
      if (client.stream->SilentFor() > kComment) client.stream->Send("", "");
      continue;
    }
    const auto [entry, is_first] = made.try_emplace(client.stream->run_id());
    if (is_first) {
      absl::StatusOr<std::string> summary = make(entry->first);
      first_error.Update(summary.status());
      if (summary.ok()) entry->second = *std::move(summary);
    }
    if (!entry->second.empty()) client.stream->Send("summary", entry->second);
  }
  return first_error;
}

void EventHub::Close() {
  absl::MutexLock lock(&mutex_);
  is_closed_ = true;
  opened_.NotifyAll();
}

size_t EventHub::size() const {
  absl::MutexLock lock(&mutex_);
  return clients_.size();
}

}  // namespace telemetry::web::events

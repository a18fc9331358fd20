#include "server/web/calls/answer_cache.h"

#include <iterator>

namespace telemetry::web::calls {
namespace {

// The bytes of an entry beside its texts, which are stored with two copies of the key.
constexpr size_t kEntryBytes = 256;

size_t BytesOf(const std::string& key, const std::string& answer) {
  return 2 * key.size() + answer.size() + kEntryBytes;
}

}  // namespace

absl::StatusOr<std::string> AnswerCache::Answer(const std::string& key, Compute compute) {
  {
    absl::MutexLock lock(&mutex_);
    const auto is_free = [&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return !computing_.contains(key); };
    mutex_.Await(absl::Condition(&is_free));
    if (const Entry* const kept = Find(key); kept != nullptr) return kept->answer;
    computing_.insert(key);
  }
  const SteadyTime begin = SteadyNow();
  absl::StatusOr<std::string> answer = compute();
  const bool is_kept = answer.ok() && ElapsedSince(begin) >= options_.least_time;
  absl::MutexLock lock(&mutex_);
  computing_.erase(key);
  if (is_kept) Keep(key, *answer);
  return answer;
}

size_t AnswerCache::bytes() const {
  absl::MutexLock lock(&mutex_);
  return bytes_;
}

const AnswerCache::Entry* AnswerCache::Find(const std::string& key) {
  const auto found = index_.find(key);
  if (found == index_.end()) return nullptr;
  if (found->second->until < SteadyNow()) {
    Remove(found->second);
    return nullptr;
  }
  entries_.splice(entries_.begin(), entries_, found->second);
  return &entries_.front();
}

void AnswerCache::Keep(const std::string& key, const std::string& answer) {
  const size_t bytes = BytesOf(key, answer);
  if (bytes > options_.most_bytes) return;
  while (bytes_ + bytes > options_.most_bytes) Remove(std::prev(entries_.end()));
  entries_.push_front({.key = key, .answer = answer, .until = SteadyAfter(options_.most_age)});
  index_.emplace(key, entries_.begin());
  bytes_ += bytes;
}

void AnswerCache::Remove(Entries::iterator entry) {
  bytes_ -= BytesOf(entry->key, entry->answer);
  index_.erase(entry->key);
  entries_.erase(entry);
}

}  // namespace telemetry::web::calls

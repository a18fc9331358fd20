#include "server/access/token_watch.h"

#include <utility>

#include "server/access/token_file.h"
#include "server/log/log.h"

namespace telemetry::access {
namespace {

constexpr absl::Duration kPeriod = absl::Seconds(1);

struct stat Look(const std::string& path) {
  struct stat status = {};
  if (::stat(path.c_str(), &status) != 0) return {};
  return status;
}

// Each change renames a new file into place; one that is edited by hand keeps its inode and changes its times.
bool Same(const struct stat& a, const struct stat& b) {
  const auto same_time = [](const timespec& x, const timespec& y) {
    return x.tv_sec == y.tv_sec && x.tv_nsec == y.tv_nsec;
  };
  return a.st_dev == b.st_dev && a.st_ino == b.st_ino && a.st_size == b.st_size && same_time(a.st_mtim, b.st_mtim) &&
         same_time(a.st_ctim, b.st_ctim);
}

}  // namespace

absl::StatusOr<std::unique_ptr<TokenWatch>> TokenWatch::Open(const std::string& path) {
  const struct stat seen = Look(path);  // before it is read: a change in between is then found
  absl::StatusOr<std::vector<Token>> tokens = ReadTokens(path);
  if (!tokens.ok()) return tokens.status();
  return std::unique_ptr<TokenWatch>(new TokenWatch(path, std::make_shared<TokenSet>(*std::move(tokens)), seen));
}

TokenWatch::TokenWatch(std::string path, std::shared_ptr<const TokenSet> tokens, const struct stat& seen)
    : path_(std::move(path)), seen_(seen), tokens_(std::move(tokens)) {}

std::shared_ptr<const TokenSet> TokenWatch::tokens() const {
  const absl::MutexLock lock(&mutex_);
  return tokens_;
}

void TokenWatch::Start(std::function<void()> tick) {
  looks_.emplace(kPeriod, [this, tick = std::move(tick)] {
    Refresh();
    tick();
  });
}

void TokenWatch::Stop() { looks_.reset(); }

void TokenWatch::Refresh() {
  const struct stat now = Look(path_);
  if (Same(now, seen_)) return;
  seen_ = now;
  absl::StatusOr<std::vector<Token>> tokens = ReadTokens(path_);
  if (!tokens.ok()) {
    log::Error("the tokens stay as they were", {{"reason", std::string(tokens.status().message())}});
    return;
  }
  log::Info("read tokens", {{"count", tokens->size()}, {"file", path_}});
  auto fresh = std::make_shared<const TokenSet>(*std::move(tokens));
  const absl::MutexLock lock(&mutex_);
  tokens_ = std::move(fresh);
}

}  // namespace telemetry::access

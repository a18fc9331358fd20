#include "server/access/token_watch.h"

#include <string>
#include <utility>

#include "proto/base/status_macros.h"
#include "proto/log/log.h"
#include "proto/record/strings.h"
#include "server/access/token_file.h"

namespace telemetry::access {
namespace {

constexpr absl::Duration kPeriod = absl::Milliseconds(500);
constexpr absl::Duration kLongestUnreadable = absl::Minutes(1);

}  // namespace

absl::StatusOr<std::unique_ptr<TokenWatch>> TokenWatch::Open(const std::string& path, Clock clock) {
  // The status is read before the file, so that the next look finds a change made in between.
  const std::optional<FileStamp> before = ReadFileStamp(path);
  ASSIGN_OR_RETURN(std::vector<Token> tokens, ReadTokens(path));
  return std::unique_ptr<TokenWatch>(
      new TokenWatch(path, std::move(clock), std::make_shared<TokenSet>(std::move(tokens)), before));
}

TokenWatch::TokenWatch(std::string path, Clock clock, std::shared_ptr<const TokenSet> tokens,
                       const std::optional<FileStamp>& read)
    : path_(std::move(path)), clock_(std::move(clock)), read_(read), tokens_(std::move(tokens)), last_good_(clock_()) {}

std::shared_ptr<const TokenSet> TokenWatch::tokens() const {
  const absl::MutexLock lock(&mutex_);
  return tokens_;
}

absl::Duration TokenWatch::UnreadableFor() const {
  const absl::MutexLock lock(&mutex_);
  return readable_ ? absl::ZeroDuration() : absl::FromChrono(clock_() - last_good_);
}

absl::Status TokenWatch::CheckReadable() const {
  const absl::Duration unreadable = UnreadableFor();
  if (unreadable <= kLongestUnreadable) return absl::OkStatus();
  return absl::UnavailableError(record::Cat(
      "the collector has not been able to read its token file for ", std::to_string(absl::ToInt64Seconds(unreadable)),
      " s, and refuses calls until it can; the reason is in the collector's log"));
}

void TokenWatch::Start(std::function<void()> tick) {
  looks_.emplace(kPeriod, [this, tick = std::move(tick)] {
    Look();
    tick();
  });
}

void TokenWatch::Stop() { looks_.reset(); }

void TokenWatch::Look() {
  const std::optional<FileStamp> before = ReadFileStamp(path_);
  if (before.has_value() && before == read_) return SetGood(nullptr);
  absl::StatusOr<std::vector<Token>> tokens = ReadTokens(path_);
  if (!tokens.ok()) {
    if (!std::exchange(failure_logged_, true)) {
      log::Error("cannot read the token file; the last tokens stay valid",
                 {{"reason", std::string(tokens.status().message())}});
    }
    const absl::MutexLock lock(&mutex_);
    readable_ = false;
    return;
  }
  log::Info("read tokens", {{"count", tokens->size()}, {"file", path_}});
  read_ = before;
  SetGood(std::make_shared<const TokenSet>(*std::move(tokens)));
}

void TokenWatch::SetGood(std::shared_ptr<const TokenSet> fresh) {
  failure_logged_ = false;
  const absl::MutexLock lock(&mutex_);
  last_good_ = clock_();
  readable_ = true;
  if (fresh != nullptr) tokens_ = std::move(fresh);
}

}  // namespace telemetry::access

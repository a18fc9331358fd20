#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "proto/base/steady.h"
#include "server/access/gate.h"
#include "server/access/token_watch.h"

namespace telemetry::web::session {

// The credentials of a request: the value of the session cookie, or an Authorization header. Both may be empty.
struct Credentials {
  std::string cookie;
  std::string authorization;
};

// A reader who may use the API.
struct Reader {
  std::string name;  // of the token; empty: no tokens are used
  absl::Time expires = absl::InfiniteFuture();
};

// The sessions of browsers. A session ends after kLifetime, when its token is revoked or expires, when the reader signs
// out, and when the program ends. Thread-safe.
class SessionStore {
 public:
  static constexpr absl::Duration kLifetime = absl::Hours(12);
  // When there are more sessions, of all tokens or of one, the oldest ends.
  static constexpr size_t kMost = 10000;
  static constexpr size_t kMostOfToken = 100;
  // The most failures to sign in from one network within kFailureWindow.
  static constexpr int kMostFailures = 10;
  static constexpr absl::Duration kFailureWindow = absl::Seconds(10);

  using Clock = std::function<absl::Time()>;

  // `tokens` must outlive the object. nullptr: everybody may read, and nobody signs in.
  explicit SessionStore(const access::TokenWatch* tokens, Clock clock = &absl::Now)
      : tokens_(tokens), clock_(std::move(clock)) {}

  bool is_sign_in_required() const { return tokens_ != nullptr; }

  // A new session and the value of its cookie.
  struct SignedIn {
    Reader reader;
    std::string cookie;  // 64 hex digits
  };
  // Begins a session with a token's text. UNAUTHENTICATED, PERMISSION_DENIED, UNAVAILABLE: see access::Authorize and
  // TokenWatch::CheckReadable. RESOURCE_EXHAUSTED: there were too many failures from this network.
  // FAILED_PRECONDITION: no tokens are used.
  absl::StatusOr<SignedIn> SignIn(std::string_view token, const std::string& network) ABSL_LOCKS_EXCLUDED(mutex_);
  void SignOut(std::string_view cookie) ABSL_LOCKS_EXCLUDED(mutex_);

  // Returns the reader if the credentials are valid now. Errors: those of access::Authorize and
  // TokenWatch::CheckReadable.
  absl::StatusOr<Reader> Admit(const Credentials& credentials) ABSL_LOCKS_EXCLUDED(mutex_);

  size_t size() const ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  struct Session {
    std::string token_id;
    absl::Time expires;
    uint64_t number;
  };
  struct Failures {
    int count = 0;
    SteadyTime until;
  };

  absl::StatusOr<const access::Token*> Authorize(const access::TokenSet& tokens, std::string_view token);
  absl::Status CheckFailures(const std::string& network) ABSL_LOCKS_EXCLUDED(mutex_);
  void CountFailure(const std::string& network, const absl::Status& why) ABSL_LOCKS_EXCLUDED(mutex_);
  void Add(const std::string& cookie, const Session& session) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Remove(uint64_t number) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  std::optional<Session> Find(std::string_view cookie) const ABSL_LOCKS_EXCLUDED(mutex_);

  const access::TokenWatch* const tokens_;
  const Clock clock_;
  access::LogLimit refusal_lines_;
  mutable absl::Mutex mutex_;
  uint64_t last_number_ ABSL_GUARDED_BY(mutex_) = 0;
  // The sessions by the SHA-256 of their cookies, so that the time of a lookup tells nothing about a cookie.
  absl::flat_hash_map<std::string, Session> sessions_ ABSL_GUARDED_BY(mutex_);
  std::map<uint64_t, std::string> by_age_ ABSL_GUARDED_BY(mutex_);  // numbers and keys in sessions_
  absl::flat_hash_map<std::string, Failures> failures_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace telemetry::web::session

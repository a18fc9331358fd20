#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "server/access/token.h"

namespace telemetry::access {

// What a method asks of its caller.
enum class Need { kNothing, kReader, kWriter, kDeleter };

// The page of the metrics port, which needs what a method of a reader needs.
inline constexpr std::string_view kMetricsPage = "/metrics";

// Returns the need of "/package.Service/Method" or kMetricsPage; nullopt: the method stands in no list, and nobody may
// call it.
std::optional<Need> NeedOf(std::string_view method);

// A collector's tokens, to be looked up. Immutable.
class TokenSet {
 public:
  explicit TokenSet(std::vector<Token> tokens);

  // Compares with every token, in constant time each; nullptr: there is none.
  const Token* FindText(std::string_view text) const;
  const Token* FindId(std::string_view id) const;
  const std::vector<Token>& tokens() const { return tokens_; }

 private:
  std::vector<Token> tokens_;
};

// The rules. `token`: the authorization metadata of the call, empty where there is none.
//
// The token with which a call to this method may go on; nullptr: it needs none. UNAUTHENTICATED: no token, or one that
// is unknown, expired or revoked. PERMISSION_DENIED: its role does not allow this method, or nobody may call it.
// Messages say what to do and hold no part of the token.
absl::StatusOr<const Token*> Authorize(const TokenSet& tokens, std::string_view method,
                                       const std::vector<std::string_view>& authorization, absl::Time now);

// PERMISSION_DENIED: the token has no role that this method needs, or nobody may call it.
absl::Status CheckRole(const Token& token, std::string_view method);

// PERMISSION_DENIED: the token is bound to other producers, or another name's token is bound to this one (also one that
// is not valid any more: what it was for is still nobody else's).
// `producer_id`: 16 bytes.
absl::Status AuthorizeProducer(const TokenSet& tokens, const Token& token, std::string_view producer_id);

}  // namespace telemetry::access

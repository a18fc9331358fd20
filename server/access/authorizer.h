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

// The role that a method requires.
enum class Need { kNothing, kReader, kWriter, kDeleter, kCacheWriter, kModel };

// The page of the metrics port, which requires the role reader.
inline constexpr std::string_view kMetricsPage = "/metrics";

// The API of telemetry-web, which requires the role reader.
inline constexpr std::string_view kWebApi = "/api/v1";

// Returns the need of "/package.Service/Method", of kMetricsPage or of kWebApi. Returns nullopt for an unknown method,
// which nobody may call.
std::optional<Need> FindNeed(std::string_view method);

// The tokens of a collector, with lookups. Immutable.
class TokenSet {
 public:
  explicit TokenSet(std::vector<Token> tokens);

  // Returns the token with this text, or nullptr. Compares the text with every token in constant time.
  const Token* FindText(std::string_view text) const;
  const Token* FindId(std::string_view id) const;
  const std::vector<Token>& tokens() const { return tokens_; }

 private:
  std::vector<Token> tokens_;
};

// Returns the token that authorizes a call of this method, or nullptr if the method requires none. `authorization`: the
// values of the call's authorization metadata, empty if there are none. UNAUTHENTICATED: the token is missing, unknown,
// expired or revoked. PERMISSION_DENIED: the token's role does not allow this method, or nobody may call it. The
// messages say what to do and contain no part of the token.
absl::StatusOr<const Token*> Authorize(const TokenSet& tokens, std::string_view method,
                                       const std::vector<std::string_view>& authorization, absl::Time now);

// Returns PERMISSION_DENIED if the token lacks the role that this method requires, or if nobody may call it.
absl::Status CheckRole(const Token& token, std::string_view method);

// Returns PERMISSION_DENIED if the token is bound to other producers, or if a token of another name is bound to this
// one. A token that is no longer valid still reserves its producers for its name. `producer_id`: 16 bytes.
absl::Status AuthorizeProducer(const TokenSet& tokens, const Token& token, std::string_view producer_id);

}  // namespace telemetry::access

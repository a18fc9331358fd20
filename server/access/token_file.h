#pragma once

#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/access/token.h"

namespace telemetry::access {

// Reads the tokens of a file. NOT_FOUND: the file does not exist. PERMISSION_DENIED: other users may read or write the
// file, or this user may not read it. INVALID_ARGUMENT: the content is not a list of tokens. The message names the file
// and the remedy.
absl::StatusOr<std::vector<Token>> ReadTokens(const std::string& path);

// Changes the file under a lock that excludes other changes. Concurrent readers see the old content or the new one. A
// file that does not exist is created with access for this user only. Errors: those of ReadTokens; those of `change`,
// after which the file is unchanged; UNAVAILABLE: the disk failed.
absl::Status ChangeTokens(const std::string& path, const std::function<absl::Status(std::vector<Token>&)>& change);

// A new token.
struct NewToken {
  std::string text;  // for the user of the token; not stored anywhere
  Token token;
};
// Creates a token with a random text. `token` has no id and no sha256; an empty name is replaced by the id. INTERNAL:
// the system has no randomness.
absl::StatusOr<NewToken> MakeNewToken(Token token);

}  // namespace telemetry::access

#pragma once

#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/access/token.h"

namespace telemetry::access {

// The tokens of a file. NOT_FOUND: there is none. PERMISSION_DENIED: other users may read or write it, or this one may
// not. INVALID_ARGUMENT: it holds something else than tokens. The message names the file and what to do.
absl::StatusOr<std::vector<Token>> ReadTokens(const std::string& path);

// Changes the file under a lock that keeps other changes out: whoever reads it meanwhile sees all of them or none. A
// file that is not there is made, for this user alone. Errors: as ReadTokens, those of `change`, which then changes
// nothing, and UNAVAILABLE: the disk.
absl::Status ChangeTokens(const std::string& path, const std::function<absl::Status(std::vector<Token>&)>& change);

// A token that was not there before.
struct NewToken {
  std::string text;  // to be given to whoever is to use it; nothing else keeps it
  Token token;
};
// Makes it up: `token` without id, sha256 and name, which where it is empty is the id. INTERNAL: no randomness.
absl::StatusOr<NewToken> MakeNewToken(Token token);

}  // namespace telemetry::access

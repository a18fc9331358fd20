#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"

namespace telemetry::storage::sqlite {

// The files of a dataset have mode 0600 whatever the umask: other users read the dataset through the collector, which
// requires a token. SQLite gives its log and its shared memory the mode of the database.

// Creates an empty database file of mode 0600 if `path`, with its links resolved, does not exist.
absl::Status MakePrivateFile(const std::string& path);

// Sets mode 0600 on a dataset's files that everybody may access and that belong to this user. Returns their names. An
// older version created such files, with the default umask. A mode without access for everybody, such as 0640, was
// chosen deliberately and stays.
std::vector<std::string> TightenDataset(const std::string& path);

}  // namespace telemetry::storage::sqlite

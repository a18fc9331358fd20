#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"

namespace telemetry::storage {

// The files of a dataset are their owner's alone (mode 0600) whatever the umask: other users read it through the
// collector, which asks them for a token. SQLite gives its log and its shared memory the mode of the database.

// Makes an empty file of mode 0600 for a database where `path`, with its links resolved, names no file.
absl::Status MakePrivateFile(const std::string& path);

// Gives the files of a dataset that everybody may open mode 0600, as far as they belong to this user, and returns
// their names: an older version made them, under the usual umask. A mode without access for everybody, as 0640, was
// chosen by somebody and stays.
std::vector<std::string> TightenDataset(const std::string& path);

}  // namespace telemetry::storage

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/storage/statement.h"
#include "telemetry/v1/dataset.pb.h"

namespace telemetry::storage {

// Turns config keys into ids, and knows which configs a stream has announced. Keys are small and dense, so vectors hold
// what has been seen. Part of a reader: one thread.
class ConfigReader {
 public:
  // The configs that a stream has named so far, by key. The stream may go on over another connection.
  struct Seen {
    std::vector<uint64_t> ids;  // 0: not seen
  };

  explicit ConfigReader(Database& database);

  // From now on `seen` is used and filled, which must live as long; nullptr: the reader's own.
  void Use(Seen* seen) { seen_ = seen == nullptr ? &own_ : seen; }

  // The id of a config. One that is seen for the first time is added to `announced`, with its text, when that is given.
  absl::StatusOr<uint64_t> Id(int64_t config, v1::ExportConfigs* announced);
  // A config, which is not announced thereby. Its text is empty where it has not come.
  absl::StatusOr<v1::Config> Read(int64_t config);

  void Forget() {
    own_ = {};
    ForgetArguments();
  }

 private:
  absl::Status Load(int64_t config, v1::ExportConfigs* announced);
  // Puts `read_` on the config's row; whoever read from it resets it.
  absl::Status Find(int64_t config);
  absl::Status Fill(v1::Config* entry);
  // Appends the text that `arguments`, a JSON array of keys, stands for.
  absl::Status AppendText(std::string_view arguments, std::string* text);
  absl::StatusOr<const std::string*> Argument(int64_t argument);

  void ForgetArguments() {
    arguments_ = {};
    argument_bytes_ = 0;
  }

  Seen own_;
  Seen* seen_ = &own_;
  std::vector<std::string> arguments_;  // by key; empty: not known
  size_t argument_bytes_ = 0;
  Statement read_;
  Statement read_argument_;
};

}  // namespace telemetry::storage

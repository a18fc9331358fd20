#pragma once

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
  explicit ConfigReader(Database& database);

  // The id of a config. One that is seen for the first time is added to `announced`, with its text, when that is given.
  absl::StatusOr<uint64_t> Id(int64_t config, v1::ExportConfigs* announced);
  // A config, which is not announced thereby. Its text is empty where it has not come.
  absl::StatusOr<v1::Config> Read(int64_t config);

  void Forget() {
    ids_ = {};
    arguments_ = {};
  }

 private:
  absl::Status Load(int64_t config, v1::ExportConfigs* announced);
  // Puts `read_` on the config's row; whoever read from it resets it.
  absl::Status Find(int64_t config);
  absl::Status Fill(v1::Config* entry);
  // Appends the text that `arguments`, a JSON array of keys, stands for.
  absl::Status AppendText(std::string_view arguments, std::string* text);
  absl::StatusOr<const std::string*> Argument(int64_t argument);

  std::vector<uint64_t> ids_;           // by key; 0: not seen
  std::vector<std::string> arguments_;  // by key; empty: not seen
  Statement read_;
  Statement read_argument_;
};

}  // namespace telemetry::storage

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/storage/statement.h"
#include "telemetry/v1/dataset.pb.h"

namespace telemetry::storage {

// Turns config keys into ids, and knows which configs a stream has announced. Senders may have different configs under
// one id, so what one sender's rows name is announced again behind another's. Keys are small and dense, so vectors hold
// what has been seen. Part of a reader: one thread.
class ConfigReader {
 public:
  explicit ConfigReader(Database& database);

  // Begins the rows of a sender (0: none).
  void BeginSender(int64_t sender);
  // The id of a config. One that has not been announced yet is added to `announced`, with its text, when that is given.
  absl::StatusOr<uint64_t> Id(int64_t config, v1::ExportConfigs* announced);
  // A config, which is not announced thereby. Its text is empty where it has not come.
  absl::StatusOr<v1::Config> Read(int64_t config);

  void Forget() {
    ids_ = {};
    announced_in_ = {};
    arguments_ = {};
  }

 private:
  absl::Status Load(size_t key, v1::ExportConfigs* announced);
  // Puts `read_` on the config's row; whoever read from it resets it.
  absl::Status Find(int64_t config);
  absl::Status Fill(v1::Config* entry);
  // Sets the text from the columns `arguments` and `unsplit_text`; false: both are NULL.
  absl::StatusOr<bool> FillText(const Statement& row, int arguments, int unsplit, std::string* text);
  // Appends the text that `arguments`, a JSON array of keys, stands for.
  absl::Status AppendText(std::string_view arguments, std::string* text);
  absl::StatusOr<const std::string*> Argument(int64_t argument);

  int64_t sender_ = 0;
  uint32_t round_ = 1;                  // one for each change of the sender
  std::vector<uint64_t> ids_;           // by key; 0: not seen
  std::vector<uint32_t> announced_in_;  // by key: in which round; 0: in none
  std::vector<std::string> arguments_;  // by key; empty: not seen
  Statement read_;
  Statement read_argument_;
  Statement read_nameless_;
};

}  // namespace telemetry::storage

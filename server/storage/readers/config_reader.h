#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/storage/sql/statement.h"
#include "telemetry/v1/dataset.pb.h"

namespace telemetry::storage {

// Turns config keys into ids, and knows which configs a stream has announced. Senders may have different configs under
// one id, so what one sender's rows name is announced again behind another's. Keys are small and dense, so vectors hold
// what has been seen. Part of a reader: one thread.
class ConfigReader {
 public:
  // The configs that a stream has named so far. The stream may go on over another connection. One bit for each config
  // of the dataset, and a bounded number of ids.
  struct Seen {
    struct Entry {
      int64_t config = 0;  // 0: none
      uint64_t id = 0;
    };
    std::vector<Entry> ids;       // each at its key modulo the size
    std::vector<bool> announced;  // by key
    int64_t sender = 0;
  };

  explicit ConfigReader(Database& database);

  // From now on `seen` is used and filled, which must live as long; nullptr: the reader's own.
  void Use(Seen* seen) { seen_ = seen == nullptr ? &own_ : seen; }

  // Begins the rows of a sender (0: none). When the sender changes, no config counts as announced.
  void BeginSender(int64_t sender);
  // The id of a config. One that has not been announced yet is added to `announced`, with its text, when that is given.
  absl::StatusOr<uint64_t> Id(int64_t config, v1::ExportConfigs* announced);
  // A config, which is not announced thereby. Its text is empty where it has not come.
  absl::StatusOr<v1::Config> Read(int64_t config);

  void Forget() {
    own_ = {};
    ForgetArguments();
  }

 private:
  absl::Status Load(int64_t config, v1::ExportConfigs* announced, Seen::Entry* entry);
  // Puts `read_` on the config's row; whoever read from it resets it.
  absl::Status Find(int64_t config);
  absl::Status Fill(v1::Config* entry);
  // Sets the text from the columns `arguments` and `unsplit_text`; false: both are NULL.
  absl::StatusOr<bool> FillText(const Statement& row, int arguments, int unsplit, std::string* text);
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
  Statement read_nameless_;
};

}  // namespace telemetry::storage

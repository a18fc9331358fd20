#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/storage/sql/statement.h"
#include "telemetry/v1/dataset.pb.h"

namespace telemetry::storage::readers {

// Maps config keys to ids, and tracks the configs that a stream has announced. Senders may have different configs under
// one id, so a config that one sender's rows name is announced again after another sender's rows. Keys are small and
// dense, so vectors indexed by key hold the state. Part of a reader: used by one thread.
class ConfigReader {
 public:
  // The configs that a stream has named so far: one bit for each config of the dataset, and a bounded number of ids.
  // The stream may continue over another connection.
  struct Seen {
    struct Entry {
      int64_t config = 0;  // 0: none
      uint64_t id = 0;
    };
    std::vector<Entry> ids;       // each at index key % ids.size()
    std::vector<bool> announced;  // by key
    int64_t sender = 0;
  };

  explicit ConfigReader(sql::Database& database);

  // Uses and fills `seen` from now on; nullptr: the reader's own. `seen` must outlive its use.
  void Use(Seen* seen) { seen_ = seen == nullptr ? &own_ : seen; }

  // Begins the rows of a sender (0: none). If the sender changes, no config counts as announced.
  void BeginSender(int64_t sender);
  // Returns the id of a config. Appends a config that has not been announced yet to `announced`, with its text, unless
  // `announced` is null.
  absl::StatusOr<uint64_t> Id(int64_t config, v1::ExportConfigs* announced);
  // Reads a config without announcing it. Its text is empty if the text has not arrived.
  absl::StatusOr<v1::Config> Read(int64_t config);

  void Forget() {
    own_ = {};
    ForgetArguments();
  }

 private:
  absl::Status Load(int64_t config, v1::ExportConfigs* announced, Seen::Entry* entry);
  // Positions `read_` on the config's row. The caller resets `read_` after reading it.
  absl::Status Find(int64_t config);
  absl::Status Fill(v1::Config* entry);
  // Sets the text from the columns `arguments` and `unsplit_text`. Returns false if both are NULL.
  absl::StatusOr<bool> FillText(const sql::Statement& row, int arguments, int unsplit, std::string* text);
  // Appends the text that `arguments`, a JSON array of argument keys, encodes.
  absl::Status AppendText(std::string_view arguments, std::string* text);
  absl::StatusOr<const std::string*> Argument(int64_t argument);

  void ForgetArguments() {
    arguments_ = {};
    argument_bytes_ = 0;
  }

  Seen own_;
  Seen* seen_ = &own_;
  std::vector<std::string> arguments_;  // by key; empty: not cached
  size_t argument_bytes_ = 0;
  sql::Statement read_;
  sql::Statement read_argument_;
  sql::Statement read_nameless_;
};

}  // namespace telemetry::storage::readers

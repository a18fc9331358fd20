#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "server/storage/readers/key_lookup.h"
#include "server/storage/sql/statement.h"
#include "server/storage/tables/byte_bounded_cache.h"
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
    std::vector<Entry> ids;       // sets of two, the later used one first; a key belongs to set key % (ids.size() / 2)
    std::vector<bool> announced;  // by key
    int64_t sender = 0;
  };

  explicit ConfigReader(sql::Database& database);

  // Uses and fills `seen` from now on; nullptr: the reader's own. `seen` must outlive its use.
  void Use(Seen* seen) {
    seen_ = seen == nullptr ? &own_ : seen;
    rows_.clear();
  }

  // Begins the rows of a sender (0: none). If the sender changes, no config counts as announced.
  void BeginSender(int64_t sender);
  // Returns the id of a config. Appends a config that has not been announced yet to `announced`, with its text, unless
  // `announced` is null.
  absl::StatusOr<uint64_t> Id(int64_t config, v1::ExportConfigs* announced);
  // Reads a config without announcing it. Its text is empty if the text has not arrived.
  absl::StatusOr<v1::Config> Read(int64_t config);
  // Reads the configs that Id() would have to read, with one statement. `configs` are the next ones to be passed to
  // Id(), at most KeyLookup::kKeysAtOnce. `announces`: `announced` will not be null.
  absl::Status Prefetch(absl::Span<const int64_t> configs, bool announces);
  // Does the same for configs that a query of the caller reads: it calls BeginPrefetch(), then AddPrefetched() for each
  // row, whose columns from `column` on are kColumns of the table `configs AS c`.
  static constexpr char kColumns[] = "c.config, c.config_id, c.sender, c.arguments, c.unsplit_text";
  void BeginPrefetch() { rows_.clear(); }
  void AddPrefetched(const sql::Statement& row, int column) { rows_[row.Int(column)] = ReadRow(row, column); }

  void Forget() {
    own_ = {};
    rows_.clear();
    arguments_.clear();
  }

 private:
  // A row of configs.
  struct Row {
    uint64_t id = 0;
    int64_t sender = 0;
    std::optional<std::string> arguments, unsplit;  // nullopt: NULL
  };

  static Row ReadRow(const sql::Statement& row, int column = 0);
  // Returns true if the id of the config is remembered.
  bool IsRemembered(int64_t config) const;
  // Returns the entry of the config, which becomes the first of its set, or else an entry to replace.
  Seen::Entry* EntryFor(int64_t config);
  bool IsAnnounced(int64_t config) const;
  absl::Status Load(int64_t config, v1::ExportConfigs* announced, Seen::Entry* entry);
  // Returns the config's row, which is valid until the next call.
  absl::StatusOr<const Row*> Find(int64_t config);
  absl::Status Fill(const Row& row, v1::Config* entry);
  // Sets the text from the stored columns. Returns false if both are NULL.
  absl::StatusOr<bool> FillText(const Row& row, std::string* text);
  // Appends the text that `arguments`, a JSON array of argument keys, encodes.
  absl::Status AppendText(std::string_view arguments, std::string* text);
  // Returns the text of an argument, which is valid until the next call.
  absl::StatusOr<const std::string*> Argument(int64_t argument);

  Seen own_;
  Seen* seen_ = &own_;
  // The texts of arguments by key. Many configs share an argument, so an export keeps them from one step to the next.
  tables::ByteBoundedCache<int64_t, std::string> arguments_;
  std::string found_argument_;              // the text of an argument that is too large for the cache
  absl::flat_hash_map<int64_t, Row> rows_;  // by key: those of the last Prefetch()
  Row found_;
  sql::Statement read_;
  KeyLookup read_many_;
  sql::Statement read_argument_;
  sql::Statement read_nameless_;
};

}  // namespace telemetry::storage::readers

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "server/storage/removal.h"
#include "server/storage/sql/database.h"
#include "telemetry/v1/deletion.pb.h"

namespace telemetry::storage::readers {

// A search for the attempts that a DeleteRequest names. Finds a few at a time, so that memory use and transactions stay
// small. Used by one thread at a time.
class Deletion {
 public:
  static constexpr int kMostNames = 1000;

  // Checks that each name matches something. Returns the errors of DeletionService.Delete; the message of NOT_FOUND
  // suggests a similar name. Runs in the caller's transaction.
  static absl::StatusOr<Deletion> Begin(sql::Database& database, const v1::DeleteRequest& request);

  // Returns the next attempts, at most as many as one transaction may remove; possibly none. Runs in the caller's
  // transaction.
  absl::StatusOr<Removal> Next(sql::Database& database);
  // Returns true if no attempt is left to be found.
  bool done() const { return at_ == names_.size(); }

  // Returns the largest attempt key that this deletion covers. Attempts with larger keys stay.
  int64_t through() const { return through_; }

 private:
  enum class Kind { kRun, kAttempt, kOrigin };
  struct Name {
    Kind kind;
    std::string value;  // a run_id of 64 digits, an attempt_id of 16 bytes, or an origin
  };

  // Adds the attempts from key `first` to `last` that match the current name and no earlier name.
  absl::Status Find(sql::Database& database, int64_t first, int64_t last, Removal& removal);
  static bool IsNamedBy(const Name& name, const v1::DeletedAttempt& attempt);

  std::vector<Name> names_;
  int64_t through_ = 0;
  size_t at_ = 0;          // index of the current name
  int64_t looked_at_ = 0;  // the current name's attempts up to this key were found
};

}  // namespace telemetry::storage::readers

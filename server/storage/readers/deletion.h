#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "server/storage/removal.h"
#include "server/storage/sql/database.h"
#include "telemetry/v1/deletion.pb.h"

namespace telemetry::storage {

// A search for the attempts that a DeleteRequest names, a few at a time, so that memory and transactions stay small.
// Used by one thread at a time.
class Deletion {
 public:
  static constexpr int kMostNames = 1000;

  // Checks that each name fits something. Returns the errors of DeletionService.Delete; the message of NOT_FOUND
  // suggests a similar name. Runs in the caller's transaction.
  static absl::StatusOr<Deletion> Begin(Database& database, const v1::DeleteRequest& request);

  // Finds the next attempts, as many as one transaction may remove; there may be none. Runs in the caller's
  // transaction.
  absl::StatusOr<Removal> Next(Database& database);
  // Returns true if no attempt is left to be found.
  bool done() const { return at_ == names_.size(); }

  // Attempts with larger keys stay.
  int64_t through() const { return through_; }

 private:
  enum class Kind { kRun, kAttempt, kOrigin };
  struct Name {
    Kind kind;
    std::string value;  // a run_id of 64 digits, an attempt_id of 16 bytes, an origin
  };

  // Adds the attempts from key `first` to `last` that the current name fits, without those of an earlier name.
  absl::Status Find(Database& database, int64_t first, int64_t last, Removal& removal);
  static bool IsNamedBy(const Name& name, const v1::DeletedAttempt& attempt);

  std::vector<Name> names_;
  int64_t through_ = 0;
  size_t at_ = 0;          // the name that is looked at
  int64_t looked_at_ = 0;  // its attempts up to this key were found
};

}  // namespace telemetry::storage

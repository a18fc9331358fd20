#pragma once

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "server/storage/sqlite/sqlite_store.h"
#include "server/storage/store.h"

namespace telemetry::storage {

// A dataset for a test, of either kind. It is removed when the test ends.
class TestDataset {
 public:
  virtual ~TestDataset() = default;

  virtual absl::StatusOr<std::unique_ptr<StoreWriter>> OpenWriter() = 0;
  virtual absl::StatusOr<std::unique_ptr<StoreReader>> OpenReader() = 0;
  // Returns the first column of a query's first row, as text.
  virtual std::string Query(const std::string& sql) = 0;
  // Returns the value for --db: a file's path, or a URL.
  virtual const std::string& db() const = 0;
};

// Creates a dataset in a SQLite file.
std::unique_ptr<TestDataset> NewSqliteDataset(const sqlite::WriterOptions& options);
// Creates a dataset in its own database on the PostgreSQL server whose URL is in TELEMETRY_TEST_POSTGRESQL.
std::unique_ptr<TestDataset> NewPostgresqlDataset();
// Creates a dataset on that server if TELEMETRY_TEST_POSTGRESQL is set, otherwise in a file.
std::unique_ptr<TestDataset> NewTestDataset(const sqlite::WriterOptions& options);

}  // namespace telemetry::storage

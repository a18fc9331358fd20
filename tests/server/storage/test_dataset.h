#pragma once

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "server/storage/sqlite/sqlite_store.h"
#include "server/storage/store.h"

namespace telemetry::storage {

// Where a test's dataset is kept, gone when the test is over.
class TestDataset {
 public:
  virtual ~TestDataset() = default;

  virtual absl::StatusOr<std::unique_ptr<StoreWriter>> OpenWriter() = 0;
  virtual absl::StatusOr<std::unique_ptr<StoreReader>> OpenReader() = 0;
  // The first column of a query's first row, as text.
  virtual std::string Query(const std::string& sql) = 0;
  // What --db takes: a file's path, or a url.
  virtual const std::string& db() const = 0;
};

// In a SQLite file.
std::unique_ptr<TestDataset> NewSqliteDataset(const WriterOptions& options);
// In a database of its own on the PostgreSQL server that a url in TELEMETRY_TEST_POSTGRESQL names.
std::unique_ptr<TestDataset> NewPostgresqlDataset();
// On the server where there is one, else in a file.
std::unique_ptr<TestDataset> NewTestDataset(const WriterOptions& options);

}  // namespace telemetry::storage

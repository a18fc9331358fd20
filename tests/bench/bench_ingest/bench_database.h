#pragma once

#include <memory>
#include <string>

#include "server/storage/postgresql/pg_database.h"

namespace telemetry::bench {

// A database created on a PostgreSQL server; the destructor drops it. Ends the program if the server refuses.
class BenchDatabase {
 public:
  // `server` is the URL of any database on the server, with a user that may create databases.
  explicit BenchDatabase(const std::string& server);
  ~BenchDatabase();
  BenchDatabase(const BenchDatabase&) = delete;
  BenchDatabase& operator=(const BenchDatabase&) = delete;

  const std::string& url() const { return url_; }

  // Creates the dataset's schema, as a collector does when it starts.
  void MakeSchema() const;

 private:
  const std::unique_ptr<storage::postgresql::PgDatabase> server_;
  const std::string name_;
  const std::string url_;
};

}  // namespace telemetry::bench

#pragma once

#include <memory>
#include <string>

#include "server/storage/postgresql/pg_database.h"

namespace telemetry::bench {

// A database of its own on a PostgreSQL server, dropped behind it. Ends the program where the server refuses.
class BenchDatabase {
 public:
  // `server`: a url of any database there, of a user who may make others.
  explicit BenchDatabase(const std::string& server);
  ~BenchDatabase();
  BenchDatabase(const BenchDatabase&) = delete;
  BenchDatabase& operator=(const BenchDatabase&) = delete;

  const std::string& url() const { return url_; }

  // Makes the dataset's schema, as a collector does when it begins.
  void MakeSchema() const;

 private:
  const std::unique_ptr<storage::PgDatabase> server_;
  const std::string name_;
  const std::string url_;
};

}  // namespace telemetry::bench

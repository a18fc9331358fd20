#pragma once

#include <string>

namespace telemetry {

// A PostgreSQL server of a test's own, which it may kill. Not thread-safe. Ends the program when the server does not do
// as it is told.
class PostgresqlServer {
 public:
  // Starts one with an empty database. `folder` is made, and must not be long: the server's socket is in it.
  explicit PostgresqlServer(std::string folder);
  // Stops it and removes the folder.
  ~PostgresqlServer();
  PostgresqlServer(const PostgresqlServer&) = delete;
  PostgresqlServer& operator=(const PostgresqlServer&) = delete;

  // postgresql://..., of its superuser
  std::string url() const { return "postgresql://postgres@/postgres?host=" + folder_; }

  // kill -9 of all its processes.
  void Kill() { Run("kill"); }
  // Starts it again; returns when it has recovered.
  void Resume() { Run("resume"); }

 private:
  void Run(const std::string& command) const;

  const std::string folder_;
};

}  // namespace telemetry

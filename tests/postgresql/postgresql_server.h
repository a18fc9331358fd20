#pragma once

#include <string>

namespace telemetry {

// A PostgreSQL server for a single test, which may kill it. Not thread-safe. Ends the program if a command to the
// server fails.
class PostgresqlServer {
 public:
  // Starts a server with an empty database. Creates `folder`; its path must be short, because it contains the server's
  // socket.
  explicit PostgresqlServer(std::string folder);
  // Starts a standby of `primary`.
  PostgresqlServer(std::string folder, const PostgresqlServer& primary);
  // Stops the server and removes the folder.
  ~PostgresqlServer();
  PostgresqlServer(const PostgresqlServer&) = delete;
  PostgresqlServer& operator=(const PostgresqlServer&) = delete;

  // Returns the postgresql:// URL of the server with its superuser.
  std::string url() const { return "postgresql://postgres@/postgres?host=" + folder_; }

  // Returns a URL that names both servers.
  std::string UrlWith(const PostgresqlServer& other) const { return url() + "," + other.folder_; }

  // Makes a standby the primary. Returns when it accepts writes.
  void Promote() { Run("promote"); }
  // Sends SIGKILL to all processes of the server.
  void Kill() { Run("kill"); }
  // Restarts the server. Returns when it has recovered.
  void Resume() { Run("resume"); }

 private:
  void Run(const std::string& command, const std::string& argument = "") const;

  const std::string folder_;
};

}  // namespace telemetry

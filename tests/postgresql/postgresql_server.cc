#include "tests/postgresql/postgresql_server.h"

#include <cstdio>
#include <cstdlib>
#include <utility>

#include "tests/paths.h"

namespace telemetry {

PostgresqlServer::PostgresqlServer(std::string folder) : folder_(std::move(folder)) { Run("start"); }

PostgresqlServer::PostgresqlServer(std::string folder, const PostgresqlServer& primary) : folder_(std::move(folder)) {
  Run("standby", primary.folder_);
}

PostgresqlServer::~PostgresqlServer() { Run("stop"); }

void PostgresqlServer::Run(const std::string& command, const std::string& argument) const {
  const std::string line = TestdataDir() + "/../postgresql/server " + command + " " + folder_ + " " + argument;
  if (std::system(line.c_str()) == 0) return;
  std::fprintf(stderr, "failed: %s\n", line.c_str());
  std::abort();
}

}  // namespace telemetry

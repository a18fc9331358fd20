#include "tests/postgresql/postgresql_server.h"

#include <cstdio>
#include <cstdlib>
#include <utility>

#include "tests/paths.h"

namespace telemetry {

PostgresqlServer::PostgresqlServer(std::string folder) : folder_(std::move(folder)) { Run("start"); }

PostgresqlServer::~PostgresqlServer() { Run("stop"); }

void PostgresqlServer::Run(const std::string& command) const {
  const std::string line = TestdataDir() + "/../postgresql/server " + command + " " + folder_;
  if (std::system(line.c_str()) == 0) return;
  std::fprintf(stderr, "failed: %s\n", line.c_str());
  std::abort();
}

}  // namespace telemetry

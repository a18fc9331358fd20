#include "tests/bench/bench_ingest/bench_database.h"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "server/storage/postgresql/postgresql_store.h"

namespace telemetry::bench {
namespace {

void Require(const absl::Status& status) {
  if (status.ok()) return;
  std::fprintf(stderr, "%s\n", status.ToString().c_str());
  std::exit(1);
}

std::unique_ptr<storage::postgresql::PgDatabase> Connect(const std::string& url) {
  absl::StatusOr<std::unique_ptr<storage::postgresql::PgDatabase>> database =
      storage::postgresql::PgDatabase::Open(url);
  Require(database.status());
  return *std::move(database);
}

std::string NewName() {
  static int count = 0;
  return absl::StrCat("telemetry_bench_", getpid(), "_", ++count);
}

// Returns the URL of another database. The parameter dbname overrides the database in the path.
std::string WithDatabase(const std::string& url, const std::string& name) {
  return absl::StrCat(url, absl::StrContains(url, '?') ? "&" : "?", "dbname=", name);
}

}  // namespace

BenchDatabase::BenchDatabase(const std::string& server)
    : server_(Connect(server)), name_(NewName()), url_(WithDatabase(server, name_)) {
  Require(server_->Execute(absl::StrCat("CREATE DATABASE ", name_).c_str()));
}

BenchDatabase::~BenchDatabase() { Require(server_->Execute(absl::StrCat("DROP DATABASE ", name_).c_str())); }

void BenchDatabase::MakeSchema() const { Require(storage::postgresql::OpenPostgresqlWriter(url_).status()); }

}  // namespace telemetry::bench

#include "server/storage/postgresql/connection.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <string_view>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace telemetry::storage::postgresql {
namespace {

// Connection parameters unless the URL sets them. They detect a server that became unreachable without closing the
// connection.
constexpr std::array<std::pair<const char*, const char*>, 6> kDefaults = {{
    {"application_name", "autotune-telemetry"},
    {"connect_timeout", "10"},
    {"keepalives_idle", "10"},
    {"keepalives_interval", "5"},
    {"keepalives_count", "3"},
    {"tcp_user_timeout", "30000"},
}};

// Settings of each connection.
// - lock_timeout: a lock belongs to another collector's transaction; a crashed collector holds it until the server
//   notices.
// - plan_cache_mode, enable_*, max_parallel_*: all statements find rows by keys, and joins follow the keys row by row.
//   A plan that is made once is as good as one for each value. If there are partitions, planning for each value takes
//   ten times as long as most of these statements. Such a generic plan expects too many rows and would prefer a
//   sequential scan.
// - tcp_keepalives_*: the server notices within half a minute that this machine has died, and releases its locks.
// - synchronous_commit: an acknowledged record is on the server's disk, even if the server's default does not require
//   it.
constexpr char kSetUp[] =
    "SET lock_timeout = '30s';"
    "SET plan_cache_mode = force_generic_plan;"
    "SET enable_hashjoin = off;"
    "SET enable_mergejoin = off;"
    "SET max_parallel_workers_per_gather = 0;"
    "SET idle_in_transaction_session_timeout = '60s';"
    "SET tcp_keepalives_idle = 10;"
    "SET tcp_keepalives_interval = 5;"
    "SET tcp_keepalives_count = 3;"
    "SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off'";

// The status code for an SQLSTATE, matched by prefix: complete codes first, then their classes.
struct Meaning {
  std::string_view sqlstate;
  absl::StatusCode code;
};
constexpr Meaning kMeanings[] = {
    {"40001", absl::StatusCode::kAborted},      // serialization_failure
    {"40P01", absl::StatusCode::kAborted},      // deadlock_detected
    {"55P03", absl::StatusCode::kAborted},      // lock_not_available
    {"57014", absl::StatusCode::kAborted},      // query_canceled
    {"23503", absl::StatusCode::kAborted},      // foreign_key_violation: another writer removed the referenced row
    {"23505", absl::StatusCode::kAborted},      // unique_violation: another writer inserted the same row
    {"25006", absl::StatusCode::kUnavailable},  // read_only_sql_transaction: a standby, which may become the primary
    {"25P03", absl::StatusCode::kUnavailable},  // idle_in_transaction_session_timeout
    {"42501", absl::StatusCode::kPermissionDenied},  // insufficient_privilege
    {"3D000", absl::StatusCode::kNotFound},          // invalid_catalog_name
    {"58030", absl::StatusCode::kUnavailable},       // io_error
    {"08", absl::StatusCode::kUnavailable},          // connection exceptions
    {"53", absl::StatusCode::kUnavailable},          // insufficient resources
    {"57P", absl::StatusCode::kUnavailable},         // the server is shutting down or starting
    {"28", absl::StatusCode::kPermissionDenied},     // invalid authorization
    {"XX", absl::StatusCode::kDataLoss},             // data or an index is corrupted
};

std::atomic<uint64_t> lost = 0;

absl::StatusCode SqlStateToStatusCode(std::string_view sqlstate) {
  if (sqlstate == "XX000") return absl::StatusCode::kInternal;
  const auto* const meaning = std::find_if(std::begin(kMeanings), std::end(kMeanings),
                                           [&](const Meaning& known) { return sqlstate.starts_with(known.sqlstate); });
  return meaning == std::end(kMeanings) ? absl::StatusCode::kInternal : meaning->code;
}

std::string OneLine(const char* message) {
  std::string line(absl::StripAsciiWhitespace(message));
  std::replace(line.begin(), line.end(), '\n', ' ');
  return line;
}

}  // namespace

PgConnection::PgConnection(std::string url, Target target) : url_(std::move(url)), target_(target) {}

absl::Status PgConnection::Connect() {
  std::array<const char*, kDefaults.size() + 4> keys = {};
  std::array<const char*, kDefaults.size() + 4> values = {};
  size_t count = 0;
  for (const auto& [key, value] : kDefaults) {
    keys[count] = key;
    values[count++] = value;
  }
  keys[count] = "target_session_attrs";
  values[count++] = target_ == Target::kReadWrite ? "read-write" : "any";
  // Later parameters take precedence: the URL over the defaults, and the encoding over the URL.
  keys[count] = "dbname";
  values[count++] = url_.c_str();
  keys[count] = "client_encoding";
  values[count++] = "UTF8";
  connection_.reset(PQconnectdbParams(keys.data(), values.data(), /*expand_dbname=*/1));
  ++generation_;
  if (alive()) {
    absl::Status status = SetUp();
    // A connection without these settings must not be used.
    if (!status.ok()) connection_.reset();
    return status;
  }
  const std::string why = OneLine(PQerrorMessage(connection_.get()));
  // When a connection fails, libpq reports the reason only as text.
  const bool refused = absl::StrContains(why, "authentication") || absl::StrContains(why, "password") ||
                       absl::StrContains(why, "pg_hba") || absl::StrContains(why, "role \"");
  const bool missing = absl::StrContains(why, "database \"") && absl::StrContains(why, "does not exist");
  return absl::Status(missing   ? absl::StatusCode::kNotFound
                      : refused ? absl::StatusCode::kPermissionDenied
                                : absl::StatusCode::kUnavailable,
                      absl::StrCat("PostgreSQL: ", why));
}

absl::Status PgConnection::SetUp() {
  if (std::string_view(PQparameterStatus(connection_.get(), "server_encoding")) != "UTF8") {
    return absl::FailedPreconditionError("PostgreSQL: the database's encoding is not UTF8: create one with it");
  }
  return Execute(kSetUp).status();
}

absl::Status PgConnection::Restore() { return alive() ? absl::OkStatus() : Reconnect(); }

absl::Status PgConnection::Reconnect() {
  ++lost;
  return Connect();
}

// All calls of libpq that run a statement first discard the result of an earlier one.
void PgConnection::Send(const char* sql) { PQsendQuery(handle(), sql); }

uint64_t PgConnection::connections_lost() { return lost; }

absl::StatusOr<PgResult> PgConnection::Execute(const char* sql) { return Check(PQexec(connection_.get(), sql)); }

absl::StatusOr<PgResult> PgConnection::Check(PGresult* result) const {
  PgResult owned(result);
  switch (PQresultStatus(result)) {
    case PGRES_COMMAND_OK:
    case PGRES_TUPLES_OK:
    case PGRES_COPY_IN:
      return owned;
    default:
      break;
  }
  const char* const sqlstate = result == nullptr ? nullptr : PQresultErrorField(result, PG_DIAG_SQLSTATE);
  const std::string why = OneLine(result == nullptr ? PQerrorMessage(connection_.get()) : PQresultErrorMessage(result));
  if (!alive() || sqlstate == nullptr) return absl::UnavailableError(absl::StrCat("PostgreSQL: ", why));
  return absl::Status(SqlStateToStatusCode(sqlstate), absl::StrCat("PostgreSQL: ", why, " (", sqlstate, ")"));
}

}  // namespace telemetry::storage::postgresql

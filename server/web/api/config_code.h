#pragma once

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "server/storage/sql/attempt_key.h"
#include "server/storage/sql/database.h"
#include "server/storage/sql/statement.h"
#include "server/web/json/json_writer.h"

namespace telemetry::web::api {

// Reads the generated code that searches stored of a config: the texts in the values of their events "code", whose
// value "config" is the config (client/python/README.md, Format of the lines).
class ConfigCode {
 public:
  ConfigCode(storage::sql::Database& dataset, uint64_t config_id);

  // Appends an object for each text of an attempt. Only the last 100 events of an attempt are read, because a search
  // stores code at its end. Events of more than 4 MiB and of another form are left out, and all after 4 MiB of code.
  absl::Status Write(const storage::sql::AttemptKey& key, const std::string& attempt_id, json::JsonWriter& out);

 private:
  storage::sql::Statement events_;
  const uint64_t config_id_;
  size_t bytes_ = 0;  // of the texts written
};

}  // namespace telemetry::web::api

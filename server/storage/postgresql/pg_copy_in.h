#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "server/storage/postgresql/connection.h"

namespace telemetry::storage {

// Many rows into one table at once: COPY ... FROM STDIN, in the transaction that the connection is in. Keys that the
// server would give by itself are taken as they come. Values are appended column by column, in the order of `columns`;
// the server gives each the type of its column. Errors are PgConnection's.
class PgCopyIn {
 public:
  // `connection` must outlive this.
  explicit PgCopyIn(PgConnection& connection) : connection_(connection) {}
  PgCopyIn(const PgCopyIn&) = delete;
  PgCopyIn& operator=(const PgCopyIn&) = delete;
  // Rows that were not finished are not stored; the transaction has failed then.
  ~PgCopyIn();

  // `columns`: their names, with commas between. Not while another one is under way on this connection.
  absl::Status Begin(const std::string& table, const std::string& columns);

  void AppendNull();
  void Append(int64_t value);
  void Append(double value);
  void AppendText(std::string_view text);
  void AppendBytes(std::string_view bytes);
  absl::Status EndRow();

  // The rows are in the table when this is OK.
  absl::Status Finish();

 private:
  void BeginValue();
  absl::Status Flush();
  // The server's word on the whole; also where it had refused before.
  absl::Status End(const char* why_not);

  PgConnection& connection_;
  bool under_way_ = false;
  bool row_begun_ = false;
  std::string buffer_;  // in COPY's text format
};

}  // namespace telemetry::storage

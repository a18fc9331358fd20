#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "server/storage/postgresql/connection.h"

namespace telemetry::storage::postgresql {

// A bulk insert of rows into one table: COPY ... FROM STDIN, in the transaction that the connection is in. Generated
// keys can be set explicitly. Values are appended column by column, in the order of `columns`; the server converts each
// to the type of its column. Errors are those of PgConnection.
class PgCopyIn {
 public:
  // `connection` must outlive this object.
  explicit PgCopyIn(PgConnection& connection) : connection_(connection) {}
  PgCopyIn(const PgCopyIn&) = delete;
  PgCopyIn& operator=(const PgCopyIn&) = delete;
  // Aborts an unfinished COPY: its rows are not stored, and the transaction has failed.
  ~PgCopyIn();

  // Begins a COPY into `columns` (names separated by commas). No other COPY may be in progress on this connection.
  absl::Status Begin(const std::string& table, const std::string& columns);

  void AppendNull();
  void Append(int64_t value);
  void Append(double value);
  void AppendText(std::string_view text);
  void AppendBytes(std::string_view bytes);
  absl::Status EndRow();

  // Ends the COPY. The rows are in the table if the result is OK.
  absl::Status Finish();

 private:
  void BeginValue();
  absl::Status Flush();
  // Returns the server's result for the COPY, also if the server has already refused it.
  absl::Status End(const char* why_not);

  PgConnection& connection_;
  bool under_way_ = false;
  bool row_begun_ = false;
  std::string buffer_;  // in COPY's text format
};

}  // namespace telemetry::storage::postgresql

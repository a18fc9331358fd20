#include "server/storage/postgresql/pg_copy_in.h"

#include <array>
#include <charconv>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "proto/record/ids.h"

namespace telemetry::storage::postgresql {
namespace {

constexpr size_t kFlushBytes = size_t{64} << 10;

// Returns the escape letter of a character that is special in COPY's text format, or NUL.
char EscapeLetter(char c) {
  switch (c) {
    case '\\':
      return '\\';
    case '\n':
      return 'n';
    case '\r':
      return 'r';
    case '\t':
      return 't';
    default:
      return '\0';
  }
}

}  // namespace

PgCopyIn::~PgCopyIn() {
  if (under_way_) End("given up").IgnoreError();
}

absl::Status PgCopyIn::Begin(const std::string& table, const std::string& columns) {
  const std::string sql = absl::StrCat("COPY ", table, " (", columns, ") FROM STDIN");
  absl::Status status = connection_.Execute(sql.c_str()).status();
  under_way_ = status.ok();
  return status;
}

void PgCopyIn::BeginValue() {
  if (row_begun_) buffer_.push_back('\t');
  row_begun_ = true;
}

void PgCopyIn::AppendNull() {
  BeginValue();
  buffer_.append("\\N");
}

void PgCopyIn::Append(int64_t value) {
  BeginValue();
  absl::StrAppend(&buffer_, value);
}

void PgCopyIn::Append(double value) {
  BeginValue();
  if (!std::isfinite(value)) {
    buffer_.append(std::isnan(value) ? "NaN" : value > 0 ? "Infinity" : "-Infinity");
    return;
  }
  // The shortest text that converts back to the same number.
  std::array<char, 32> text;
  const std::to_chars_result end = std::to_chars(text.data(), text.data() + text.size(), value);
  buffer_.append(text.data(), end.ptr);
}

void PgCopyIn::AppendText(std::string_view text) {
  BeginValue();
  for (const char c : text) {
    if (const char escape = EscapeLetter(c)) {
      buffer_.push_back('\\');
      buffer_.push_back(escape);
    } else {
      buffer_.push_back(c);
    }
  }
}

void PgCopyIn::AppendBytes(std::string_view bytes) {
  BeginValue();
  absl::StrAppend(&buffer_, "\\\\x", record::HexEncode(bytes));
}

absl::Status PgCopyIn::EndRow() {
  buffer_.push_back('\n');
  row_begun_ = false;
  return buffer_.size() < kFlushBytes ? absl::OkStatus() : Flush();
}

absl::Status PgCopyIn::Flush() {
  const int result = PQputCopyData(connection_.handle(), buffer_.data(), static_cast<int>(buffer_.size()));
  buffer_.clear();
  return result == 1 ? absl::OkStatus() : End("given up");
}

absl::Status PgCopyIn::Finish() {
  absl::Status status = Flush();
  return status.ok() ? End(nullptr) : status;
}

absl::Status PgCopyIn::End(const char* why_not) {
  under_way_ = false;
  PQputCopyEnd(connection_.handle(), why_not);
  absl::Status status;
  while (PGresult* const result = PQgetResult(connection_.handle())) {
    if (absl::Status of_one = connection_.Check(result).status(); status.ok()) status = of_one;
    // A lost connection never ends the COPY.
    if (PQstatus(connection_.handle()) != CONNECTION_OK) break;
  }
  return status.ok() && why_not != nullptr ? absl::UnavailableError("PostgreSQL: COPY was aborted") : status;
}

}  // namespace telemetry::storage::postgresql

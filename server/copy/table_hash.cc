#include "server/copy/table_hash.h"

#include <bit>
#include <string_view>

#include "proto/base/status_macros.h"
#include "proto/record/stream_hash.h"
#include "server/copy/row_reader.h"

namespace telemetry::copy {
namespace {

constexpr size_t kPieceBytes = size_t{64} << 10;

void AppendNumber(uint64_t bits, std::string* out) {
  for (int shift = 56; shift >= 0; shift -= 8) out->push_back(static_cast<char>(bits >> shift & 0xff));
}

// Appends one value in a form in which no two sequences of values yield equal bytes.
void AppendValue(const storage::sql::Statement& row, int column, ColumnType type, std::string* out) {
  if (row.IsNull(column)) return out->push_back('n');
  switch (type) {
    case ColumnType::kInteger:
      out->push_back('i');
      return AppendNumber(static_cast<uint64_t>(row.Int(column)), out);
    case ColumnType::kReal:
      out->push_back('r');
      return AppendNumber(std::bit_cast<uint64_t>(row.Double(column)), out);
    case ColumnType::kText:
    case ColumnType::kBytes: {
      const std::string_view bytes = type == ColumnType::kText ? row.Text(column) : row.Bytes(column);
      out->push_back(type == ColumnType::kText ? 't' : 'b');
      AppendNumber(bytes.size(), out);
      out->append(bytes);
      return;
    }
  }
}

}  // namespace

absl::StatusOr<TableHash> HashTable(storage::sql::Database& database, const DatasetTable& table) {
  TableHash result;
  record::StreamHash hash;
  RowReader reader(database, table);
  std::string piece;
  while (true) {
    ASSIGN_OR_RETURN(const bool row, reader.Step());
    if (!row) break;
    ++result.rows;
    for (size_t i = 0; i < table.columns.size(); ++i) {
      AppendValue(reader.row(), static_cast<int>(i), table.columns[i].type, &piece);
    }
    if (piece.size() < kPieceBytes) continue;
    hash.Update(piece);
    piece.clear();
  }
  hash.Update(piece);
  ASSIGN_OR_RETURN(std::string hex, hash.Hex());
  result.sha256_hex = std::move(hex);
  return result;
}

}  // namespace telemetry::copy

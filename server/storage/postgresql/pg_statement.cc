#include "server/storage/postgresql/pg_statement.h"

#include <bit>
#include <utility>

#include "absl/strings/str_cat.h"
#include "proto/base/status_macros.h"
#include "server/storage/postgresql/pg_integer.h"
#include "server/storage/postgresql/pg_types.h"

namespace telemetry::storage::postgresql {
namespace {

constexpr int kBinary = 1;

// Returns the size of an integer type in bytes; 0: not an integer type.
size_t IntegerBytes(Oid type) {
  switch (type) {
    case kPgBool:
      return 1;
    case kPgInt2:
      return 2;
    case kPgInt4:
      return 4;
    case kPgInt8:
      return 8;
    default:
      return 0;
  }
}

// Reads an integer of any size, most significant byte first.
int64_t ReadInteger(std::string_view bytes) {
  if (bytes.empty()) return 0;
  if (bytes.size() == 8) {  // almost always: the compiler makes one instruction of this loop
    uint64_t value = 0;
    for (size_t i = 0; i < 8; ++i) value = value << 8 | static_cast<unsigned char>(bytes[i]);
    return static_cast<int64_t>(value);
  }
  int64_t value = static_cast<signed char>(bytes.front());
  for (const char byte : bytes.substr(1)) value = value * 256 + static_cast<unsigned char>(byte);
  return value;
}

}  // namespace

PgStatement::PgStatement(PgConnection& connection, PgBulkInserts& bulk_inserts, std::string name, PgSql sql,
                         PgBulkRows* rows)
    : connection_(connection),
      base_name_(std::move(name)),
      sql_(std::move(sql)),
      bulk_inserts_(bulk_inserts),
      bulk_rows_(rows),
      values_(sql_.parameters) {}

PgStatement::~PgStatement() {
  // During a COPY, another command would lose the COPY's result.
  if (prepared_on_ != connection_.generation() || !connection_.alive() || bulk_inserts_.is_copying()) return;
  // In a failed transaction the server refuses this, and keeps the statement as long as the connection lives.
  connection_.Execute(absl::StrCat("DEALLOCATE ", name_).c_str()).IgnoreError();
}

PgStatement::Value* PgStatement::ValueAt(int index) {
  if (index >= 1 && index <= sql_.parameters) return &values_[index - 1];
  if (bound_.ok()) bound_ = absl::InternalError(absl::StrCat("no parameter ", index, " in: ", sql_.text));
  return nullptr;
}

void PgStatement::BindNumber(int index, Oid type, uint64_t bits) {
  Value* const value = ValueAt(index);
  if (value == nullptr) return;
  value->null = false;
  value->type = type;
  value->at.reset();
  for (auto byte = value->number.rbegin(); byte != value->number.rend(); ++byte, bits >>= 8) {
    *byte = static_cast<char>(bits & 0xff);
  }
}

void PgStatement::Bind(int index, int64_t value) { BindNumber(index, kPgInt8, static_cast<uint64_t>(value)); }

void PgStatement::Bind(int index, double value) { BindNumber(index, kPgFloat8, std::bit_cast<uint64_t>(value)); }

void PgStatement::Bind(int index, std::string_view text) {
  if (Value* const value = ValueAt(index)) *value = {.type = kPgText, .at = text, .null = false};
}

void PgStatement::Bind(int index, sql::Blob blob) {
  if (Value* const value = ValueAt(index)) *value = {.type = kPgBytes, .at = blob.bytes, .null = false};
}

void PgStatement::Bind(int index, std::nullopt_t /*null*/) {
  if (Value* const value = ValueAt(index)) value->null = true;
}

void PgStatement::Bind(int index, const PgArray& array) {
  if (Value* const value = ValueAt(index)) *value = {.type = array.type(), .at = array.bytes(), .null = false};
}

void PgStatement::BindRun(int64_t run) { Bind(sql_.run_parameter, run); }

absl::StatusOr<bool> PgStatement::Step() {
  if (result_ == nullptr) {
    RETURN_IF_ERROR(Run());
  }
  // A buffered row has no result.
  if (result_ != nullptr && ++row_ < PQntuples(result_.get())) return true;
  Reset();
  return false;
}

void PgStatement::Reset() {
  result_.reset();
  row_ = -1;
}

absl::Status PgStatement::MakeReady() {
  if (described_on_ == connection_.generation()) return absl::OkStatus();
  RETURN_IF_ERROR(bulk_inserts_.FinishCopy());
  absl::Status status = prepared_on_ == connection_.generation() ? absl::OkStatus() : Prepare();
  if (status.ok()) status = Describe();
  if (status.ok()) return status;
  return absl::Status(status.code(), absl::StrCat(status.message(), " in: ", sql_.text));
}

// Prepares the statement under a new name. The server may have kept a statement for which it reported an error (for
// example after a late cancel), and a failed transaction cannot drop it, so each attempt uses a new name.
absl::Status PgStatement::Prepare() {
  name_ = absl::StrCat(base_name_, "_", ++names_);
  std::vector<Oid> types(values_.size());
  // The parameters of a bulk insert get the types of the columns, which COPY requires.
  for (size_t i = 0; bulk_rows_ == nullptr && i < values_.size(); ++i) types[i] = values_[i].type;
  const absl::StatusOr<PgResult> result = connection_.Check(
      PQprepare(connection_.handle(), name_.c_str(), sql_.text.c_str(), sql_.parameters, types.data()));
  if (result.ok()) prepared_on_ = connection_.generation();
  return result.status();
}

// Reads the parameter types. The server inferred the type of a parameter that was NULL from the SQL.
absl::Status PgStatement::Describe() {
  ASSIGN_OR_RETURN(const PgResult result, connection_.Check(PQdescribePrepared(connection_.handle(), name_.c_str())));
  types_.clear();
  for (int i = 0; i < PQnparams(result.get()); ++i) types_.push_back(PQparamtype(result.get(), i));
  described_on_ = connection_.generation();
  return absl::OkStatus();
}

absl::StatusOr<std::string_view> PgStatement::Encode(size_t index) const {
  const Value& value = values_[index];
  if (value.null) return std::string_view();
  // A null pointer would mean NULL, and an empty view may contain one.
  if (value.at) return value.at->data() == nullptr ? std::string_view("") : *value.at;
  const std::string_view bytes(value.number.data(), value.number.size());
  const size_t size = IntegerBytes(types_[index]);
  if (size == 0) return bytes;
  const std::string_view low = bytes.substr(bytes.size() - size);
  if (ReadInteger(low) == ReadInteger(bytes)) return low;
  return absl::InternalError(absl::StrCat("parameter ", index + 1, " is too large in: ", sql_.text));
}

absl::Status PgStatement::AppendRow() {
  AppendPgInteger(static_cast<uint16_t>(bulk_rows_->copy.parameters.size()), &bulk_rows_->bytes);
  for (const int parameter : bulk_rows_->copy.parameters) {
    ASSIGN_OR_RETURN(const std::string_view bytes, Encode(static_cast<size_t>(parameter - 1)));
    AppendPgInteger(bytes.data() == nullptr ? ~uint32_t{0} : static_cast<uint32_t>(bytes.size()), &bulk_rows_->bytes);
    bulk_rows_->bytes.append(bytes);
  }
  changes_ = 1;
  connection_.AddChangedRows(changes_);
  return bulk_inserts_.Added(*bulk_rows_);
}

absl::Status PgStatement::Run() {
  if (!bound_.ok()) return bound_;
  RETURN_IF_ERROR(MakeReady());
  if (bulk_rows_ != nullptr && bulk_inserts_.is_on()) return AppendRow();
  RETURN_IF_ERROR(bulk_inserts_.FlushFor(sql_.text));
  std::vector<const char*> values(values_.size());
  std::vector<int> lengths(values_.size());
  const std::vector<int> formats(values_.size(), kBinary);
  for (size_t i = 0; i < values_.size(); ++i) {
    ASSIGN_OR_RETURN(const std::string_view bytes, Encode(i));
    values[i] = bytes.data();
    lengths[i] = static_cast<int>(bytes.size());
  }
  ASSIGN_OR_RETURN(PgResult result, connection_.Check(PQexecPrepared(connection_.handle(), name_.c_str(),
                                                                     static_cast<int>(values.size()), values.data(),
                                                                     lengths.data(), formats.data(), kBinary)));
  result_ = std::move(result);
  const std::string_view changes = PQcmdTuples(result_.get());
  changes_ = 0;
  for (const char digit : changes) changes_ = changes_ * 10 + (digit - '0');
  const bool is_query = std::string_view(PQcmdStatus(result_.get())).starts_with("SELECT");
  if (!is_query) connection_.AddChangedRows(changes_);
  return absl::OkStatus();
}

std::string_view PgStatement::Cell(int column) const {
  return {PQgetvalue(result_.get(), row_, column), static_cast<size_t>(PQgetlength(result_.get(), row_, column))};
}

bool PgStatement::IsNull(int column) const { return PQgetisnull(result_.get(), row_, column) != 0; }

int64_t PgStatement::Int(int column) const { return ReadInteger(Cell(column)); }

double PgStatement::Double(int column) const { return std::bit_cast<double>(ReadInteger(Cell(column))); }

std::string_view PgStatement::Text(int column) const { return Cell(column); }

}  // namespace telemetry::storage::postgresql

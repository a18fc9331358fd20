#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>

#include "absl/status/statusor.h"

namespace telemetry::storage::sql {

// Represents -0.0 in databases that do not store its sign: the negative number closest to zero. A Statement reads this
// number as -0.0 from any database, so that all databases give the same bytes.
inline constexpr double kNegativeZero = -std::numeric_limits<double>::denorm_min();

// Returns the value that a Statement reads after `value` was stored.
constexpr double AsRead(double value) { return value == kNegativeZero ? -0.0 : value; }

// Binary data, as opposed to text.
struct Blob {
  std::string_view bytes;
};

// The database-specific implementation of a Statement. Use Statement instead.
class PreparedStatement {
 public:
  virtual ~PreparedStatement() = default;

  // Parameters are numbered from 1. Text and blobs are not copied: they must live until Reset(). An error is stored and
  // returned by the next Step().
  virtual void Bind(int index, int64_t value) = 0;
  virtual void Bind(int index, double value) = 0;
  virtual void Bind(int index, std::string_view text) = 0;
  virtual void Bind(int index, Blob blob) = 0;
  virtual void Bind(int index, std::nullopt_t null) = 0;
  // Binds the run, for tables that are partitioned by run (statement_text.h).
  virtual void BindRun(int64_t run) = 0;

  // Moves to the next row. Returns false, and resets the statement, if there is none.
  virtual absl::StatusOr<bool> Step() = 0;
  virtual void Reset() = 0;
  // Returns the number of rows that this INSERT, UPDATE or DELETE changed. Valid directly after it ran to its end.
  virtual int64_t changes() const = 0;

  // Values of the current row; columns are numbered from 0. Views are valid until the next Step() or Reset().
  virtual bool IsNull(int column) const = 0;
  virtual int64_t Int(int column) const = 0;
  virtual double Double(int column) const = 0;
  virtual std::string_view Text(int column) const = 0;
  virtual std::string_view Bytes(int column) const = 0;
};

}  // namespace telemetry::storage::sql

#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>

#include "absl/status/statusor.h"

namespace telemetry::storage {

// Stands for -0.0 in databases that do not store its sign: the negative number next to zero. A Statement reads this
// number as -0.0 from any database, so that all give the same bytes.
inline constexpr double kNegativeZero = -std::numeric_limits<double>::denorm_min();

// Bytes that are no text.
struct Blob {
  std::string_view bytes;
};

// What a kind of database does for a Statement, which is how to use one.
class PreparedStatement {
 public:
  virtual ~PreparedStatement() = default;

  // Parameters are numbered from 1. Text and blobs are not copied: they must live until Reset. An error is kept and
  // returned by the next Step.
  virtual void Bind(int index, int64_t value) = 0;
  virtual void Bind(int index, double value) = 0;
  virtual void Bind(int index, std::string_view text) = 0;
  virtual void Bind(int index, Blob blob) = 0;
  virtual void Bind(int index, std::nullopt_t null) = 0;
  // The run whose rows are meant, where the tables are partitioned by it (partitions.h).
  virtual void BindRun(int64_t run) = 0;

  // Moves to the next row; false: there is none, and the statement is reset.
  virtual absl::StatusOr<bool> Step() = 0;
  virtual void Reset() = 0;
  // Rows that this INSERT, UPDATE or DELETE changed, right after it ran to its end.
  virtual int64_t changes() const = 0;

  // The current row, columns from 0. Views live until the next Step or Reset.
  virtual bool IsNull(int column) const = 0;
  virtual int64_t Int(int column) const = 0;
  virtual double Double(int column) const = 0;
  virtual std::string_view Text(int column) const = 0;
  virtual std::string_view Bytes(int column) const = 0;
};

}  // namespace telemetry::storage

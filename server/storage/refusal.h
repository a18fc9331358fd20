#pragma once

#include <optional>
#include <string>
#include <utility>

#include "telemetry/v1/records.pb.h"

namespace telemetry::storage {

// Why a record cannot be taken. Its message says only what the record's content decides, so that the same record
// refused twice makes one and the same reject.
struct Refusal {
  v1::Reject::Reason reason = v1::Reject::REASON_UNSPECIFIED;
  std::string message;
};

// Set by a table that refuses a record; then the table has changed nothing. A table's Status, by contrast, is about the
// database: after an error the transaction is lost.
using MaybeRefusal = std::optional<Refusal>;

inline Refusal Invalid(std::string message) { return {v1::Reject::REASON_INVALID, std::move(message)}; }
inline Refusal Conflict(std::string message) { return {v1::Reject::REASON_CONFLICT, std::move(message)}; }

}  // namespace telemetry::storage

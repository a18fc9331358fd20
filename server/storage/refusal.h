#pragma once

#include <optional>
#include <string>
#include <utility>

#include "telemetry/v1/records.pb.h"

namespace telemetry::storage {

// The reason why a record is refused. The message depends on the record's content only, so that the same record refused
// twice results in the same reject.
struct Refusal {
  v1::Reject::Reason reason = v1::Reject::REASON_UNSPECIFIED;
  std::string message;
};

// Set by a table that refuses a record; the table has changed nothing then. A table's Status, in contrast, is about the
// database: after an error the transaction is lost.
using MaybeRefusal = std::optional<Refusal>;

inline Refusal Invalid(std::string message) { return {v1::Reject::REASON_INVALID, std::move(message)}; }
inline Refusal Conflict(std::string message) { return {v1::Reject::REASON_CONFLICT, std::move(message)}; }

}  // namespace telemetry::storage

#pragma once

#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

// Returns from the calling function with the error of an absl::Status; continues if it is OK.
//
//   RETURN_IF_ERROR(file.Write(bytes));
#define RETURN_IF_ERROR(expression)                                             \
  do {                                                                          \
    if (absl::Status telemetry_status = (expression); !telemetry_status.ok()) { \
      return telemetry_status;                                                  \
    }                                                                           \
  } while (false)

// Initialises a variable with the value of an absl::StatusOr, or returns its error from the calling function. It
// expands to several statements: the body of an `if` needs braces. A type with a comma needs `auto`.
//
//   ASSIGN_OR_RETURN(const std::string bytes, file.Read(offset, size));
#define ASSIGN_OR_RETURN(declaration, expression) \
  TELEMETRY_ASSIGN_OR_RETURN(TELEMETRY_NAME_OF_LINE(telemetry_result_, __LINE__), declaration, expression)

#define TELEMETRY_ASSIGN_OR_RETURN(result, declaration, expression) \
  auto result = (expression);                                       \
  if (!result.ok()) return std::move(result).status();              \
  declaration = *std::move(result)

#define TELEMETRY_NAME_OF_LINE(name, line) TELEMETRY_JOIN(name, line)
#define TELEMETRY_JOIN(left, right) left##right

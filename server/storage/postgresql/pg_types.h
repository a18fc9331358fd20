#pragma once

#include <libpq-fe.h>

namespace telemetry::storage::postgresql {

// Types of the catalog pg_type. Their numbers never change.
inline constexpr Oid kPgBool = 16;
inline constexpr Oid kPgBytes = 17;
inline constexpr Oid kPgInt8 = 20;
inline constexpr Oid kPgInt2 = 21;
inline constexpr Oid kPgInt4 = 23;
inline constexpr Oid kPgText = 25;
inline constexpr Oid kPgFloat8 = 701;
inline constexpr Oid kPgBytesArray = 1001;
inline constexpr Oid kPgTextArray = 1009;
inline constexpr Oid kPgInt8Array = 1016;

}  // namespace telemetry::storage::postgresql

#pragma once

#include <string>

namespace telemetry::storage::postgresql {

// Appends an unsigned integer in PostgreSQL's binary format: all its bytes, the most significant one first.
template <typename Integer>
void AppendPgInteger(Integer value, std::string* out) {
  char bytes[sizeof(Integer)];
  for (size_t i = sizeof(Integer); i-- > 0; value = static_cast<Integer>(value >> 8 % (8 * sizeof(Integer)))) {
    bytes[i] = static_cast<char>(value & 0xff);
  }
  out->append(bytes, sizeof(Integer));
}

}  // namespace telemetry::storage::postgresql

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace telemetry::client {

// Encoding of unsigned integers in the spool's files: least significant byte first, on every machine.

template <typename T>
void StoreLittleEndian(T value, char* out) {
  for (size_t i = 0; i < sizeof(T); ++i) out[i] = static_cast<char>(value >> (8 * i));
}

template <typename T>
T LoadLittleEndian(const char* in) {
  T value = 0;
  for (size_t i = 0; i < sizeof(T); ++i) value |= static_cast<T>(static_cast<unsigned char>(in[i])) << (8 * i);
  return value;
}

template <typename T>
void AppendLittleEndian(T value, std::string* out) {
  out->resize(out->size() + sizeof(T));
  StoreLittleEndian<T>(value, out->data() + out->size() - sizeof(T));
}

}  // namespace telemetry::client

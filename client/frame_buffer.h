#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "google/protobuf/message_lite.h"

namespace telemetry::client {

// A sequence of records, serialised once as frames, so that the spool only numbers and writes them. Not thread-safe.
class FrameBuffer {
 public:
  // Reserves memory for `bytes` bytes of frames.
  void Reserve(size_t bytes) { bytes_.reserve(bytes); }
  // Appends a record, which must serialise to at most record::kMaxRecordBytes.
  void Add(const google::protobuf::MessageLite& record);
  // Appends a record that is already serialised.
  void AddSerialised(std::string_view payload);

  // Numbers the frames from first_seq on and computes their checksums. May be called again with other numbers.
  void Seal(uint32_t salt, uint64_t first_seq);

  size_t count() const { return count_; }
  std::string_view bytes() const { return bytes_; }

 private:
  std::string bytes_;
  size_t count_ = 0;
};

}  // namespace telemetry::client

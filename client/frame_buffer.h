#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "google/protobuf/message_lite.h"

namespace telemetry::client {

// Records on their way into the spool: serialised once, as frames, so that the spool only numbers and writes them.
// Not thread-safe.
class FrameBuffer {
 public:
  // Makes room for about so many records and bytes.
  void Reserve(size_t bytes) { bytes_.reserve(bytes); }
  // `record` serialises to at most kMaxRecordBytes.
  void Add(const google::protobuf::MessageLite& record);
  // The same for a record that is serialised already.
  void AddSerialised(std::string_view payload);

  // Numbers the frames from first_seq on and seals them; may be called again with other numbers.
  void Seal(uint32_t salt, uint64_t first_seq);

  size_t count() const { return count_; }
  std::string_view bytes() const { return bytes_; }

 private:
  std::string bytes_;
  size_t count_ = 0;
};

}  // namespace telemetry::client

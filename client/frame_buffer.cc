#include "client/frame_buffer.h"

#include "client/frame.h"

namespace telemetry::client {

void FrameBuffer::Add(const google::protobuf::MessageLite& record) {
  char* payload = AddFrame(record.ByteSizeLong(), &bytes_);
  record.SerializeWithCachedSizesToArray(reinterpret_cast<uint8_t*>(payload));
  ++count_;
}

void FrameBuffer::AddSerialised(std::string_view payload) {
  payload.copy(AddFrame(payload.size(), &bytes_), payload.size());
  ++count_;
}

void FrameBuffer::Seal(uint32_t salt, uint64_t first_seq) {
  char* const end = bytes_.data() + bytes_.size();
  for (char* frame = bytes_.data(); frame != end;) frame += SealFrame(salt, first_seq++, frame);
}

}  // namespace telemetry::client

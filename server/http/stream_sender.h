#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>

#include "server/http/connection_context.h"
#include "server/http/message.h"
#include "server/http/transport.h"

namespace telemetry::http {

// Sends the text of a stream after the response's head until the stream ends or the client disconnects. A pending
// operation keeps the sender alive. Used by the thread of the queue only.
class StreamSender : public std::enable_shared_from_this<StreamSender> {
 public:
  // `context` must outlive the sender. `is_chunked`: sends chunks, else plain text.
  StreamSender(std::unique_ptr<Transport> transport, std::shared_ptr<BodyStream> stream, bool is_chunked,
               std::string network, ConnectionContext& context);
  ~StreamSender();
  StreamSender(const StreamSender&) = delete;
  StreamSender& operator=(const StreamSender&) = delete;

  void Start();

 private:
  // Reads from the client as long as the stream lasts, to detect that it has disconnected.
  void Watch();
  void OnRead();
  void OnWake();
  // Takes and sends the next text.
  void Pump();
  void Write();
  void OnWritten();
  void Leave();
  void Release();

  ConnectionContext& context_;
  const std::string network_;
  const bool is_chunked_;
  const std::unique_ptr<Transport> transport_;
  std::shared_ptr<BodyStream> stream_;  // nullptr: ended
  bool is_writing_ = false;
  bool is_last_ = false;  // piece_ is the end of the stream
  bool is_sent_ = false;  // the whole stream
  std::string before_;    // the piece
  std::string piece_;
  std::string after_;
  uint64_t waiting_ = 0;  // taken from context_.waiting_bytes
  std::array<char, 64> ignored_;
};

}  // namespace telemetry::http

#pragma once

#include <boost/asio/buffer.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/system/error_code.hpp>
#include <functional>
#include <memory>
#include <vector>

#include "absl/time/time.h"
#include "proto/base/steady.h"
#include "server/access/tls_connection.h"

namespace telemetry::http {

// A connected socket, with or without TLS. At most one read and one write are pending at a time. Each operation calls
// its `done` later, on the thread of the socket; `done` should hold the owner of the transport. After an error, only
// Close may be called. Not thread-safe.
class Transport {
 public:
  using Error = boost::system::error_code;
  using Done = std::function<void(Error error)>;
  using Read = std::function<void(Error error, size_t size)>;

  // The part of a message that must be sent within the timeout of Write.
  static constexpr size_t kPieceBytes = size_t{256} << 10;

  // `tls` null: plaintext.
  static std::unique_ptr<Transport> Make(boost::asio::ip::tcp::socket socket, const access::SslContext& tls);
  virtual ~Transport() = default;

  virtual bool is_secure() const = 0;
  // Performs the handshake of TLS.
  virtual void Handshake(SteadyTime deadline, Done done) = 0;
  // Reads at least one byte. kNever: no deadline.
  virtual void ReadSome(boost::asio::mutable_buffer to, SteadyTime deadline, Read done) = 0;
  // Writes all bytes; each further kPieceBytes get another `timeout`. The bytes must stay until `done`.
  virtual void Write(const std::vector<boost::asio::const_buffer>& bytes, absl::Duration timeout, Done done) = 0;
  // Ends the pending operations with an error.
  virtual void Cancel() = 0;
  // Sends close_notify and FIN, and discards bytes of the peer until the peer disconnects or the deadline passes. The
  // kernel would reset a socket that is closed with unread bytes, and the peer could lose the end of the last response.
  virtual void Finish(SteadyTime deadline, Done done) = 0;
  virtual void Close() = 0;
};

}  // namespace telemetry::http

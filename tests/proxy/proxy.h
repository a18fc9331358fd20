#pragma once

#include <sys/socket.h>

#include <atomic>
#include <functional>
#include <memory>
#include <string_view>
#include <thread>
#include <vector>

namespace telemetry::proxy {

// A proxy between clients and a server. It forwards the bytes of both sides piece by piece while the Connection
// permits.
class Proxy {
 public:
  enum class Then {
    kForward,
    kForwardAndCut,
    kCut,
  };

  // The connection of one client. Used by one thread.
  class Connection {
   public:
    virtual ~Connection() = default;
    // Returns a socket that is connected to the server, or -1 if it cannot be reached; then the client is disconnected.
    virtual int Connect() = 0;
    // Return the action for bytes as they were read from the socket of the client or the server.
    virtual Then ClientSaid(std::string_view bytes) = 0;
    virtual Then ServerSaid(std::string_view bytes) = 0;
  };

  // Listens on `socket`, which is bound, and closes it in the destructor. Calls `accepted` for each client, on one
  // thread.
  Proxy(int socket, std::function<std::unique_ptr<Connection>()> accepted);
  // Closes all connections.
  ~Proxy();
  Proxy(const Proxy&) = delete;
  Proxy& operator=(const Proxy&) = delete;

 private:
  void Accept();
  void Serve(int client, Connection& connection) const;
  // Forwards one piece. Returns false if the connection has ended.
  static bool Pass(int from, int to, const std::function<Then(std::string_view)>& then);

  const int listener_;
  const std::function<std::unique_ptr<Connection>()> accepted_;
  std::atomic<bool> stopping_ = false;
  std::vector<std::thread> connections_;  // used only by the accepting thread
  std::thread accepting_;
};

// Returns a socket connected to the address, or -1 if it cannot be reached.
int ConnectTo(const sockaddr* address, socklen_t size);

}  // namespace telemetry::proxy

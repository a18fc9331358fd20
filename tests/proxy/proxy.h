#pragma once

#include <sys/socket.h>

#include <atomic>
#include <functional>
#include <memory>
#include <string_view>
#include <thread>
#include <vector>

namespace telemetry::proxy {

// Stands between clients and a server: passes on what either says, piece by piece, as long as it is let.
class Proxy {
 public:
  enum class Then {
    kForward,
    kForwardAndCut,
    kCut,
  };

  // One connection of a client. Used by one thread.
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
  // Cuts all connections.
  ~Proxy();
  Proxy(const Proxy&) = delete;
  Proxy& operator=(const Proxy&) = delete;

 private:
  void Accept();
  void Serve(int client, Connection& connection) const;
  // False: the connection is over.
  static bool Pass(int from, int to, const std::function<Then(std::string_view)>& then);

  const int listener_;
  const std::function<std::unique_ptr<Connection>()> accepted_;
  std::atomic<bool> stopping_ = false;
  std::vector<std::thread> connections_;  // the accepting thread's
  std::thread accepting_;
};

// A socket of the address's family that is connected to it; -1: nobody is there.
int ConnectTo(const sockaddr* address, socklen_t size);

}  // namespace telemetry::proxy

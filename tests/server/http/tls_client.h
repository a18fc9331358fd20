#pragma once

#include <cstdint>
#include <string>

namespace telemetry::http {

// The files of a TLS client.
struct TlsClientFiles {
  std::string ca;    // of the authority that the client trusts
  std::string cert;  // empty: none
  std::string key;
};

// Sends a request over TLS to a port of this machine and returns what the server sends until it ends the connection,
// or the first `most` bytes. Returns an empty text if the handshake fails.
std::string ExchangeOverTls(int port, const TlsClientFiles& files, const std::string& request, size_t most = SIZE_MAX);

}  // namespace telemetry::http

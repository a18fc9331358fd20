#pragma once

#include <fstream>
#include <string>

#include "server/access/server_credentials.h"
#include "tests/server/access/test_authority.h"
#include "tests/server/http/tls_client.h"
#include "tests/temp_folder.h"

namespace telemetry::http {

// The certificates of a server and of its clients, in a folder.
class TlsFolder {
 public:
  TlsFolder() { Write("ca.pem", authority_.certificate()); }

  void Write(const std::string& name, const std::string& content) const {
    std::ofstream(folder_.File(name), std::ios::trunc) << content;
  }
  // Writes NAME.pem and NAME.key.
  void Install(const std::string& name, const access::Identity& identity) const {
    Write(name + ".pem", identity.certificate);
    Write(name + ".key", identity.key);
  }
  const access::TestAuthority& authority() const { return authority_; }

  std::string File(const std::string& name) const { return folder_.File(name); }
  access::TlsFiles Server(const std::string& client_ca = "") const {
    return {.cert = File("server.pem"), .key = File("server.key"), .client_ca = client_ca};
  }
  TlsClientFiles Client() const { return {.ca = File("ca.pem")}; }

 private:
  TempFolder folder_;
  const access::TestAuthority authority_{"authority"};
};

}  // namespace telemetry::http

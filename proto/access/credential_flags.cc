#include "proto/access/credential_flags.h"

namespace telemetry::access {

void AddCredentialFlags(cli::Flags& flags, Credentials& credentials) {
  const auto file = [&](const std::string& name, std::string& value, const std::string& help) {
    return flags.Add(name, value, help)->type_name("FILE")->check(cli::NotEmpty());
  };
  file("tls-ca", credentials.tls_ca,
       "Connect with TLS and verify the collector's certificate with these authorities (PEM file)");
  CLI::Option* cert = file("tls-cert", credentials.tls_cert, "Client certificate for the collector (PEM file)");
  CLI::Option* key = file("tls-key", credentials.tls_key, "Private key of the client certificate (PEM file)");
  cert->needs(key);
  key->needs(cert);
  file("token-file", credentials.token_file, "File with the bearer token (default: the token in TELEMETRY_TOKEN)");
  credentials.token = TakeTokenFromEnvironment();
}

}  // namespace telemetry::access

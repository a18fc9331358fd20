#include "tests/server/access/test_authority.h"

namespace telemetry::access {

TestAuthority::TestAuthority(const std::string& name)
    : authority_(CertificateAuthority::Create(name, absl::Hours(1)).value()) {}

Identity TestAuthority::Issue(const std::string& name, absl::Duration lifetime) const {
  return authority_.Issue({name, "127.0.0.1"}, lifetime).value();
}

}  // namespace telemetry::access

#pragma once

#include <string>

#include "absl/time/time.h"
#include "server/access/certificate_authority.h"

namespace telemetry::access {

// A certificate authority that lives as long as the test.
class TestAuthority {
 public:
  explicit TestAuthority(const std::string& name);

  // Returns its own certificate, in PEM form.
  const std::string& certificate() const { return authority_.identity().certificate; }
  // Returns a certificate for that name and 127.0.0.1, valid from an hour ago until `lifetime` from now.
  Identity Issue(const std::string& name, absl::Duration lifetime = absl::Hours(1)) const;

 private:
  const CertificateAuthority authority_;
};

}  // namespace telemetry::access

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "proto/access/credentials.h"
#include "proto/base/cli/flags.h"
#include "proto/base/cli/log_flags.h"
#include "server/access/port_flags.h"

namespace telemetry::web::program {

// The flags of telemetry-web.
struct WebFlags {
  std::string db;
  std::string listen = "127.0.0.1:4748";
  // Names under which browsers reach the server, beside its address.
  std::vector<std::string> names;
  access::PortSecurity security;
  std::string scratch_dir;
  // Collectors whose health the overview shows.
  std::vector<std::string> collectors;
  std::string collector_ca;  // PEM file of the authorities that verify the collectors; empty: plaintext
  cli::LogFlags log;

  void AddTo(cli::Flags& flags);
  // Returns an error with the reason why the program must refuse these flags.
  absl::Status Check() const;
};

}  // namespace telemetry::web::program

#pragma once

#include "proto/access/credentials.h"
#include "proto/base/cli/flags.h"

namespace telemetry::access {

// Adds --tls-ca, --tls-cert, --tls-key and --token-file to a command, and reads the token from TELEMETRY_TOKEN
// (TakeTokenFromEnvironment). Connection::Check() then checks the credentials before the program starts its work.
void AddCredentialFlags(cli::Flags& flags, Credentials& credentials);

}  // namespace telemetry::access

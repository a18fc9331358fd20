#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>

#include "proto/access/credentials.h"

namespace telemetry::access {

// Adds --tls-ca, --tls-cert, --tls-key and --token-file to a command, and reads the token from TELEMETRY_TOKEN
// (TakeTokenFromEnvironment). `variable_of` returns the environment variable of a flag such as "tls-ca", or an empty
// string for none. Connection::Check() then checks the credentials before the program starts its work.
void AddCredentialFlags(CLI::App& command, Credentials& credentials,
                        const std::function<std::string(const std::string& flag)>& variable_of);

}  // namespace telemetry::access

#pragma once

#include <string>

#include "worker/codegen/config.h"

namespace telemetry::worker::codegen {

// The value is one that the parameter can have.
bool Allows(const ConfigParameter& parameter, const record::Json& value);

// "a power of two from 1 to 1024, or None".
std::string AllowedText(const ConfigParameter& parameter);

}  // namespace telemetry::worker::codegen

#pragma once

#include <string>

#include "worker/codegen/config_space.h"

namespace telemetry::worker::codegen {

// Reports whether the parameter allows this value. Does not check ConfigParameter::constraint.
bool Allows(const ConfigParameter& parameter, const record::Json& value);

// Returns the allowed values as text: "a power of two from 1 to 1024, or None".
std::string AllowedText(const ConfigParameter& parameter);

}  // namespace telemetry::worker::codegen

#pragma once

#include <cstddef>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "worker/wrapper/program/program_model.h"
#include "worker/wrapper/program/program_names.h"
#include "worker/wrapper/program/program_text.h"

namespace telemetry::worker::wrapper::program {

// Returns the names of an FX program, none of them a reserved word of Python or of the runtime.
// `shape` and `before`: see ChooseNames().
ProgramNames FxNames(const ProgramModel& model, size_t shape = 0, absl::Span<const ProgramNames> before = {});

// CheckExtern of FX programs, which compute the kernels of the library as operations of PyTorch (runtime/fx_extern.py).
absl::Status CheckTorchExtern(const PlanKernel& kernel);

// Writes the function ProgramNames::run, which makes the graph module: the nodes of each line of the plan below the
// text of the line.
WrittenLines WriteFxLines(const ProgramModel& model, const ProgramNames& names);

}  // namespace telemetry::worker::wrapper::program

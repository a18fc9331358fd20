#pragma once

#include "absl/status/status.h"
#include "worker/wrapper/program/program_model.h"
#include "worker/wrapper/program/program_names.h"
#include "worker/wrapper/program/program_text.h"

namespace telemetry::worker::wrapper::program {

// Returns the names of an FX program, none of them a reserved word of Python or of the runtime.
ProgramNames FxNames(const ProgramModel& model);

// CheckExtern of FX programs, which compute the kernels of the library as operations of PyTorch (runtime/fx_extern.py).
absl::Status CheckTorchExtern(const PlanKernel& kernel);

// Writes the function make_graph_module: the nodes of each line of the plan below the text of the line.
WrittenLines WriteFxLines(const ProgramModel& model, const ProgramNames& names);

}  // namespace telemetry::worker::wrapper::program

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "worker/wrapper/program/program_model.h"
#include "worker/wrapper/program/program_names.h"

namespace telemetry::worker::wrapper::program {

// The parts that programs in Python and FX programs have in common.

// Returns a number as NumberText() does.
std::string PythonNumber(double value, int digits = 0);
// Returns a tuple: "(2, 3)", "(2,)".
std::string TupleText(const std::vector<int64_t>& numbers);

// Returns a tuple of texts: '("a", "b")'.
std::string TextTuple(const std::vector<std::string>& texts);

// Returns the launch of a kernel that is given as source, as three arguments: "(10, 18, 1), (16, 4, 1), 0".
std::string LaunchShapeText(const SourceKernel& kernel);
// Returns a number that a launch passes to such a kernel: "np.int32(150)".
std::string PythonSourceNumber(const SourceNumber& number);

// Returns the definitions of COMPILE_OPTIONS and SEED.
std::string PythonOptions(const ProgramModel& model);
// Returns the sources of the kernels, as definitions of their names.
std::string PythonKernels(const ProgramModel& model, const ProgramNames& names);
// Returns the values of the symbols of a shape: '("keys=16", "queries=8")'.
std::string ShapeTuple(const PlanShape& shape);
// Returns the function that draws the inputs.
std::string PythonInputs(const ProgramModel& model, const ProgramNames& names);
// Returns the expected outputs, as definitions of their names.
std::string PythonExpected(const ProgramModel& model, const ProgramNames& names);

}  // namespace telemetry::worker::wrapper::program

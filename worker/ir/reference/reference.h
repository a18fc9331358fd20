#pragma once

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "worker/ir/graph.h"
#include "worker/ir/reference/options.h"

namespace telemetry::worker::ir::reference {

// Reference mode: evaluates the device IR on the host in double precision, without a compiler or a device. It works
// block by block with ragged ends, as a device does. Elements beyond an end are NaN (or a conspicuous integer) in all
// intermediate values: if one of them gets into a result, a mask is missing. Conversions to f16 and bf16 round, and so
// do stores. All intermediate values are doubles.

// Returns the sizes of a tensor of the IR for these arrays of the arguments. Symbolic sizes are read from the arrays.
std::vector<int64_t> ActualSizes(const DeviceIr& ir, int tensor, const Tensors& tensors);

// Runs the kernel. `tensors` must hold at least the arguments. Each output becomes a new dense array filled with
// FillValue(), whatever `tensors` held in its place. Arguments that the kernel stores to are modified. The IR must be
// verified. INVALID_ARGUMENT: the dtype or rank of an argument differs from the IR, a scalar is missing, or there is no
// alternate for the rolled axes. OUT_OF_RANGE, naming the node: an index is outside its tensor. FAILED_PRECONDITION: a
// while loop does not end.
absl::Status Evaluate(const DeviceIr& ir, const Options& options, Tensors* tensors);

// Returns the extents of the grid's axes, in the order of DeviceIr::axes.
std::vector<int64_t> GridExtents(const DeviceIr& ir, const Tensors& tensors);

// Evaluates only the part of the kernel at these points of the grid, and returns the elements that it stores: for each
// point those of the smallest block that contains it. Its blocks are 1 along the axes of the grid
// (more along axes with a fixed block) and `options` otherwise. If a point stores an element more than once, the
// last one counts. `tensors` must hold the arguments; outputs become arrays without data. Returns the errors of
// Evaluate(). FAILED_PRECONDITION: the kernel loads from a tensor that it stores to, so that a part of it depends on
// the rest.
absl::StatusOr<std::vector<StoredElement>> EvaluateAt(const DeviceIr& ir, const Options& options,
                                                      absl::Span<const GridPoint> points, const PointOptions& at_points,
                                                      Tensors* tensors);

// Returns the work of evaluating one point of the grid, the last one, as a number of elements of values; a dot counts
// its products. One element takes a few nanoseconds. Returns the errors of EvaluateAt().
absl::StatusOr<double> WorkOfPoint(const DeviceIr& ir, const Options& options, Tensors* tensors);

}  // namespace telemetry::worker::ir::reference

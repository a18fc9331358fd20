#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "proto/record/json.h"
#include "worker/device/device.h"
#include "worker/spec/element_type.h"
#include "worker/spec/expression.h"
#include "worker/spec/value.h"

namespace telemetry::worker::spec {

// A tuning parameter and its values.
struct Parameter {
  std::string name;
  ValueList values;  // distinct, at least one, in the order of the specification
  size_t default_index = 0;
};

// A condition on configs. The variables are the parameters in their order, then kExtraNames.
struct Constraint {
  Expression expression;
  std::string path;  // the place in the file, for messages: "ConfigurationSpace.Conditions[0]"
};

// The shape of a launch as expressions: x, y, z. The variables are the parameters in their order, then kExtraNames.
struct LaunchExpressions {
  std::array<Expression, 3> grid;     // in blocks, after the division by `divisors`
  std::array<Expression, 3> threads;  // of a block
  // The grid is ceil(grid / product of the divisors), as Kernel Tuner computes it. Empty: the grid is rounded up.
  std::array<std::vector<Expression>, 3> divisors;
  Expression shared_bytes;       // dynamic shared memory; 0 by default
  bool grid_is_threads = false;  // the grid counts threads (OpenCL's global size), not blocks
};

// The initial values of an argument.
struct Fill {
  enum class Kind {
    kConstant,  // `value` everywhere
    kRandom,    // floating point: standard normal times `value`; integers: uniform from 0 to `value` - 1
    kRange,     // 0, 1, 2, ... times `value`
    kRawFile,   // the bytes of `file`
    kNpyFile,   // an array of NumPy in `file`, of the argument's type
  };
  Kind kind = Kind::kConstant;
  Value value;
  uint64_t seed = 0;
  std::string file;  // absolute, or relative to the specification's folder
};

// An argument of the kernel.
struct Argument {
  enum class Memory {
    kScalar,
    kVector,  // a pointer to device memory
    kLocal,   // OpenCL: a pointer to local memory of this size
    kSymbol,  // CUDA: no argument, but the __constant__ or __device__ variable with this name
  };
  std::string name;
  ArgumentType type;
  Memory memory = Memory::kVector;
  bool is_symbol_too = false;  // kVector: the contents are also copied to the variable with this name
  bool is_written = false;
  bool is_read = true;   // false: kVector whose AccessType is WriteOnly
  int64_t elements = 1;  // without lanes: 10 of float4 are 40 values
  Fill fill;

  int64_t values() const { return elements * type.lanes; }
};

// The allowed error of a result.
struct Tolerances {
  double absolute = 1e-6;
  double relative = 1e-3;
};

// The results that configs are compared with.
struct Verification {
  enum class Kind { kNone, kReferenceConfig, kReferenceKernel, kFiles };
  // A result with known contents.
  struct Expected {
    size_t argument = 0;  // its index
    Fill fill;
    std::optional<Tolerances> tolerances;
  };

  Kind kind = Kind::kReferenceConfig;
  // kReferenceConfig: an index of values for each parameter. kReferenceKernel: the parameters as its source sees them.
  std::vector<size_t> config;
  std::string kernel_file;  // kReferenceKernel
  std::string kernel_name;
  LaunchExpressions launch;
  std::vector<Expected> expected;  // kFiles
  Tolerances tolerances;
};

// A tuning problem as a T1 file describes it. See worker/spec/README.md for the dialects.
struct Specification {
  std::string path;    // of the file
  std::string folder;  // of the file; files that it names are relative to it, or to the folder above it
  device::Dialect dialect = device::Dialect::kCuda;
  std::string kernel_name;  // the function, or an expression of C++ that names it: "scale<float, BLOCK>"
  std::string kernel_file;
  std::vector<std::string> compiler_options;

  std::vector<Parameter> parameters;
  std::vector<Constraint> constraints;
  LaunchExpressions launch;
  ValueList problem_size;
  std::vector<Argument> arguments;
  Verification verification;
  std::optional<int64_t> max_configs;  // from Budget
  std::optional<double> max_seconds;   // from Budget

  // The owner of the values above. Shared by copies of the specification.
  std::shared_ptr<ValueArena> arena = std::make_shared<ValueArena>();

  // Returns the variables of constraints and launches: the names of the parameters, then kExtraNames.
  std::vector<std::string> names() const;
  // Returns the values of names() for a config, given as an index of values for each parameter.
  std::vector<Value> ValuesAt(const std::vector<size_t>& config) const;
  std::vector<size_t> DefaultConfig() const;
};

// The variables that every expression may use besides the parameters: the list ProblemSize and its first three items.
inline constexpr std::array<std::string_view, 4> kExtraNames = {"ProblemSize", "problem_size_x", "problem_size_y",
                                                                "problem_size_z"};

// The limits of a specification.
struct SpecificationLimits {
  static constexpr size_t kFileBytes = 16 << 20;
  static constexpr size_t kParameters = 256;
  static constexpr size_t kValues = 65536;  // of one parameter
  static constexpr size_t kConstraints = 4096;
  static constexpr size_t kArguments = 256;
  static constexpr int64_t kArgumentBytes = int64_t{1} << 32;  // of one argument
};

// Reads a T1 specification. INVALID_ARGUMENT: not JSON, a missing or wrong member, an expression that does not compile;
// the message has the path of the member. UNIMPLEMENTED: the specification asks for something that is not supported
// here, such as another language. Does not open the files that the specification names.
absl::StatusOr<Specification> ParseSpecification(std::string_view json, const std::string& path);
// Reads a file. NOT_FOUND, or another error of the file system: the file cannot be read.
absl::StatusOr<Specification> ReadSpecification(const std::string& path);

}  // namespace telemetry::worker::spec

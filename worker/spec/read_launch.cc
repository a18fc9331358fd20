#include "worker/spec/read_launch.h"

#include <algorithm>
#include <string>
#include <utility>

#include "proto/base/status_macros.h"
#include "proto/record/strings.h"

namespace telemetry::worker::spec {
namespace {

using record::Cat;

constexpr std::array<std::string_view, 3> kAxes = {"X", "Y", "Z"};
constexpr std::array<std::string_view, 3> kGridDivisors = {"GridDivX", "GridDivY", "GridDivZ"};
constexpr std::array<std::string_view, 3> kBlockSizes = {"block_size_x", "block_size_y", "block_size_z"};
constexpr std::string_view kDefaultThreads = "256";  // as in Kernel Tuner

class LaunchReader {
 public:
  LaunchReader(const JsonMember& kernel, const Specification& spec)
      : kernel_(kernel), spec_(spec), names_(spec.names()) {}

  absl::StatusOr<LaunchExpressions> Run() {
    for (size_t axis = 0; axis < 3; ++axis) RETURN_IF_ERROR(ReadThreads(axis));
    const bool has_divisors = std::any_of(kGridDivisors.begin(), kGridDivisors.end(),
                                          [&](std::string_view name) { return kernel_[name].exists(); });
    const bool has_global_size = kernel_["GlobalSize"].exists();
    if (spec_.problem_size.empty() && !has_global_size) {
      return kernel_["GlobalSize"].Error("missing, and there is no ProblemSize");
    }
    const bool from_problem = !spec_.problem_size.empty() && (has_divisors || !has_global_size);
    for (size_t axis = 0; axis < 3; ++axis) RETURN_IF_ERROR(from_problem ? ReadDivisors(axis) : ReadGlobalSize(axis));
    if (!from_problem) RETURN_IF_ERROR(ReadSizeType());
    const JsonMember shared = kernel_["SharedMemory"];
    if (shared.exists()) {
      ASSIGN_OR_RETURN(launch_.shared_bytes, ReadExpression(shared));
    } else {
      ASSIGN_OR_RETURN(launch_.shared_bytes, Expression::Compile("0", names_));
    }
    return std::move(launch_);
  }

 private:
  bool HasParameter(std::string_view name) const {
    return std::any_of(spec_.parameters.begin(), spec_.parameters.end(),
                       [&](const Parameter& parameter) { return parameter.name == name; });
  }

  // Compiles a string or a number.
  absl::StatusOr<Expression> ReadExpression(const JsonMember& member) {
    std::string text;
    if (member.exists() && member.json().kind == record::Json::Kind::kNumber) {
      text = member.json().text;
    } else {
      ASSIGN_OR_RETURN(text, member.Text());
    }
    absl::StatusOr<Expression> expression = Expression::Compile(text, names_);
    return expression.ok() ? std::move(expression) : member.At(expression.status());
  }

  absl::Status ReadThreads(size_t axis) {
    const JsonMember member = kernel_["LocalSize"][kAxes[axis]];
    if (member.exists()) {
      ASSIGN_OR_RETURN(launch_.threads[axis], ReadExpression(member));
      return absl::OkStatus();
    }
    const bool is_parameter = !kernel_["LocalSize"].exists() && HasParameter(kBlockSizes[axis]);
    const bool is_default = !kernel_["LocalSize"].exists() && axis == 0;
    const std::string_view text = is_parameter ? kBlockSizes[axis] : is_default ? kDefaultThreads : "1";
    ASSIGN_OR_RETURN(launch_.threads[axis], Expression::Compile(text, names_));
    return absl::OkStatus();
  }

  absl::Status ReadGlobalSize(size_t axis) {
    const JsonMember member = kernel_["GlobalSize"][kAxes[axis]];
    if (!member.exists() && axis > 0) return absl::OkStatus();
    ASSIGN_OR_RETURN(launch_.grid[axis], ReadExpression(member));
    return absl::OkStatus();
  }

  // The unit of GlobalSize: OpenCL counts threads, CUDA and Vulkan count blocks.
  absl::Status ReadSizeType() {
    const JsonMember member = kernel_["GlobalSizeType"];
    std::string type = spec_.dialect == device::Dialect::kOpenCl ? "OpenCL" : "CUDA";
    if (member.exists()) {
      ASSIGN_OR_RETURN(type, member.Text());
    }
    if (type != "OpenCL" && type != "CUDA" && type != "Vulkan") {
      return member.Error(Cat("unknown type '", type, "'; known are OpenCL, CUDA and Vulkan"));
    }
    launch_.grid_is_threads = type == "OpenCL";
    return absl::OkStatus();
  }

  absl::Status ReadDivisors(size_t axis) {
    if (axis < spec_.problem_size.size()) {
      ASSIGN_OR_RETURN(launch_.grid[axis], Expression::Compile(kExtraNames[axis + 1], names_));
    }
    ASSIGN_OR_RETURN(const std::vector<JsonMember> items, kernel_[kGridDivisors[axis]].Items());
    for (const JsonMember& item : items) {
      ASSIGN_OR_RETURN(Expression divisor, ReadExpression(item));
      launch_.divisors[axis].push_back(std::move(divisor));
    }
    if (items.empty() && HasParameter(kBlockSizes[axis])) {
      ASSIGN_OR_RETURN(Expression divisor, Expression::Compile(kBlockSizes[axis], names_));
      launch_.divisors[axis].push_back(std::move(divisor));
    }
    return absl::OkStatus();
  }

  const JsonMember& kernel_;
  const Specification& spec_;
  const std::vector<std::string> names_;
  LaunchExpressions launch_;
};

}  // namespace

absl::StatusOr<LaunchExpressions> ReadLaunch(const JsonMember& kernel, const Specification& spec) {
  return LaunchReader(kernel, spec).Run();
}

}  // namespace telemetry::worker::spec

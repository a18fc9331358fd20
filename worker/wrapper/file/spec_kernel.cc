#include "worker/wrapper/file/spec_kernel.h"

#include <algorithm>
#include <cctype>
#include <cstring>
#include <filesystem>
#include <utility>
#include <vector>

#include "proto/base/status_macros.h"
#include "proto/record/strings.h"
#include "worker/spec/argument_data.h"
#include "worker/spec/config_source.h"
#include "worker/spec/declared_block.h"
#include "worker/spec/kernel_launch.h"
#include "worker/spec/launch_size.h"
#include "worker/spec/spec_space.h"

namespace telemetry::worker::wrapper::file {

using codegen::Config;
using device::DType;
using record::Cat;
using spec::Argument;
using spec::ElementType;
using spec::Specification;
using spec::Verification;

namespace {

using Indexes = std::vector<size_t>;  // of a value for each parameter

absl::Status Unsupported(const Argument& argument, std::string_view why) {
  return absl::UnimplementedError(Cat("argument '", argument.name, "': ", why));
}

absl::StatusOr<DType> DTypeOf(const Argument& argument) {
  const std::string_view name = spec::ShortName(argument.type.element);
  const absl::StatusOr<DType> dtype = device::ParseDType(name);
  if (dtype.ok() && (!IsInteger(*dtype) || *dtype == DType::kI32)) return *dtype;
  return Unsupported(argument, Cat("plans have no tensors of ", name));
}

// Returns the range of the values of an input. Values of files are not used.
kernels::DrawRange RangeOf(const Argument& argument) {
  const double value = argument.fill.value.real();
  const bool is_float = spec::IsFloat(argument.type.element);
  switch (argument.fill.kind) {
    case spec::Fill::Kind::kConstant:
      return {.low = value, .high = value};
    case spec::Fill::Kind::kRandom:
      return is_float ? kernels::DrawRange{.low = -value, .high = value}
                      : kernels::DrawRange{.low = 0, .high = std::max(2.0, value)};
    case spec::Fill::Kind::kRange:
      return {.low = 0, .high = value * static_cast<double>(argument.values())};
    case spec::Fill::Kind::kRawFile:
    case spec::Fill::Kind::kNpyFile:
      break;
  }
  return is_float ? kernels::DrawRange{} : kernels::DrawRange{.low = 0, .high = 2};
}

absl::StatusOr<SourceNumber> NumberOf(const Argument& argument) {
  const ElementType type = argument.type.element;
  const bool is_short_float = type == ElementType::kF16 || type == ElementType::kBF16;
  if (argument.type.lanes > 1 || is_short_float) {
    return Unsupported(argument, Cat("a scalar of ", spec::T1Name(argument.type), " is not supported in plans"));
  }
  ASSIGN_OR_RETURN(const std::vector<std::byte> bytes, spec::InitialBytes(argument, ""));
  SourceNumber number = {.name = argument.name, .type = std::string(spec::ShortName(type))};
  std::copy(bytes.begin(), bytes.end(), number.bytes.bytes.begin());
  number.bytes.size = bytes.size();
  if (spec::IsFloat(type)) {
    number.value = spec::NumberAt(bytes, type, 0);
  } else if (type == ElementType::kBool) {
    number.value = bytes[0] != std::byte{0};
  } else {
    // Little endian; the sign is extended.
    const bool is_negative = spec::IsSigned(type) && (bytes.back() & std::byte{0x80}) != std::byte{0};
    int64_t value = is_negative ? -1 : 0;
    std::memcpy(&value, bytes.data(), bytes.size());
    number.value = value;
  }
  return number;
}

// Returns the name of the function without arguments of templates and namespaces.
std::string NameOf(const Specification& spec) {
  std::string name = spec.kernel_name.substr(0, spec.kernel_name.find('<'));
  const size_t colon = name.rfind(':');
  if (colon != std::string::npos) name.erase(0, colon + 1);
  return name.substr(0, 100);
}

// A reader of one config of a specification's kernel.
class SpecReader {
 public:
  explicit SpecReader(std::shared_ptr<const Specification> spec) : spec_(std::move(spec)) {}

  absl::StatusOr<std::shared_ptr<const SourceKernel>> Read(const ConfigChoice& choice,
                                                           const FindBestConfig& find_best) {
    ASSIGN_OR_RETURN(const codegen::ConfigSpace space, spec::MakeConfigSpace(spec_));
    Config wanted = choice.given.value_or(Config());
    if (choice.is_best && find_best != nullptr) {
      ASSIGN_OR_RETURN(const std::optional<Config> best, find_best(spec_));
      wanted = best.value_or(Config());
    }
    ASSIGN_OR_RETURN(const Config config, space.Normalize(wanted));
    ASSIGN_OR_RETURN(const Indexes indexes, spec::ToIndexes(*spec_, config));
    ASSIGN_OR_RETURN(const Indexes defaults, spec::ToIndexes(*spec_, space.Default()));

    kernel_.declaration.name = NameOf(*spec_);
    kernel_.declaration.summary = spec_->path;
    kernel_.origin = Cat(spec_->path, " ", config.ToString());
    kernel_.dialect = spec_->dialect;
    kernel_.tolerance = {.absolute = spec_->verification.tolerances.absolute,
                         .relative = spec_->verification.tolerances.relative};
    for (const Argument& argument : spec_->arguments) RETURN_IF_ERROR(AddArgument(argument));
    ASSIGN_OR_RETURN(kernel_.code, CodeOf(spec_->kernel_file, spec_->kernel_name, spec_->launch, indexes));
    RETURN_IF_ERROR(AddReference(defaults));
    return std::make_shared<const SourceKernel>(std::move(kernel_));
  }

 private:
  absl::Status AddArgument(const Argument& argument) {
    if (argument.memory == Argument::Memory::kScalar) {
      ASSIGN_OR_RETURN(SourceNumber number, NumberOf(argument));
      kernel_.parameters.emplace_back(std::move(number));
      return absl::OkStatus();
    }
    if (argument.memory == Argument::Memory::kSymbol || argument.is_symbol_too) {
      return Unsupported(argument, "plans cannot set variables of the source");
    }
    if (argument.memory == Argument::Memory::kLocal) {
      if (&argument != &spec_->arguments.back()) {
        return Unsupported(argument, "local memory is supported as the last argument only");
      }
      return absl::OkStatus();
    }
    SourceTensor tensor = {
        .name = argument.name, .elements = argument.values(), .is_read = argument.is_read, .range = RangeOf(argument)};
    ASSIGN_OR_RETURN(tensor.dtype, DTypeOf(argument));
    if (argument.is_written) {
      kernel_.parameters.emplace_back(SourceOutput{kernel_.outputs.size()});
      kernel_.outputs.push_back(std::move(tensor));
    } else {
      kernel_.parameters.emplace_back(SourceArgument{kernel_.arguments.size()});
      kernel_.declaration.tensors.push_back({.name = tensor.name, .dimensions = {}, .dtype = tensor.dtype});
      kernel_.arguments.push_back(std::move(tensor));
    }
    return absl::OkStatus();
  }

  absl::Status AddReference(const Indexes& defaults) {
    const Verification& verification = spec_->verification;
    const bool is_kernel = verification.kind == Verification::Kind::kReferenceKernel;
    const bool has_config = is_kernel || verification.kind == Verification::Kind::kReferenceConfig;
    ASSIGN_OR_RETURN(kernel_.reference, CodeOf(is_kernel ? verification.kernel_file : spec_->kernel_file,
                                               is_kernel ? verification.kernel_name : spec_->kernel_name,
                                               is_kernel ? verification.launch : spec_->launch,
                                               has_config ? verification.config : defaults));
    return absl::OkStatus();
  }

  absl::StatusOr<SourceCode> CodeOf(const std::string& file, const std::string& name,
                                    const spec::LaunchExpressions& launch, const Indexes& indexes) const {
    ASSIGN_OR_RETURN(const spec::ConfigSource source, spec::ConfigSource::Create(*spec_, file, name));
    SourceCode code = {.function = source.function()};
    ASSIGN_OR_RETURN(code.source, source.For(*spec_, indexes));
    const auto declared = spec::DeclaredBlock::Find(source.text(), name, spec_->dialect, spec_->names());
    ASSIGN_OR_RETURN(const spec::LaunchSize size, spec::KernelLaunch(*spec_, launch, declared, indexes));
    code.shape = spec::ToLaunchShape(size);
    return code;
  }

  const std::shared_ptr<const Specification> spec_;
  SourceKernel kernel_;
};

}  // namespace

absl::StatusOr<std::shared_ptr<const SourceKernel>> ReadSpecKernel(const std::string& path, const ConfigChoice& choice,
                                                                   const FindBestConfig& find_best) {
  const auto with_path = [&](const absl::Status& status) {
    const bool has_path = std::string(status.message()).find(path) != std::string::npos;
    return has_path ? status : absl::Status(status.code(), Cat(path, ": ", status.message()));
  };
  absl::StatusOr<Specification> read = spec::ReadSpecification(path);
  if (!read.ok()) return with_path(read.status());
  auto kernel = SpecReader(std::make_shared<const Specification>(*std::move(read))).Read(choice, find_best);
  return kernel.ok() ? std::move(kernel) : with_path(kernel.status());
}

absl::StatusOr<std::shared_ptr<const SourceKernel>> SpecKernels::Find(const std::string& file,
                                                                      const ConfigChoice& choice) {
  const std::string config = choice.is_best ? "best" : choice.given.has_value() ? choice.given->ToString() : "";
  const absl::MutexLock lock(&mutex_);
  std::shared_ptr<const SourceKernel>& kernel = kernels_[{file, config}];
  if (kernel != nullptr) return kernel;
  const std::string path = (std::filesystem::path(files_.folder) / file).string();
  ASSIGN_OR_RETURN(kernel, ReadSpecKernel(path, choice, files_.find_best));
  return kernel;
}

}  // namespace telemetry::worker::wrapper::file

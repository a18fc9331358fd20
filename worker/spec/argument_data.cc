#include "worker/spec/argument_data.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <utility>

#include "absl/status/status.h"
#include "proto/base/parallel.h"
#include "proto/base/random.h"
#include "proto/base/status_macros.h"
#include "proto/record/strings.h"
#include "worker/spec/arithmetic.h"
#include "worker/spec/element_codec.h"
#include "worker/spec/file_bytes.h"
#include "worker/spec/npy_header.h"

namespace telemetry::worker::spec {
namespace {

using record::Cat;

absl::Status At(const Argument& argument, const absl::Status& status) {
  return {status.code(), Cat("the argument '", argument.name, "': ", std::string(status.message()))};
}

// Returns a number of nearly normal distribution with mean 0 and deviation 1: the sum of twelve uniform numbers. Unlike
// logarithms and cosines, sums are the same on every machine.
double Normal(Random& random) {
  double sum = -6;
  for (int i = 0; i < 12; ++i) sum += random.Real();
  return sum;
}

// The numbers that one element takes from the generator.
uint64_t NumbersPerElement(ElementType type) { return IsFloat(type) ? 12 : 1; }

Value Draw(ElementType type, const Fill& fill, Random& random) {
  if (IsFloat(type)) return Value::Real(Normal(random) * fill.value.real());
  // Without a FillValue, an integer is 0 or 1.
  const double bound = std::min(std::max(2.0, fill.value.real()), 9.0e18);
  return Value::Integer(random.Below(static_cast<int64_t>(bound)));
}

// Writes the elements from `begin` to before `end` to their places in `bytes`.
absl::Status Compute(ElementType type, const Fill& fill, size_t begin, size_t end, std::byte* bytes) {
  Random random(fill.seed);
  random.Skip(begin * NumbersPerElement(type));
  for (size_t i = begin; i < end; ++i) {
    Value value = fill.value;
    if (fill.kind == Fill::Kind::kRandom) {
      value = Draw(type, fill, random);
    } else if (fill.kind == Fill::Kind::kRange) {
      ASSIGN_OR_RETURN(value, Calculate(Op::kMultiply, Value::Integer(static_cast<int64_t>(i)), fill.value));
    }
    RETURN_IF_ERROR(EncodeElement(type, value, bytes + i * SizeOf(type)));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<std::byte>> Computed(const Argument& argument, const Fill& fill) {
  const ElementType type = argument.type.element;
  const auto count = static_cast<size_t>(argument.values());
  std::vector<std::byte> bytes(count * SizeOf(type));
  std::vector<absl::Status> parts((count + kElementsPerPart - 1) / kElementsPerPart);
  ForEachPart(count, kElementsPerPart, [&](size_t begin, size_t end) {
    parts[begin / kElementsPerPart] = Compute(type, fill, begin, end, bytes.data());
  });
  for (const absl::Status& status : parts) RETURN_IF_ERROR(status);
  return bytes;
}

absl::StatusOr<std::vector<std::byte>> FromFile(const Argument& argument, const Fill& fill, const std::string& folder) {
  constexpr size_t kHeaderBytes = 1 << 20;
  ASSIGN_OR_RETURN(const std::string path, FindFile(fill.file, folder));
  const size_t size = static_cast<size_t>(argument.values()) * SizeOf(argument.type.element);
  ASSIGN_OR_RETURN(const std::string contents, ReadFileBytes(path, size + kHeaderBytes));
  size_t begin = 0;
  if (fill.kind == Fill::Kind::kNpyFile) {
    const absl::StatusOr<NpyHeader> header = ParseNpyHeader(contents);
    if (!header.ok())
      return absl::Status(header.status().code(), Cat(path, ": ", std::string(header.status().message())));
    if (header->type != argument.type.element) {
      return absl::InvalidArgumentError(Cat(path, " has elements of ", ShortName(header->type), ", the argument has ",
                                            ShortName(argument.type.element)));
    }
    begin = header->data_begin;
  }
  if (contents.size() - begin != size) {
    return absl::InvalidArgumentError(
        Cat(path, " has ", contents.size() - begin, " bytes of data; the argument needs ", size));
  }
  std::vector<std::byte> bytes(size);
  std::memcpy(bytes.data(), contents.data() + begin, size);
  return bytes;
}

}  // namespace

absl::StatusOr<std::vector<std::byte>> BytesOf(const Argument& argument, const Fill& fill, const std::string& folder) {
  const bool is_file = fill.kind == Fill::Kind::kRawFile || fill.kind == Fill::Kind::kNpyFile;
  absl::StatusOr<std::vector<std::byte>> bytes = is_file ? FromFile(argument, fill, folder) : Computed(argument, fill);
  return bytes.ok() ? std::move(bytes) : At(argument, bytes.status());
}

absl::StatusOr<std::vector<std::byte>> InitialBytes(const Argument& argument, const std::string& folder) {
  return BytesOf(argument, argument.fill, folder);
}

double NumberAt(const std::vector<std::byte>& bytes, ElementType type, size_t index) {
  return DecodeElement(type, bytes.data() + index * SizeOf(type));
}

absl::StatusOr<std::string> FindFile(const std::string& file, const std::string& folder) {
  const std::filesystem::path path(file);
  const std::filesystem::path below(folder);
  std::error_code ignored;
  if (path.is_absolute()) {
    if (std::filesystem::exists(path, ignored)) return file;
    return absl::NotFoundError(Cat("there is no file ", file));
  }
  for (const std::filesystem::path& candidate : {below / path, below / ".." / path}) {
    if (std::filesystem::exists(candidate, ignored)) return candidate.string();
  }
  return absl::NotFoundError(
      Cat("there is no file '", file, "' in ", folder.empty() ? "." : folder, ", nor in the folder above it"));
}

}  // namespace telemetry::worker::spec

#include "worker/spec/read_arguments.h"

#include <algorithm>
#include <string>
#include <utility>

#include "proto/base/status_macros.h"
#include "proto/record/strings.h"

namespace telemetry::worker::spec {
namespace {

using record::Cat;

// Evaluates the number of elements. As in Kernel Tuner, the name of a parameter stands for the list of all its values:
// "ProblemSize[0] + max(filter_width) - 1".
absl::StatusOr<int64_t> ElementsOf(const JsonMember& size, const Specification& spec) {
  if (!size.is_text()) return size.Integer();
  const absl::StatusOr<Expression> expression = Expression::Compile(size.json().text, spec.names());
  if (!expression.ok()) return size.At(expression.status());
  std::vector<Value> values = spec.ValuesAt(spec.DefaultConfig());
  for (size_t i = 0; i < spec.parameters.size(); ++i) values[i] = Value::List(&spec.parameters[i].values);
  Evaluation evaluation;
  const absl::StatusOr<Value> elements = expression->Evaluate(values, &evaluation);
  if (!elements.ok()) return size.At(elements.status());
  if (elements->is_whole()) return elements->integer();
  if (elements->is_number() && elements->real() >= 0 && elements->real() < 1e15) {
    return static_cast<int64_t>(elements->real());  // int() of Kernel Tuner
  }
  return size.Error(Cat("expected an integer, got ", elements->ToString()));
}

absl::StatusOr<Argument::Memory> MemoryOf(const JsonMember& member) {
  ASSIGN_OR_RETURN(const std::string text, member.Text());
  if (text == "Scalar") return Argument::Memory::kScalar;
  if (text == "Vector") return Argument::Memory::kVector;
  if (text == "Local") return Argument::Memory::kLocal;
  if (text == "Symbol") return Argument::Memory::kSymbol;
  return member.Error(Cat("unknown memory '", text, "'; known are Scalar, Vector, Local and Symbol"));
}

// Returns true if launches may change the argument. An argument without any statement may be changed.
absl::StatusOr<bool> IsWritten(const JsonMember& member, const Argument& argument) {
  if (argument.memory != Argument::Memory::kVector || argument.is_symbol_too) return false;
  const JsonMember access = member["AccessType"];
  if (access.exists()) {
    ASSIGN_OR_RETURN(const std::string text, access.Text());
    if (text == "ReadOnly") return false;
    if (text == "WriteOnly" || text == "ReadWrite") return true;
    return access.Error(Cat("unknown access '", text, "'; known are ReadOnly, WriteOnly and ReadWrite"));
  }
  const JsonMember output = member["Output"];
  if (!output.exists()) return true;
  return output.json().kind == record::Json::Kind::kTrue ||
         (output.json().kind == record::Json::Kind::kNumber && output.json().text != "0");
}

absl::Status CheckSize(const JsonMember& member, const Argument& argument) {
  if (argument.elements < 1) return member.Error(Cat("expected at least one element, got ", argument.elements));
  const int64_t limit =
      SpecificationLimits::kArgumentBytes / static_cast<int64_t>(SizeOf(argument.type.element)) / argument.type.lanes;
  if (argument.elements <= limit) return absl::OkStatus();
  return member.Error(
      Cat(argument.elements, " elements; the limit is ", limit, " (", SpecificationLimits::kArgumentBytes, " bytes)"));
}

absl::StatusOr<Argument> ReadArgument(const JsonMember& member, size_t index, Specification* spec) {
  RETURN_IF_ERROR(member.CheckObject());
  Argument argument;
  argument.name = Cat("arg", index);
  if (member["Name"].exists()) {
    ASSIGN_OR_RETURN(argument.name, member["Name"].Text());
  }
  ASSIGN_OR_RETURN(const std::string type, member["Type"].Text());
  if (type == "custom") return member["Type"].Unsupported("the type 'custom' is not supported");
  const absl::StatusOr<ArgumentType> parsed = ParseArgumentType(type);
  if (!parsed.ok()) return member["Type"].At(parsed.status());
  argument.type = *parsed;
  ASSIGN_OR_RETURN(argument.memory, MemoryOf(member["MemoryType"]));
  argument.is_symbol_too = member["MemType"].is_text() && member["MemType"].json().text == "Constant" &&
                           argument.memory == Argument::Memory::kVector && spec->dialect == device::Dialect::kCuda;
  ASSIGN_OR_RETURN(argument.is_written, IsWritten(member, argument));
  const JsonMember access = member["AccessType"];
  argument.is_read = !(argument.is_written && access.is_text() && access.json().text == "WriteOnly");
  if (argument.memory != Argument::Memory::kScalar) {
    ASSIGN_OR_RETURN(argument.elements, ElementsOf(member["Size"], *spec));
    RETURN_IF_ERROR(CheckSize(member["Size"], argument));
  }
  if (argument.memory == Argument::Memory::kLocal) {
    if (spec->dialect == device::Dialect::kOpenCl) return argument;
    return member["MemoryType"].Error("CUDA has no arguments in local memory; use SharedMemory");
  }
  ASSIGN_OR_RETURN(argument.fill, ReadFill(member, spec->arena.get()));
  if (!member["RandomSeed"].exists()) argument.fill.seed = index;
  const bool is_file = argument.fill.kind == Fill::Kind::kRawFile || argument.fill.kind == Fill::Kind::kNpyFile;
  if (argument.memory == Argument::Memory::kScalar && is_file) {
    return member["FillType"].Unsupported("a scalar from a file is not supported");
  }
  return argument;
}

absl::StatusOr<Fill::Kind> FillKindOf(const JsonMember& member, std::string_view file) {
  if (!member.exists()) return Fill::Kind::kConstant;
  ASSIGN_OR_RETURN(const std::string text, member.Text());
  if (text == "Constant") return Fill::Kind::kConstant;
  if (text == "Random") return Fill::Kind::kRandom;
  if (text == "Range") return Fill::Kind::kRange;
  if (text == "BinaryRaw") return file.ends_with(".npy") ? Fill::Kind::kNpyFile : Fill::Kind::kRawFile;
  if (text == "Npy") return Fill::Kind::kNpyFile;
  if (text == "Generator" || text == "Script" || text == "BinaryHDF") {
    return member.Unsupported(Cat("values of the type '", text,
                                  "' are not supported; supported are Constant, Random, Range, BinaryRaw and Npy"));
  }
  return member.Error(Cat("unknown type '", text, "'; known are Constant, Random, Range, BinaryRaw and Npy"));
}

}  // namespace

absl::StatusOr<Fill> ReadFill(const JsonMember& member, ValueArena* arena) {
  Fill fill;
  const JsonMember source = member["DataSource"];
  if (source.exists()) {
    ASSIGN_OR_RETURN(fill.file, source.Text());
  }
  ASSIGN_OR_RETURN(fill.kind, FillKindOf(member["FillType"], fill.file));
  const bool is_file = fill.kind == Fill::Kind::kRawFile || fill.kind == Fill::Kind::kNpyFile;
  if (is_file && fill.file.empty())
    return source.Text().ok() ? source.Error("the name is empty") : source.Text().status();
  const bool defaults_to_one = fill.kind == Fill::Kind::kRandom || fill.kind == Fill::Kind::kRange;
  fill.value = Value::Integer(defaults_to_one ? 1 : 0);
  const JsonMember value = member["FillValue"];
  if (value.exists()) {
    const absl::StatusOr<Value> parsed = arena->FromJson(value.json());
    if (!parsed.ok()) return value.At(parsed.status());
    if (!parsed->is_number()) return value.Error("expected a number");
    fill.value = *parsed;
  }
  const JsonMember seed = member["RandomSeed"];
  if (seed.exists()) {
    ASSIGN_OR_RETURN(const int64_t number, seed.Integer());
    fill.seed = static_cast<uint64_t>(number);
  }
  return fill;
}

absl::Status ReadArguments(const JsonMember& arguments, Specification* spec) {
  ASSIGN_OR_RETURN(const std::vector<JsonMember> items, arguments.Items());
  if (items.size() > SpecificationLimits::kArguments) {
    return arguments.Error(Cat(items.size(), " arguments; the limit is ", SpecificationLimits::kArguments));
  }
  for (const JsonMember& item : items) {
    ASSIGN_OR_RETURN(Argument argument, ReadArgument(item, spec->arguments.size(), spec));
    for (const Argument& other : spec->arguments) {
      if (other.name == argument.name) return item["Name"].Error(Cat("two arguments have the name '", other.name, "'"));
    }
    spec->arguments.push_back(std::move(argument));
  }
  return absl::OkStatus();
}

}  // namespace telemetry::worker::spec

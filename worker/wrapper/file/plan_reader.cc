#include "worker/wrapper/file/plan_reader.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "proto/base/status_macros.h"
#include "proto/record/strings.h"
#include "worker/codegen/config.h"
#include "worker/device/dtype.h"
#include "worker/spec/json_member.h"
#include "worker/wrapper/file/plan_file.h"
#include "worker/wrapper/plan_builder.h"

namespace telemetry::worker::wrapper::file {

using device::DType;
using record::Cat;
using record::Json;
using spec::JsonMember;

namespace {

using Limits = PlanFileLimits;
using MemberNames = std::vector<std::string_view>;

constexpr Reduction kReductions[] = {Reduction::kSum, Reduction::kProduct, Reduction::kMax, Reduction::kMin,
                                     Reduction::kMean};

std::string Joined(const MemberNames& names) {
  std::string text;
  for (const std::string_view name : names) text += Cat(text.empty() ? "" : ", ", name);
  return text;
}

// Checks that a value is an object with some of these members, each at most once.
absl::Status CheckMembers(const JsonMember& object, const MemberNames& known) {
  RETURN_IF_ERROR(object.CheckObject());
  std::set<std::string_view> seen;
  for (const auto& [name, value] : object.json().members) {
    // A long name would make the message long.
    const std::string shown = name.size() <= Limits::kNameBytes ? Cat(" '", name, "'") : "";
    if (std::find(known.begin(), known.end(), name) == known.end()) {
      return object.Error(Cat("unknown member", shown, "; known are ", Joined(known)));
    }
    if (!seen.insert(name).second) return object.Error(Cat("two members", shown));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<JsonMember>> ReadItems(const JsonMember& array, size_t most) {
  ASSIGN_OR_RETURN(std::vector<JsonMember> items, array.Items());
  if (items.size() > most) return array.Error(Cat(items.size(), " items; at most ", most, " are allowed"));
  return items;
}

absl::StatusOr<std::string> ReadName(const JsonMember& member) {
  ASSIGN_OR_RETURN(std::string name, member.Text());
  const auto is_allowed = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-' || c == '.';
  };
  if (name.empty() || name.size() > Limits::kNameBytes || !std::all_of(name.begin(), name.end(), is_allowed)) {
    return member.Error(Cat("a name has 1 to ", Limits::kNameBytes, " characters: letters, digits, '_', '-' and '.'"));
  }
  return name;
}

absl::StatusOr<DType> ReadDType(const JsonMember& member) {
  ASSIGN_OR_RETURN(const std::string text, member.Text());
  const absl::StatusOr<DType> dtype = device::ParseDType(text.substr(0, Limits::kNameBytes));
  if (!dtype.ok()) return member.At(dtype.status());
  if (IsInteger(*dtype) && *dtype != DType::kI32) return member.Error("the integers of plans are i32");
  return *dtype;
}

absl::StatusOr<bool> ReadBool(const JsonMember& member) {
  const Json::Kind kind = member.json().kind;
  if (kind == Json::Kind::kTrue || kind == Json::Kind::kFalse) return kind == Json::Kind::kTrue;
  return member.Error("expected true or false");
}

// A reader of one file, line by line into a PlanBuilder.
class PlanReader {
 public:
  PlanReader(const JsonMember& file, std::string name, PlanSymbols symbols, SpecKernels* kernels)
      : file_(file), symbols_(std::move(symbols)), kernels_(kernels), builder_(std::move(name)) {}

  absl::StatusOr<Plan> Read() {
    ASSIGN_OR_RETURN(const std::vector<JsonMember> inputs, ReadItems(file_["inputs"], Limits::kInputs));
    for (const JsonMember& input : inputs) RETURN_IF_ERROR(ReadInput(input));
    RETURN_IF_ERROR(ReadLines(file_["lines"]));
    ASSIGN_OR_RETURN(const std::vector<JsonMember> outputs, ReadItems(file_["outputs"], Limits::kOutputs));
    if (outputs.empty()) return file_["outputs"].Error("missing or empty; expected the names of buffers");
    for (const JsonMember& output : outputs) {
      ASSIGN_OR_RETURN(const BufferRef buffer, ReadBuffer(output));
      builder_.Output(buffer);
      RETURN_IF_ERROR(output.At(builder_.status()));
    }
    builder_.SetSymbols(symbols_.symbols());
    return builder_.Finish();
  }

 private:
  using ReadKind = absl::Status (PlanReader::*)(const JsonMember& line);

  absl::Status ReadInput(const JsonMember& input) {
    RETURN_IF_ERROR(CheckMembers(input, {"name", "dtype", "sizes", "strides"}));
    ASSIGN_OR_RETURN(const std::string name, ReadName(input["name"]));
    ASSIGN_OR_RETURN(const DType dtype, ReadDType(input["dtype"]));
    ASSIGN_OR_RETURN(Sizes sizes, ReadSizes(input["sizes"]));
    std::vector<int64_t> strides;
    if (input["strides"].exists()) {
      ASSIGN_OR_RETURN(strides, ReadIntegers(input["strides"]));
    }
    buffers_[name] = builder_.Input(name, dtype, std::move(sizes.values), std::move(strides));
    builder_.SetForms(buffers_[name], std::move(sizes.forms));
    return input.At(builder_.status());
  }

  absl::Status ReadLines(const JsonMember& lines) {
    ASSIGN_OR_RETURN(const std::vector<JsonMember> items, ReadItems(lines, Limits::kLines));
    lines_ += items.size();
    if (lines_ > Limits::kLines) return lines.Error(Cat("the plan has more than ", Limits::kLines, " lines"));
    for (const JsonMember& line : items) RETURN_IF_ERROR(ReadLine(line));
    return absl::OkStatus();
  }

  // A line is an object whose kind is the name of one of its members.
  absl::Status ReadLine(const JsonMember& line) {
    static constexpr std::pair<std::string_view, ReadKind> kKinds[] = {{"call", &PlanReader::ReadCall},
                                                                       {"extern", &PlanReader::ReadCall},
                                                                       {"extern_allocating", &PlanReader::ReadCall},
                                                                       {"spec", &PlanReader::ReadSpecCall},
                                                                       {"view", &PlanReader::ReadView},
                                                                       {"index_put", &PlanReader::ReadIndexPut},
                                                                       {"scatter", &PlanReader::ReadScatter},
                                                                       {"concatenate", &PlanReader::ReadConcatenate},
                                                                       {"if", &PlanReader::ReadIf},
                                                                       {"subgraph", &PlanReader::ReadSubgraph},
                                                                       {"allocate", &PlanReader::ReadAllocate},
                                                                       {"free", &PlanReader::ReadEnd},
                                                                       {"release", &PlanReader::ReadEnd},
                                                                       {"comment", &PlanReader::ReadComment}};
    RETURN_IF_ERROR(line.CheckObject());
    MemberNames names;
    for (const auto& [name, read] : kKinds) {
      names.push_back(name);
      if (line.json().Find(name) == nullptr) continue;
      RETURN_IF_ERROR((this->*read)(line));
      return line.At(builder_.status());
    }
    return line.Error(Cat("a line has one of the members ", Joined(names)));
  }

  absl::Status ReadCall(const JsonMember& line) {
    const std::string_view kind = line["call"].exists()     ? "call"
                                  : line["extern"].exists() ? "extern"
                                                            : "extern_allocating";
    RETURN_IF_ERROR(CheckMembers(line, {kind, "arguments", "outputs", "into", "numbers", "config"}));
    ASSIGN_OR_RETURN(const std::string kernel, ReadName(line[kind]));
    ASSIGN_OR_RETURN(const std::vector<BufferRef> arguments, ReadBuffers(line["arguments"]));
    CallOptions options;
    RETURN_IF_ERROR(ReadTargets(line, &options));
    RETURN_IF_ERROR(ReadNumbers(line["numbers"], &options.numbers));
    if (line["config"].exists()) {
      ASSIGN_OR_RETURN(options.config, ReadConfig(line["config"]));
    }
    const std::vector<std::string> names = options.names;
    CallOutputs outputs;
    if (kind == "call") outputs = builder_.Call(kernel, arguments, options);
    if (kind == "extern") outputs = builder_.CallExtern(kernel, arguments, options);
    if (kind == "extern_allocating") outputs = builder_.CallExternAllocating(kernel, arguments, options);
    for (size_t i = 0; i < names.size(); ++i) buffers_[names[i]] = outputs[i];
    return absl::OkStatus();
  }

  absl::Status ReadSpecCall(const JsonMember& line) {
    RETURN_IF_ERROR(CheckMembers(line, {"spec", "arguments", "outputs", "into", "config"}));
    ASSIGN_OR_RETURN(const std::shared_ptr<const SourceKernel> kernel, ReadSpec(line["spec"], line["config"]));
    ASSIGN_OR_RETURN(const std::vector<BufferRef> arguments, ReadBuffers(line["arguments"]));
    CallOptions options;
    RETURN_IF_ERROR(ReadTargets(line, &options));
    const CallOutputs outputs = builder_.CallSource(kernel, arguments, options);
    for (size_t i = 0; i < options.names.size(); ++i) buffers_[options.names[i]] = outputs[i];
    return absl::OkStatus();
  }

  absl::StatusOr<std::shared_ptr<const SourceKernel>> ReadSpec(const JsonMember& spec, const JsonMember& config) {
    ASSIGN_OR_RETURN(const std::string file, spec.Text());
    if (kernels_ == nullptr) return spec.Error("specifications are read only for plans that are files");
    ConfigChoice choice;
    choice.is_best = config.is_text() && config.json().text == "best";
    if (config.exists() && !choice.is_best) {
      ASSIGN_OR_RETURN(choice.given, ReadConfig(config));
    }
    absl::StatusOr<std::shared_ptr<const SourceKernel>> kernel = kernels_->Find(file, choice);
    return kernel.ok() ? std::move(kernel) : spec.At(kernel.status());
  }

  static absl::StatusOr<codegen::Config> ReadConfig(const JsonMember& member) {
    ASSIGN_OR_RETURN(const std::string text, member.Text());
    absl::StatusOr<codegen::Config> config = codegen::Config::Parse(text);
    return config.ok() ? std::move(config) : member.At(config.status());
  }

  // Reads the names of new outputs, or the buffers to write.
  absl::Status ReadTargets(const JsonMember& line, CallOptions* options) {
    ASSIGN_OR_RETURN(options->into, ReadBuffers(line["into"]));
    ASSIGN_OR_RETURN(options->names, ReadNames(line["outputs"]));
    if (options->into.empty() != options->names.empty()) return absl::OkStatus();
    return line.Error("a call has either 'outputs', names of new buffers, or 'into', buffers to write");
  }

  absl::Status ReadView(const JsonMember& line) {
    RETURN_IF_ERROR(CheckMembers(line, {"view", "of", "sizes", "strides", "offset"}));
    ASSIGN_OR_RETURN(const std::string name, ReadName(line["view"]));
    ASSIGN_OR_RETURN(const BufferRef base, ReadBuffer(line["of"]));
    ASSIGN_OR_RETURN(Sizes sizes, ReadSizes(line["sizes"]));
    ASSIGN_OR_RETURN(std::vector<int64_t> strides, ReadIntegers(line["strides"]));
    int64_t offset = 0;
    if (line["offset"].exists()) {
      ASSIGN_OR_RETURN(offset, symbols_.Evaluate(line["offset"], &evaluation_));
    }
    buffers_[name] = builder_.View(base, std::move(sizes.values), std::move(strides), offset, name);
    builder_.SetForms(buffers_[name], std::move(sizes.forms));
    return absl::OkStatus();
  }

  absl::Status ReadIndexPut(const JsonMember& line) {
    RETURN_IF_ERROR(CheckMembers(line, {"index_put", "indices", "values", "accumulate"}));
    ASSIGN_OR_RETURN(const BufferRef target, ReadBuffer(line["index_put"]));
    ASSIGN_OR_RETURN(const BufferRef indices, ReadBuffer(line["indices"]));
    ASSIGN_OR_RETURN(const BufferRef values, ReadBuffer(line["values"]));
    bool accumulate = false;
    if (line["accumulate"].exists()) {
      ASSIGN_OR_RETURN(accumulate, ReadBool(line["accumulate"]));
    }
    builder_.IndexPut(target, indices, values, accumulate);
    return absl::OkStatus();
  }

  absl::Status ReadScatter(const JsonMember& line) {
    RETURN_IF_ERROR(CheckMembers(line, {"scatter", "dimension", "indices", "values", "reduce"}));
    ASSIGN_OR_RETURN(const BufferRef target, ReadBuffer(line["scatter"]));
    ASSIGN_OR_RETURN(const BufferRef indices, ReadBuffer(line["indices"]));
    ASSIGN_OR_RETURN(const int dimension, ReadDimension(line["dimension"]));
    Reduction reduction = Reduction::kNone;
    if (line["reduce"].exists()) {
      ASSIGN_OR_RETURN(const std::string name, line["reduce"].Text());
      const auto is_named = [&](Reduction known) { return ReductionName(known) == name; };
      const auto* found = std::find_if(std::begin(kReductions), std::end(kReductions), is_named);
      if (found == std::end(kReductions)) return line["reduce"].Error("expected sum, prod, amax, amin or mean");
      reduction = *found;
    }
    const JsonMember values = line["values"];
    if (values.exists() && !values.is_text()) {
      ASSIGN_OR_RETURN(const double number, values.Number());
      builder_.Scatter(target, dimension, indices, number, reduction);
    } else {
      ASSIGN_OR_RETURN(const BufferRef buffer, ReadBuffer(values));
      builder_.Scatter(target, dimension, indices, buffer, reduction);
    }
    return absl::OkStatus();
  }

  absl::Status ReadConcatenate(const JsonMember& line) {
    RETURN_IF_ERROR(CheckMembers(line, {"concatenate", "dimension", "outputs", "into"}));
    ASSIGN_OR_RETURN(const std::vector<BufferRef> tensors, ReadBuffers(line["concatenate"]));
    ASSIGN_OR_RETURN(const int dimension, ReadDimension(line["dimension"]));
    CallOptions options;
    ASSIGN_OR_RETURN(options.into, ReadBuffers(line["into"]));
    ASSIGN_OR_RETURN(options.names, ReadNames(line["outputs"]));
    if (options.into.size() + options.names.size() != 1) {
      return line.Error("expected one name in 'outputs', that of a new buffer, or in 'into', the buffer to write");
    }
    const BufferRef output = builder_.Concatenate(tensors, dimension, options);
    if (!options.names.empty()) buffers_[options.names[0]] = output;
    return absl::OkStatus();
  }

  absl::StatusOr<int> ReadDimension(const JsonMember& member) {
    ASSIGN_OR_RETURN(const int64_t dimension, symbols_.Evaluate(member, &evaluation_));
    if (dimension < static_cast<int64_t>(Limits::kDimensions)) return static_cast<int>(dimension);
    return member.Error("no such dimension");
  }

  absl::Status ReadIf(const JsonMember& line) {
    RETURN_IF_ERROR(CheckMembers(line, {"if", "then", "else"}));
    if (IsCondition(line["if"])) return ReadDecided(line);
    ASSIGN_OR_RETURN(const BufferRef predicate, ReadBuffer(line["if"]));
    if (!line["then"].exists()) return line["then"].Error("missing; expected an array of lines");
    builder_.If(predicate);
    RETURN_IF_ERROR(line.At(builder_.status()));
    RETURN_IF_ERROR(ReadLines(line["then"]));
    if (line["else"].exists()) {
      builder_.Else();
      RETURN_IF_ERROR(ReadLines(line["else"]));
    }
    builder_.EndIf();
    return absl::OkStatus();
  }

  // Returns true for an expression of symbols, false for the name of a buffer.
  bool IsCondition(const JsonMember& predicate) const {
    if (!predicate.is_text() || buffers_.contains(predicate.json().text)) return false;
    return symbols_.Contains(predicate.json().text) || !ReadName(predicate).ok();
  }

  // Reads the branch of a conditional that the sizes choose, as a subgraph. The lines of the other branch need not make
  // sense for these sizes.
  absl::Status ReadDecided(const JsonMember& line) {
    ASSIGN_OR_RETURN(const bool is_true, symbols_.EvaluateCondition(line["if"], &evaluation_));
    if (!line["then"].exists()) return line["then"].Error("missing; expected an array of lines");
    for (const char* branch : {"then", "else"}) {
      const absl::StatusOr<std::vector<JsonMember>> lines = ReadItems(line[branch], Limits::kLines);
      if (!lines.ok()) return lines.status();
    }
    const std::string_view taken = is_true ? "then" : "else";
    builder_.Comment(Cat("if ", line["if"].json().text, ": ", is_true ? "true" : "false"));
    if (!line[taken].exists()) return absl::OkStatus();
    builder_.EnterSubgraph(Cat(taken, "_of_sizes_", next_decided_++));
    RETURN_IF_ERROR(line.At(builder_.status()));
    RETURN_IF_ERROR(ReadLines(line[taken]));
    builder_.ExitSubgraph();
    return absl::OkStatus();
  }

  absl::Status ReadSubgraph(const JsonMember& line) {
    RETURN_IF_ERROR(CheckMembers(line, {"subgraph", "lines"}));
    ASSIGN_OR_RETURN(const std::string name, ReadName(line["subgraph"]));
    if (!line["lines"].exists()) return line["lines"].Error("missing; expected an array of lines");
    builder_.EnterSubgraph(name);
    RETURN_IF_ERROR(line.At(builder_.status()));
    RETURN_IF_ERROR(ReadLines(line["lines"]));
    builder_.ExitSubgraph();
    return absl::OkStatus();
  }

  absl::Status ReadAllocate(const JsonMember& line) {
    RETURN_IF_ERROR(CheckMembers(line, {"allocate", "dtype", "sizes"}));
    ASSIGN_OR_RETURN(const std::string name, ReadName(line["allocate"]));
    ASSIGN_OR_RETURN(const DType dtype, ReadDType(line["dtype"]));
    ASSIGN_OR_RETURN(Sizes sizes, ReadSizes(line["sizes"]));
    buffers_[name] = builder_.Allocate(name, dtype, std::move(sizes.values));
    builder_.SetForms(buffers_[name], std::move(sizes.forms));
    return absl::OkStatus();
  }

  absl::Status ReadEnd(const JsonMember& line) {
    const bool is_free = line["free"].exists();
    const std::string_view kind = is_free ? "free" : "release";
    RETURN_IF_ERROR(CheckMembers(line, {kind}));
    ASSIGN_OR_RETURN(const BufferRef buffer, ReadBuffer(line[kind]));
    is_free ? builder_.Free(buffer) : builder_.Release(buffer);
    return absl::OkStatus();
  }

  absl::Status ReadComment(const JsonMember& line) {
    RETURN_IF_ERROR(CheckMembers(line, {"comment"}));
    ASSIGN_OR_RETURN(const std::string text, line["comment"].Text());
    if (text.size() > Limits::kCommentBytes) {
      return line["comment"].Error(Cat("at most ", Limits::kCommentBytes, " bytes are allowed"));
    }
    builder_.Comment(text);
    return absl::OkStatus();
  }

  absl::Status ReadNumbers(const JsonMember& member, kernels::Numbers* numbers) {
    if (!member.exists()) return absl::OkStatus();
    RETURN_IF_ERROR(member.CheckObject());
    if (member.json().members.size() > Limits::kCallBuffers) {
      return member.Error(Cat("at most ", Limits::kCallBuffers, " numbers are allowed"));
    }
    for (const auto& [name, value] : member.json().members) {
      const Json text = Json::String(name);
      ASSIGN_OR_RETURN(const std::string checked, ReadName(JsonMember(&text, member.path())));
      const JsonMember number = member[checked];
      double given = 0;
      if (value.kind == Json::Kind::kTrue || value.kind == Json::Kind::kFalse) {
        given = value.kind == Json::Kind::kTrue ? 1 : 0;
      } else {
        ASSIGN_OR_RETURN(given, number.Number());
      }
      if (!numbers->emplace(checked, given).second) return number.Error("is given twice");
    }
    return absl::OkStatus();
  }

  // The sizes of a buffer.
  struct Sizes {
    std::vector<int64_t> values;
    std::vector<SizeForm> forms;
  };

  absl::StatusOr<Sizes> ReadSizes(const JsonMember& array) {
    if (!array.exists()) return array.Error("missing; expected an array of integers or expressions");
    ASSIGN_OR_RETURN(const std::vector<JsonMember> items, ReadItems(array, Limits::kDimensions));
    Sizes sizes;
    for (const JsonMember& item : items) {
      ASSIGN_OR_RETURN(SymbolicSize size, symbols_.EvaluateForm(item, &evaluation_));
      sizes.values.push_back(size.value);
      sizes.forms.push_back(std::move(size.form));
    }
    return sizes;
  }

  absl::StatusOr<std::vector<int64_t>> ReadIntegers(const JsonMember& array) {
    if (!array.exists()) return array.Error("missing; expected an array of integers or expressions");
    ASSIGN_OR_RETURN(const std::vector<JsonMember> items, ReadItems(array, Limits::kDimensions));
    std::vector<int64_t> integers;
    for (const JsonMember& item : items) {
      ASSIGN_OR_RETURN(const int64_t integer, symbols_.Evaluate(item, &evaluation_));
      integers.push_back(integer);
    }
    return integers;
  }

  absl::StatusOr<BufferRef> ReadBuffer(const JsonMember& member) {
    ASSIGN_OR_RETURN(const std::string name, ReadName(member));
    const auto found = buffers_.find(name);
    if (found == buffers_.end()) return member.Error(Cat("no buffer '", name, "' before this place"));
    return found->second;
  }

  absl::StatusOr<std::vector<BufferRef>> ReadBuffers(const JsonMember& array) {
    ASSIGN_OR_RETURN(const std::vector<JsonMember> items, ReadItems(array, Limits::kCallBuffers));
    std::vector<BufferRef> buffers;
    for (const JsonMember& item : items) {
      ASSIGN_OR_RETURN(const BufferRef buffer, ReadBuffer(item));
      buffers.push_back(buffer);
    }
    return buffers;
  }

  static absl::StatusOr<std::vector<std::string>> ReadNames(const JsonMember& array) {
    ASSIGN_OR_RETURN(const std::vector<JsonMember> items, ReadItems(array, Limits::kCallBuffers));
    std::vector<std::string> names;
    for (const JsonMember& item : items) {
      ASSIGN_OR_RETURN(std::string name, ReadName(item));
      names.push_back(std::move(name));
    }
    return names;
  }

  const JsonMember& file_;
  PlanSymbols symbols_;
  SpecKernels* const kernels_;   // null: no specification is read
  spec::Evaluation evaluation_;  // the budget of all expressions of the file
  PlanBuilder builder_;
  size_t lines_ = 0;      // read so far
  int next_decided_ = 0;  // number of the next conditional that the sizes decide
  std::map<std::string, BufferRef, std::less<>> buffers_;
};

}  // namespace

absl::StatusOr<Plan> ReadPlanLines(const JsonMember& file, PlanSymbols symbols, SpecKernels* kernels) {
  RETURN_IF_ERROR(CheckMembers(file, {"name", "symbols", "inputs", "lines", "outputs"}));
  ASSIGN_OR_RETURN(std::string name, ReadName(file["name"]));
  absl::StatusOr<Plan> plan = PlanReader(file, std::move(name), std::move(symbols), kernels).Read();
  if (plan.ok()) return plan;
  // An unknown kernel is a mistake of the file, too.
  return absl::InvalidArgumentError(plan.status().message());
}

}  // namespace telemetry::worker::wrapper::file

#include "worker/repro/spec_program_text.h"

#include <cctype>
#include <string_view>

#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "proto/record/numbers.h"
#include "proto/record/strings.h"
#include "worker/device/compile_options.h"
#include "worker/repro/program_files.h"
#include "worker/wrapper/program/program_text.h"

namespace telemetry::worker::repro {
namespace {

using device::Dialect;
using record::Cat;
using wrapper::program::RuntimeText;
using Code = SpecProgramModel::Code;
using Argument = SpecProgramModel::Argument;

enum class Language { kCpp, kPython };

// Returns a literal with these bytes, one line of the literal for each line of text. In Python it is one of bytes.
std::string Literal(Language language, std::string_view bytes) {
  const std::string begin = language == Language::kCpp ? "\"" : "b\"";
  std::string text = begin;
  for (size_t i = 0; i < bytes.size(); ++i) {
    const auto byte = static_cast<unsigned char>(bytes[i]);
    if (bytes[i] == '\n') {
      text += Cat("\\n\"", i + 1 == bytes.size() ? "" : Cat("\n    ", begin));
      if (i + 1 == bytes.size()) return text;
    } else if (bytes[i] == '"' || bytes[i] == '\\') {
      text += Cat("\\", std::string(1, bytes[i]));
    } else if (byte < 0x20 || byte >= 0x7f || (byte == '?' && language == Language::kCpp)) {
      text += absl::StrFormat("\\%03o", byte);  // without '?', there are no trigraphs
    } else {
      text += bytes[i];
    }
  }
  return text + "\"";
}

std::string CppLiteral(std::string_view bytes) { return Literal(Language::kCpp, bytes); }
// Returns an expression of Python whose value is this text.
std::string PythonText(std::string_view text) { return Cat("(", Literal(Language::kPython, text), ").decode()"); }

template <typename Write>
std::string List(const std::vector<std::string>& texts, const Write& write) {
  std::vector<std::string> items;
  for (const std::string& text : texts) items.push_back(write(text));
  return absl::StrJoin(items, ", ");
}

std::string CppCode(std::string_view name, const Code& code) {
  const spec::LaunchSize& size = code.size;
  return Cat("const Code ", name, " = {\n    ", CppLiteral(code.function), ",\n    {", List(code.options, CppLiteral),
             "},\n    {", absl::StrJoin(size.grid, ", "), "},\n    {", absl::StrJoin(size.threads, ", "), "},\n    ",
             size.shared_bytes, ",\n    ", CppLiteral(code.source), "};\n");
}

// "written" becomes "kWritten".
std::string CppKind(const std::string& kind) {
  return Cat("k", std::string(1, static_cast<char>(std::toupper(static_cast<unsigned char>(kind[0])))), kind.substr(1));
}

std::string CppArgument(const Argument& argument) {
  return Cat("    {", CppLiteral(argument.name), ", ", CppKind(argument.kind), ", ",
             argument.is_variable_too ? "true" : "false", ", ", CppLiteral(argument.type), ", ", argument.bytes, ", ",
             CppLiteral(argument.file.empty() ? argument.embedded : argument.file), ", ", argument.embedded.size(),
             ", ", CppLiteral(argument.expected), ", ", record::FloatRepr(argument.absolute), ", ",
             record::FloatRepr(argument.relative), "},\n");
}

std::string CppIncludes(Dialect dialect) {
  std::string text = dialect == Dialect::kOpenCl ? "#define CL_TARGET_OPENCL_VERSION 120\n#include <CL/cl.h>\n\n"
                                                 : "#include <cuda.h>\n#include <nvrtc.h>\n\n";
  for (const char* header : {"algorithm", "chrono", "cmath", "cstdint", "cstdio", "cstdlib", "cstring", "fstream",
                             "iterator", "string", "utility", "vector"}) {
    text += Cat("#include <", header, ">\n");
  }
  return text;
}

// Returns the options of the kernels that take times.
std::string CppTimingOptions(const SpecProgramModel& model) {
  if (model.dialect == Dialect::kOpenCl)
    return Cat("const char kCompileOptions[] = ", CppLiteral(device::kOpenClCompileOptions), ";\n");
  return Cat("const char* const kCompileOptions[] = {", List(model.cuda_options, CppLiteral), "};\n");
}

std::string PythonCode(std::string_view name, const Code& code, Dialect dialect) {
  // NVRTC's functions take a tuple of options, PyOpenCL's a list.
  const std::string options = List(code.options, PythonText);
  return Cat(name, " = {\n    \"function\": ", PythonText(code.function),
             ",\n    \"options\": ", dialect == Dialect::kOpenCl ? Cat("[", options, "]") : Cat("(", options, ",)"),
             ",\n    \"blocks\": [", absl::StrJoin(code.size.grid, ", "), "],\n    \"threads\": [",
             absl::StrJoin(code.size.threads, ", "), "],\n    \"shared_bytes\": ", code.size.shared_bytes,
             ",\n    \"source\": ", PythonText(code.source), ",\n}\n");
}

std::string PythonArgument(const Argument& argument) {
  return Cat("    {\"name\": ", PythonText(argument.name), ", \"kind\": \"", argument.kind,
             "\", \"is_variable_too\": ", argument.is_variable_too ? "True" : "False", ", \"type\": \"", argument.type,
             "\", \"bytes\": ", argument.bytes, ",\n     \"contents\": ", Literal(Language::kPython, argument.embedded),
             ", \"file\": ", PythonText(argument.file), ", \"expected\": ", PythonText(argument.expected),
             ",\n     \"absolute\": ", record::FloatRepr(argument.absolute),
             ", \"relative\": ", record::FloatRepr(argument.relative), "},\n");
}

}  // namespace

std::string CppSpecProgram(const SpecProgramModel& model) {
  const bool is_opencl = model.dialect == Dialect::kOpenCl;
  std::string text;
  for (const std::string& comment : model.comments) text += CommentLine(comment);
  text += Cat("\n", CppIncludes(model.dialect), "\n", CppTimingOptions(model),
              "const double kMeasuredMs = ", record::FloatRepr(model.measured_ms), ";  // 0: not known\n",
              "const char kDevice[] = ", CppLiteral(model.device), ";\n\n", RuntimeText("spec_types.cpp"), "\n",
              CppCode("kKernel", model.kernel), "\n", CppCode("kReference", model.reference.value_or(Code())),
              Cat("const bool kHasReference = ", model.reference.has_value() ? "true" : "false", ";\n"),
              Cat("const bool kIsChecked = ", model.is_checked ? "true" : "false", ";\n\n"),
              "const std::vector<Argument> kArguments = {\n");
  for (const Argument& argument : model.arguments) text += CppArgument(argument);
  text += "};\n";
  for (const char* file : {"values.cpp", is_opencl ? "opencl.cpp" : "cuda.cpp", "time.cpp",
                           is_opencl ? "spec_opencl.cpp" : "spec_cuda.cpp", "spec_main.cpp"}) {
    text += Cat("\n", RuntimeText(file));
  }
  return text;
}

std::string PythonSpecProgram(const SpecProgramModel& model) {
  std::string text = "#!/usr/bin/env python3\n";
  // Comments of Python begin with one character less.
  for (const std::string& comment : model.comments) text += Cat("#", CommentLine(comment).substr(2));
  text += Cat("\n", RuntimeText("spec_head.py"), "\nMEASURED_MS = ", record::FloatRepr(model.measured_ms),
              "  # 0: not known\nDEVICE = ", PythonText(model.device),
              "\nIS_CHECKED = ", model.is_checked ? "True" : "False", "\n\n",
              PythonCode("KERNEL", model.kernel, model.dialect), "\n",
              model.reference ? PythonCode("REFERENCE", *model.reference, model.dialect) : "REFERENCE = None\n",
              "\nARGUMENTS = [\n");
  for (const Argument& argument : model.arguments) text += PythonArgument(argument);
  const bool is_opencl = model.dialect == Dialect::kOpenCl;
  return Cat(text, "]\n\n\n", RuntimeText(is_opencl ? "spec_pyopencl.py" : "spec_cupy.py"), "\n\n",
             RuntimeText("spec_main.py"), "\n\nif __name__ == \"__main__\":\n    sys.exit(main())\n");
}

}  // namespace telemetry::worker::repro

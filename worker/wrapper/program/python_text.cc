#include "worker/wrapper/program/python_text.h"

#include "absl/strings/str_join.h"
#include "proto/record/strings.h"
#include "worker/device/compile_options.h"
#include "worker/wrapper/program/program_text.h"

namespace telemetry::worker::wrapper::program {

using record::Cat;

namespace {

std::string PythonExpectedText(const ProgramModel& model, size_t output, const std::string& name) {
  const PlanBuffer& buffer = model.plan->buffer(model.plan->outputs[output]);
  const Expectation& expected = model.expected[output];
  std::vector<std::string> samples;
  for (const double sample : expected.samples) samples.push_back(PythonNumber(sample, ValueDigits(buffer.dtype)));
  std::vector<std::string> stripes;
  for (const Stripe& stripe : expected.stripes) {
    stripes.push_back(
        Cat("(", PythonNumber(stripe.sum, SumDigits(buffer.dtype)), ", ", PythonNumber(stripe.tolerance, 4), ")"));
  }
  return Cat(name, " = (\n    ", Quoted(buffer.name), ", ", PythonNumber(expected.tolerance.absolute, 9), ", ",
             PythonNumber(expected.tolerance.relative, 9), ", ", expected.not_finite, ",\n    [",
             WrappedList(samples, 8), "],\n    ", expected.stripe_length, ", [", WrappedList(stripes, 4), "])\n");
}

}  // namespace

std::string PythonNumber(double value, int digits) { return NumberText(value, digits, "np.inf", "np.nan"); }

std::string TupleText(const std::vector<int64_t>& numbers) {
  return Cat("(", absl::StrJoin(numbers, ", "), numbers.size() == 1 ? ",)" : ")");
}

std::string TextTuple(const std::vector<std::string>& texts) {
  std::vector<std::string> quoted;
  for (const std::string& text : texts) quoted.push_back(Quoted(text));
  return Cat("(", absl::StrJoin(quoted, ", "), quoted.size() == 1 ? ",)" : ")");
}

std::string LaunchShapeText(const SourceKernel& kernel) {
  const device::LaunchShape& shape = kernel.code.shape;
  return Cat(TupleText({shape.grid, shape.grid_y, shape.grid_z}), ", ",
             TupleText({shape.threads, shape.threads_y, shape.threads_z}), ", ", shape.shared_bytes);
}

std::string PythonSourceNumber(const SourceNumber& number) {
  if (number.type == "f32") return Cat("np.float32(", PythonNumber(std::get<double>(number.value), 9), ")");
  if (number.type == "f64") return Cat("np.float64(", PythonNumber(std::get<double>(number.value), 17), ")");
  if (number.type == "bool") return Cat("np.bool_(", std::get<bool>(number.value) ? "True" : "False", ")");
  return Cat(number.type[0] == 'u' ? "np.uint" : "np.int", number.type.substr(1), "(", IntegerText(number), ")");
}

std::string PythonOptions(const ProgramModel& model) {
  const codegen::Target& target = model.options.target;
  std::vector<std::string> options = {device::kOpenClCompileOptions};
  if (target.dialect == device::Dialect::kCuda) options = device::CudaCompileOptions(Cat("sm_", target.sm));
  return Cat("COMPILE_OPTIONS = ", TextTuple(options), "\nSEED = ", model.options.seed, "  # of the inputs\n");
}

std::string PythonKernels(const ProgramModel& model, const ProgramNames& names) {
  std::string text;
  for (size_t i = 0; i < model.kernels.size(); ++i) {
    text += Cat("\n", names.sources[i], " = r'''", model.kernels[i].generated.source, "'''\n");
  }
  return text;
}

std::string ShapeTuple(const PlanShape& shape) {
  std::vector<std::string> texts;
  for (const auto& [symbol, size] : shape.sizes) texts.push_back(Cat(symbol, "=", size));
  return TextTuple(texts);
}

std::string PythonInputs(const ProgramModel& model, const ProgramNames& names) {
  std::string text = Cat("def ", names.inputs, "():\n");
  std::vector<std::string> made;
  for (size_t i = 0; i < model.plan->inputs.size(); ++i) {
    const int id = model.plan->inputs[i];
    const PlanBuffer& buffer = model.plan->buffer(id);
    const kernels::DrawRange& range = model.ranges[i];
    made.push_back(names.buffers[static_cast<size_t>(id)]);
    text += Cat("    # ", CommentText(InputText(model, i)), "\n    ", made.back(), " = make_input(",
                Quoted(ShortName(buffer.dtype)), ", ", TupleText(buffer.sizes), ", ", TupleText(buffer.strides), ", ",
                buffer.span(), ", ", PythonNumber(range.low), ", ", PythonNumber(range.high), ")\n");
  }
  return Cat(text, "    return [", absl::StrJoin(made, ", "), "]\n");
}

std::string PythonExpected(const ProgramModel& model, const ProgramNames& names) {
  std::string text;
  for (size_t i = 0; i < model.plan->outputs.size(); ++i) text += PythonExpectedText(model, i, names.expected[i]);
  return text;
}

}  // namespace telemetry::worker::wrapper::program

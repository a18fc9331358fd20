#include "tests/worker/wrapper/program/program_fixture.h"

#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include "gtest/gtest.h"
#include "tests/worker/wrapper/sample_plans.h"
#include "worker/wrapper/file/symbolic_plan.h"
#include "worker/wrapper/memory_plan.h"
#include "worker/wrapper/program/plan_values.h"
#include "worker/wrapper/program/program_text.h"

namespace telemetry::worker::wrapper::program {
namespace {

// Replaces the text between each occurrence of `begin` and the `end` that follows it.
void Elide(std::string* text, const std::string& begin, const std::string& end, const std::string& by) {
  for (size_t at = text->find(begin); at != std::string::npos; at = text->find(begin, at + begin.size())) {
    const size_t from = at + begin.size();
    text->replace(from, text->find(end, from) - from, by);
  }
}

// Removes the values of the expected outputs; keeps the first two lines of each, which have none.
std::string WithoutExpectedValues(const std::string& program) {
  std::istringstream lines(program);
  std::string text;
  int line_of_block = 0;  // 0: outside
  for (std::string line; std::getline(lines, line);) {
    const bool begins =
        line.starts_with("const Expected ") || (line.starts_with("expected_") && line.ends_with(" = ("));
    if (begins || line_of_block > 0) ++line_of_block;
    if (line_of_block < 3) text += line + "\n";
    if (line_of_block == 3) text += "    ...\n";
    if (line_of_block > 0 && (line.ends_with("};") || line.ends_with("])"))) line_of_block = 0;
  }
  return text;
}

std::vector<PlanShape> ShapesOf(const file::SymbolicPlan& plan, const std::string& symbol) {
  std::vector<PlanShape> shapes;
  for (const int64_t size : {16, 65, 128}) {
    shapes.push_back({.sizes = {{symbol, size}}, .plan = PlanMemory(*plan.At({{symbol, size}}))->plan});
  }
  return shapes;
}

}  // namespace

std::vector<Plan> FivePlans() {
  std::vector<Plan> plans = {*LayerNormPlan(), *AttentionPlan(), *GatedMlpPlan(), *StridedSoftmaxPlan(),
                             *NormedLossPlan()};
  for (Plan& plan : plans) plan = PlanMemory(plan)->plan;
  plans.back() = *NormedLossPlan();  // with the lines that memory planning removes
  return plans;
}

std::vector<uint64_t> RoutedPlanSeeds() {
  const Plan plan = *RoutedPlan();
  std::map<std::vector<double>, uint64_t> seeds;
  for (uint64_t seed = 1; seeds.size() < 4; ++seed) {
    const std::vector<std::vector<double>> inputs = DrawInputs(plan, InputRanges(plan), seed);
    seeds.emplace(std::vector<double>{inputs[2][0], inputs[3][0]}, seed);
  }
  std::vector<uint64_t> all;
  for (const auto& [predicates, seed] : seeds) all.push_back(seed);
  return all;
}

std::vector<PlanShape> DecidedShapes() {
  return ShapesOf(**file::SymbolicPlan::Read(TELEMETRY_PROGRAM_TESTS "/../file/decided.json"), "rows");
}

std::vector<PlanShape> AttentionShapes() { return ShapesOf(**file::SymbolicPlan::Find("attention"), "keys"); }

codegen::Target CudaTarget() {
  return {.dialect = device::Dialect::kCuda, .sm = 90, .compute_units = 132, .shared_bytes_per_block = 227 << 10};
}

codegen::Target OpenClTarget() { return {}; }

std::string ReadText(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

void WriteText(const std::string& path, const std::string& text) { std::ofstream(path) << text; }

TestFolder::TestFolder() : path_(::testing::TempDir() + "wrapper_program_XXXXXX") {
  if (mkdtemp(path_.data()) == nullptr) ADD_FAILURE() << path_ << " cannot be made";
}

TestFolder::~TestFolder() { std::filesystem::remove_all(path_); }

ShellOutcome Shell(const TestFolder& folder, const std::string& command) { return ShellIn(folder.path(), command); }

ShellOutcome ShellIn(const std::string& folder, const std::string& command) {
  std::FILE* pipe = popen(("cd '" + folder + "' && (" + command + ") 2>&1").c_str(), "r");
  ShellOutcome outcome;
  if (pipe == nullptr) return outcome;
  for (int c = std::fgetc(pipe); c != EOF; c = std::fgetc(pipe)) outcome.output += static_cast<char>(c);
  const int status = pclose(pipe);
  outcome.exit_status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return outcome;
}

std::string Python() { return std::filesystem::exists(TELEMETRY_VENV_PYTHON) ? TELEMETRY_VENV_PYTHON : "python3"; }

std::string Hex(const std::vector<std::byte>& bytes) {
  std::string text;
  for (const std::byte byte : bytes) {
    char two[3];
    std::snprintf(two, sizeof(two), "%02x", static_cast<unsigned>(byte));
    text += two;
  }
  return text;
}

std::string OwnText(std::string program) {
  for (const char* file : {"check.cpp",
                           "check.py",
                           "compile_cuda.py",
                           "cublas_product.cpp",
                           "cuda.cpp",
                           "cuda.py",
                           "debug_names.cpp",
                           "debug_names.py",
                           "debug_values.cpp",
                           "debug_values.py",
                           "fx.py",
                           "fx_add_rows.py",
                           "fx_cond.py",
                           "fx_cuda.py",
                           "fx_extern.py",
                           "fx_main.py",
                           "fx_opencl.py",
                           "fx_scatter.py",
                           "head.py",
                           "host_concatenate.cpp",
                           "host_index_put.cpp",
                           "host_layer_norm.cpp",
                           "host_product.cpp",
                           "host_product.py",
                           "host_scatter.cpp",
                           "index_put.py",
                           "layer_norm.py",
                           "main.cpp",
                           "main.py",
                           "opencl.cpp",
                           "predicate.cpp",
                           "predicate.py",
                           "product.py",
                           "scatter.py",
                           "time.cpp",
                           "values.cpp",
                           "values.py"}) {
    const std::string text(RuntimeText(file));
    const size_t at = program.find(text);
    if (at != std::string::npos) program.replace(at, text.size(), std::string("<runtime/") + file + ">\n");
  }
  Elide(&program, "R\"KERNEL(", ")KERNEL\"", "...");
  Elide(&program, " = r'''", "'''\n", "...");
  return WithoutExpectedValues(program);
}

}  // namespace telemetry::worker::wrapper::program

#include "worker/tune/tune_child.h"

#include <array>
#include <iostream>
#include <string_view>

#include "absl/status/status.h"
#include "worker/tune/compile/compile_child.h"
#include "worker/tune/measure/measure_child.h"

namespace telemetry::worker::tune {
namespace {

struct Role {
  std::string_view name;
  absl::Status (*run)();
};

constexpr std::array kRoles = {
    Role{.name = "compile", .run = &compile::RunCompileChild},
    Role{.name = "measure", .run = &measure::RunMeasureChild},
};

int Run(std::string_view name) {
  for (const Role& role : kRoles) {
    if (name != role.name) continue;
    const absl::Status status = role.run();
    if (status.ok()) return 0;
    std::cerr << "tune-child " << name << ": " << status.message() << "\n";
    return 1;
  }
  std::cerr << "tune-child: unknown role \"" << name << "\"\n";
  return 2;
}

}  // namespace

std::optional<int> RunTuneChild(int argc, char** argv) {
  if (argc < 2 || argv[1] != std::string_view("tune-child")) return std::nullopt;
  return Run(argc == 3 ? argv[2] : "");
}

}  // namespace telemetry::worker::tune

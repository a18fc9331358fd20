#include "server/commands/flag.h"

#include <algorithm>
#include <cctype>

#include "proto/base/usage.h"

namespace telemetry::collector {

std::string EnvironmentName(std::string flag) {
  std::replace(flag.begin(), flag.end(), '-', '_');
  std::transform(flag.begin(), flag.end(), flag.begin(), [](unsigned char c) { return std::toupper(c); });
  return "TELEMETRY_COLLECTOR_" + flag;
}

CLI::Option* Switch(CLI::App* app, const std::string& name, bool& value, const std::string& help) {
  return app->add_flag("--" + name, value, help)->envname(EnvironmentName(name));
}

CLI::Option* File(CLI::App* app, const std::string& name, std::string& value, const std::string& help) {
  return Flag(app, name, value, help)->required()->type_name("FILE")->check(cli::NotEmpty());
}

CLI::Option* Seconds(CLI::App* app, const std::string& name, absl::Duration& value, const std::string& help) {
  return app
      ->add_option_function<double>(
          "--" + name, [&value](const double& seconds) { value = absl::Seconds(seconds); }, help)
      ->envname(EnvironmentName(name))
      ->check(CLI::Range(0.001, 86400.0))
      ->default_str(std::to_string(absl::ToInt64Seconds(value)))
      ->type_name("SECONDS");
}

}  // namespace telemetry::collector

#include "tests/proto/record/sidecar/testdata.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "tests/paths.h"

namespace telemetry::record::sidecar {

std::vector<std::string> SampleFiles(std::string_view suffix) {
  std::vector<std::string> paths;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(TestdataDir())) {
    if (entry.path().string().ends_with(suffix)) paths.push_back(entry.path());
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

std::string ReadFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

std::vector<std::string> SplitLines(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const size_t end = text.find('\n');
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return lines;
}

}  // namespace telemetry::record::sidecar

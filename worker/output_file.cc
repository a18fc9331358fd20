#include "worker/output_file.h"

#include <fstream>
#include <iterator>

#include "absl/strings/str_cat.h"

namespace telemetry::worker {

absl::Status WriteOutputFile(const std::string& path, const std::string& text) {
  if (std::ifstream existing(path, std::ios::binary); existing) {
    if (std::string(std::istreambuf_iterator<char>(existing), {}) == text) return absl::OkStatus();
    return absl::AlreadyExistsError(
        absl::StrCat(path, " exists with different content: remove it, or pass another --out"));
  }
  std::ofstream file(path, std::ios::binary);
  if (!(file << text).flush()) return absl::UnavailableError(absl::StrCat(path, ": cannot be written"));
  return absl::OkStatus();
}

}  // namespace telemetry::worker

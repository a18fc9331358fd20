#include "worker/debug/value_files.h"

#include <cctype>
#include <filesystem>
#include <utility>

#include "absl/types/span.h"
#include "proto/base/status_macros.h"
#include "proto/record/strings.h"
#include "worker/debug/dense_bytes.h"
#include "worker/debug/npy_file.h"

namespace telemetry::worker::debug {
namespace {

using record::Cat;
using runtime::Tensor;

// Limit of the bytes that the name of a kernel or of an argument has in a file name, which is limited to 255 bytes.
constexpr size_t kLongestName = 100;

// Truncates a name and replaces characters that are not portable in file names.
std::string ToFileName(std::string_view name) {
  std::string text(name.substr(0, kLongestName));
  for (char& c : text) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '_' && c != '-' && c != '.') c = '_';
  }
  return text;
}

absl::Status WriteTensor(const Tensor& tensor, NewFile* file) {
  ASSIGN_OR_RETURN(std::vector<std::byte> dense, DenseBytes(tensor));
  const std::string header = NpyHeader(tensor.dtype, tensor.sizes);
  absl::Status status = file->Write(absl::MakeSpan(reinterpret_cast<const std::byte*>(header.data()), header.size()));
  if (status.ok()) status = file->Write(NpyElements(tensor.dtype, std::move(dense)));
  if (status.ok()) status = file->Close();
  return status;
}

}  // namespace

absl::Status ValueFiles::Save(std::string_view when, std::string_view kernel, std::string_view argument,
                              const Tensor& tensor) {
  std::error_code error;
  std::filesystem::create_directories(folder_, error);
  if (error) return absl::ErrnoToStatus(error.value(), Cat("cannot make the folder ", folder_));
  const std::string stem = Cat(folder_, "/", when, "_", ToFileName(kernel), "_", ToFileName(argument));
  int& number = launches_[std::string(kernel)];
  NewFile file;
  absl::Status status;
  do {
    status = file.Create(number > 1 ? Cat(stem, ".", number, ".npy") : Cat(stem, ".npy"));
  } while (absl::IsAlreadyExists(status) && ++number > 0);
  if (!status.ok()) return status;
  return WriteTensor(tensor, &file);
}

}  // namespace telemetry::worker::debug

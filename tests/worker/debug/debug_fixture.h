#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "worker/debug/value_debugger.h"
#include "worker/device/open_device.h"
#include "worker/ir/host_array.h"
#include "worker/runtime/tensor.h"

namespace telemetry::worker::debug {

// A test fixture with a device (TELEMETRY_TEST_DEVICE, default opencl:0), a temporary folder, and the text that
// debuggers print.
class DebugTest : public testing::Test {
 protected:
  DebugTest() {
    const char* id = std::getenv("TELEMETRY_TEST_DEVICE");
    device_ = device::OpenDevice(id == nullptr ? "opencl:0" : id).value();
    std::string name = absl::StrCat(testing::TempDir(), "/debug_test.XXXXXX");
    folder_ = mkdtemp(name.data());
  }
  ~DebugTest() override { std::filesystem::remove_all(folder_); }

  DebugPrint Print() {
    return [this](std::string_view text) { printed_.emplace_back(text); };
  }
  // Returns all printed text, joined by newlines.
  std::string printed() const { return absl::StrJoin(printed_, "\n"); }

  // Returns an array with these elements, given in row-major order and rounded to the dtype. Dense if no strides are
  // given.
  static ir::HostArray Array(device::DType dtype, std::vector<int64_t> sizes, const std::vector<double>& elements,
                             std::vector<int64_t> strides = {}) {
    if (strides.empty()) strides = ir::RowMajorStrides(sizes);
    ir::HostArray array = ir::HostArray::Strided(dtype, std::move(sizes), std::move(strides));
    array.SetRowMajor(elements);
    return array;
  }
  runtime::Tensor OnDevice(const ir::HostArray& array) const { return runtime::ToDevice(device_, array).value(); }

  std::vector<std::string> Files() const {
    std::vector<std::string> names;
    if (!std::filesystem::exists(folder_)) return names;
    for (const auto& entry : std::filesystem::directory_iterator(folder_)) names.push_back(entry.path().filename());
    std::sort(names.begin(), names.end());
    return names;
  }

  std::shared_ptr<device::Device> device_;
  std::string folder_;
  std::vector<std::string> printed_;
};

}  // namespace telemetry::worker::debug

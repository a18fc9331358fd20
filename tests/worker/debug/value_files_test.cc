#include "worker/debug/value_files.h"

#include <fstream>
#include <sstream>

#include "gmock/gmock.h"
#include "tests/client/small_disk.h"
#include "tests/file_size_limit.h"
#include "tests/worker/debug/debug_fixture.h"
#include "worker/debug/npy_file.h"

namespace telemetry::worker::debug {
namespace {

using device::DType;
using runtime::Tensor;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class ValueFilesTest : public DebugTest {
 protected:
  std::string Read(const std::string& name) const {
    std::ostringstream text;
    text << std::ifstream(folder_ + "/" + name, std::ios::binary).rdbuf();
    return text.str();
  }
  static std::string NpyBytes(const ir::HostArray& array) {
    ir::HostArray dense = ir::HostArray::Dense(array.dtype, array.sizes);
    dense.SetRowMajor(array.RowMajor());
    const std::vector<std::byte> elements = NpyElements(array.dtype, ir::ToBytes(dense));
    return NpyHeader(array.dtype, array.sizes) +
           std::string(reinterpret_cast<const char*>(elements.data()), elements.size());
  }

  Tensor small_ = Tensor::OnHost(Array(DType::kF32, {2}, {1, 2}));
};

TEST_F(ValueFilesTest, WritesEveryDTypeAndLayoutFromDeviceAndHost) {
  const std::vector<double> elements = {1, 0, 3, -2, 5, 6};
  std::vector<ir::HostArray> arrays;
  for (const DType dtype : device::kAllDTypes) {
    arrays.push_back(Array(dtype, {2, 3}, elements));
    arrays.push_back(Array(dtype, {2, 3}, elements, {1, 2}));
    arrays.push_back(Array(dtype, {2, 3}, elements, {100, 7}));
    arrays.push_back(Array(dtype, {2, 3}, elements, {100000, 10000}));
    arrays.push_back(Array(dtype, {}, {1}));
    arrays.push_back(Array(dtype, {3, 0}, {}));
  }
  ValueFiles files(folder_);
  for (size_t i = 0; i < arrays.size(); ++i) {
    const std::string name = absl::StrCat(i);
    files.BeginLaunch(name);
    ASSERT_EQ(files.Save("before_launch", name, "x", OnDevice(arrays[i])), absl::OkStatus());
    ASSERT_EQ(files.Save("after_launch", name, "x", Tensor::OnHost(arrays[i])), absl::OkStatus());
    EXPECT_EQ(Read(absl::StrCat("before_launch_", i, "_x.npy")), NpyBytes(arrays[i])) << i;
    EXPECT_EQ(Read(absl::StrCat("after_launch_", i, "_x.npy")), NpyBytes(arrays[i])) << i;
  }
}

TEST_F(ValueFilesTest, ALaunchHasANumberAndNothingIsOverwritten) {
  folder_ += "/made/when/needed";
  for (int process = 0; process < 2; ++process) {
    ValueFiles files(folder_);
    for (int launch = 0; launch < 2; ++launch) {
      files.BeginLaunch("exp");
      ASSERT_EQ(files.Save("before_launch", "exp", "x", small_), absl::OkStatus());
      ASSERT_EQ(files.Save("after_launch", "exp", "x", small_), absl::OkStatus());
    }
  }
  EXPECT_THAT(Files(), ElementsAre("after_launch_exp_x.2.npy", "after_launch_exp_x.3.npy", "after_launch_exp_x.4.npy",
                                   "after_launch_exp_x.npy", "before_launch_exp_x.2.npy", "before_launch_exp_x.3.npy",
                                   "before_launch_exp_x.4.npy", "before_launch_exp_x.npy"));
}

TEST_F(ValueFilesTest, NamesStayInTheFolder) {
  ValueFiles files(folder_);
  files.BeginLaunch("../k");
  ASSERT_EQ(files.Save("before_launch", "../k", "a/b c", small_), absl::OkStatus());
  ASSERT_EQ(files.Save("before_launch", std::string(300, 'k'), std::string(300, 'a'), small_), absl::OkStatus());
  EXPECT_EQ(Files().size(), 2u);
  EXPECT_EQ(Files()[0], "before_launch_.._k_a_b_c.npy");
}

TEST_F(ValueFilesTest, WhatCannotBeWrittenWholeIsNotLeftBehind) {
  ValueFiles files(folder_);
  files.BeginLaunch("exp");
  absl::Status status;
  {
    const FileSizeLimit limit(4096);
    status = files.Save("before_launch", "exp", "x",
                        Tensor::OnHost(Array(DType::kF32, {4096}, std::vector<double>(4096, 1))));
  }
  EXPECT_THAT(std::string(status.message()), HasSubstr("cannot write " + folder_ + "/before_launch_exp_x.npy"));
  EXPECT_TRUE(Files().empty());
  EXPECT_EQ(files.Save("before_launch", "exp", "x", small_), absl::OkStatus());
}

TEST_F(ValueFilesTest, AFullDisk) {
  const client::SmallDisk disk(folder_, 1 << 20);
  if (!disk.mounted()) GTEST_SKIP() << "this user may not mount anything";
  disk.Fill();
  ValueFiles files(folder_);
  files.BeginLaunch("exp");
  const absl::Status status = files.Save("before_launch", "exp", "x", small_);
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(std::string(status.message()), HasSubstr("No space left on device"));
  EXPECT_THAT(Files(), ElementsAre("filler"));
  disk.MakeRoom();
  EXPECT_EQ(files.Save("before_launch", "exp", "x", small_), absl::OkStatus());
}

TEST_F(ValueFilesTest, AFolderThatCannotBeMade) {
  std::ofstream(folder_ + "/file") << "no folder";
  ValueFiles files(folder_ + "/file/values");
  EXPECT_THAT(std::string(files.Save("before_launch", "exp", "x", small_).message()),
              HasSubstr("cannot make the folder " + folder_ + "/file/values"));
}

}  // namespace
}  // namespace telemetry::worker::debug

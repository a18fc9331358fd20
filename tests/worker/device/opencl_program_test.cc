#include "worker/device/opencl_program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "worker/device/opencl_module.h"

namespace telemetry::worker::device {
namespace {

constexpr char kFillSource[] =
    "__kernel void fill(__global float* out, float value) { out[get_global_id(0)] = value; }";

class OpenClProgramTest : public testing::Test {
 protected:
  void ExpectRuns(const CompiledCode& code) {
    const std::unique_ptr<Module> module = LoadOpenClModule(context_, code).value();
    const std::unique_ptr<Function> fill = module->GetFunction("fill").value();
    const std::unique_ptr<Buffer> out = AllocateOpenClBuffer(context_, 8).value();
    ASSERT_EQ(fill->Launch({.grid = 2, .threads = 1}, {out.get(), 4.0f}), absl::OkStatus());
    float values[2] = {};
    ASSERT_EQ(context_->api().enqueue_read(context_->queue(), OwnBuffer(*context_, out.get())->memory(), CL_TRUE, 0, 8,
                                           values, 0, nullptr, nullptr),
              CL_SUCCESS);
    EXPECT_THAT(values, testing::Each(4.0f));
  }

  const OpenClApi* const api_ = GetOpenClApi().value();
  std::vector<std::string> notices_;
  const std::shared_ptr<const OpenClContext> context_ =
      OpenClContext::Create(api_, ListOpenClDevices(*api_, &notices_).value().front()).value();
};

// PoCL provides binaries too, but CompileOpenCl does not request them. PoCL reads a binary from its cache and aborts
// the program if another process is writing the same source to the cache, so this source is used by no other test.
TEST_F(OpenClProgramTest, TakesItsBinaryBack) {
  const OpenClProgram program = BuildOpenClSource(*context_, std::string(kFillSource) + " // for its binary").value();
  const std::string binary = ReadBinary(*context_, program).value();
  EXPECT_EQ(binary.find("__kernel void"), std::string::npos);
  ExpectRuns(CodeOfBinary(binary, ""));
}

TEST_F(OpenClProgramTest, TakesItsSourceBack) { ExpectRuns(CodeOfSource(kFillSource, "")); }

TEST_F(OpenClProgramTest, CompilesToWhatTheDevicePrefers) {
  const CompiledCode code = CompileOpenCl(*context_, kFillSource).value();
  EXPECT_NE(context_->takes_binaries(), code.binary == CodeOfSource(kFillSource, "").binary);
  ExpectRuns(code);
}

TEST_F(OpenClProgramTest, ErrorsHaveTheirNames) {
  EXPECT_EQ(OpenClStatus(CL_SUCCESS, "clFinish"), absl::OkStatus());
  EXPECT_EQ(OpenClStatus(CL_INVALID_WORK_GROUP_SIZE, "clEnqueueNDRangeKernel"),
            absl::InternalError("clEnqueueNDRangeKernel failed: CL_INVALID_WORK_GROUP_SIZE (-54)"));
  EXPECT_EQ(OpenClStatus(CL_MEM_OBJECT_ALLOCATION_FAILURE, "clCreateBuffer").code(),
            absl::StatusCode::kResourceExhausted);
}

}  // namespace
}  // namespace telemetry::worker::device

// Tests the calls of the CUDA driver for memory and streams of the program, with functions that stand for the driver's.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "worker/device/cuda_context.h"
#include "worker/device/cuda_device.h"
#include "worker/device/interop.h"

namespace telemetry::worker::device {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

CUstream StreamOf(uint64_t number) { return std::bit_cast<CUstream>(number); }
CUcontext ContextOf(uint64_t number) { return std::bit_cast<CUcontext>(number); }

constexpr uint64_t kOwnStream = 1000;
constexpr uint64_t kOwnContext = 2000;

// The state of the driver, for one test.
struct Driver {
  std::vector<CUstream> launches;  // the stream of each
  std::vector<CUdeviceptr> launched_addresses;
  std::vector<std::string> calls;  // of functions that a captured stream forbids
  std::map<CUstream, CUstreamCaptureStatus> captures;
  std::map<CUdeviceptr, std::pair<unsigned, int>> addresses;  // memory type and device
  CUcontext current = nullptr;
  int contexts = 0;      // retained and not released
  bool has_room = true;  // for a stream
};
Driver* driver = nullptr;

CUresult Forbidden(const std::string& call) {
  driver->calls.push_back(call);
  return CUDA_SUCCESS;
}

CudaApi MakeApi() {
  CudaApi api = {};
  api.get_error_name = [](CUresult, const char** text) { return *text = "ERROR", CUDA_SUCCESS; };
  api.get_error_string = [](CUresult, const char** text) { return *text = "an error", CUDA_SUCCESS; };
  api.device_get = [](CUdevice* device, int ordinal) { return *device = ordinal, CUDA_SUCCESS; };
  api.primary_context_retain = [](CUcontext* context, CUdevice) {
    return *context = ContextOf(kOwnContext), ++driver->contexts, CUDA_SUCCESS;
  };
  api.primary_context_release = [](CUdevice) { return --driver->contexts, CUDA_SUCCESS; };
  api.context_set_current = [](CUcontext context) { return driver->current = context, CUDA_SUCCESS; };
  api.context_get_current = [](CUcontext* context) { return *context = driver->current, CUDA_SUCCESS; };
  api.mem_alloc = [](CUdeviceptr* pointer, size_t) { return *pointer = 4096, Forbidden("allocate"); };
  api.mem_free = [](CUdeviceptr) { return Forbidden("free"); };
  api.pointer_get_attributes = [](unsigned count, CUpointer_attribute* attributes, void** values, CUdeviceptr pointer) {
    const auto found = driver->addresses.find(pointer);
    const auto [type, ordinal] = found == driver->addresses.end() ? std::pair(0u, 0) : found->second;
    for (unsigned i = 0; i < count; ++i) {
      if (attributes[i] == CU_POINTER_ATTRIBUTE_MEMORY_TYPE) *static_cast<unsigned*>(values[i]) = type;
      if (attributes[i] == CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL) *static_cast<int*>(values[i]) = ordinal;
    }
    return CUDA_SUCCESS;
  };
  api.stream_create = [](CUstream* stream, unsigned) {
    *stream = StreamOf(kOwnStream);
    return driver->has_room ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
  };
  api.stream_destroy = [](CUstream stream) { return Forbidden(stream == StreamOf(kOwnStream) ? "destroy own" : "?"); };
  api.stream_synchronize = [](CUstream) { return Forbidden("synchronize"); };
  api.stream_is_capturing = [](CUstream stream, CUstreamCaptureStatus* status) {
    const auto found = driver->captures.find(stream);
    return *status = found == driver->captures.end() ? CU_STREAM_CAPTURE_STATUS_NONE : found->second, CUDA_SUCCESS;
  };
  api.module_load_data = [](CUmodule* module, const void*) {
    return *module = reinterpret_cast<CUmodule>(1), Forbidden("load");
  };
  api.module_unload = [](CUmodule) { return CUDA_SUCCESS; };
  api.module_get_function = [](CUfunction* function, CUmodule, const char*) {
    return *function = reinterpret_cast<CUfunction>(1), CUDA_SUCCESS;
  };
  api.function_get_attribute = [](int* value, CUfunction_attribute, CUfunction) { return *value = 64, CUDA_SUCCESS; };
  api.function_set_attribute = [](CUfunction, CUfunction_attribute, int) { return CUDA_SUCCESS; };
  api.launch_kernel = [](CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                         CUstream stream, void** parameters, void**) {
    driver->launches.push_back(stream);
    driver->launched_addresses.push_back(*static_cast<CUdeviceptr*>(parameters[0]));
    return CUDA_SUCCESS;
  };
  return api;
}

class CudaInteropTest : public testing::Test {
 protected:
  CudaInteropTest() {
    driver = &state_;
    device_ = MakeCudaDevice(std::make_shared<const CudaContext>(
        &api_, DeviceProperties{.dialect = Dialect::kCuda, .ordinal = 1, .shared_bytes_per_block = 1 << 16}));
    interop_ = InteropOf(*device_).value();
    state_.addresses = {{0x1000, {CU_MEMORYTYPE_DEVICE, 1}},
                        {0x2000, {CU_MEMORYTYPE_DEVICE, 0}},
                        {0x3000, {CU_MEMORYTYPE_HOST, 0}},
                        {0x4000, {CU_MEMORYTYPE_DEVICE, -2}}};
  }
  ~CudaInteropTest() override {
    device_.reset();
    driver = nullptr;
  }

  std::unique_ptr<Function> Load() { return (*device_->Load({.binary = "cubin"}))->GetFunction("f").value(); }
  std::string WhyNotWrapped(uint64_t address) {
    return std::string(interop_->Wrap(address, 64, nullptr).status().message());
  }

  Driver state_;
  const CudaApi api_ = MakeApi();
  std::shared_ptr<Device> device_;
  Interop* interop_ = nullptr;
};

// The tuner reads the properties of a device that only its measuring processes use.
TEST_F(CudaInteropTest, TheFirstUseOfTheDeviceMakesTheContext) {
  EXPECT_EQ(device_->properties().ordinal, 1);
  EXPECT_EQ(state_.contexts, 0);
  state_.has_room = false;
  EXPECT_FALSE(device_->Allocate(64).ok());
  EXPECT_EQ(state_.contexts, 0) << "released";
  state_.has_room = true;
  EXPECT_TRUE(device_->Allocate(64).ok());
  EXPECT_TRUE(device_->Allocate(64).ok());
  EXPECT_EQ(state_.contexts, 1);
}

TEST_F(CudaInteropTest, WrapsMemoryOfItsDeviceAndOfTheHost) {
  for (const uint64_t address : {0x1000, 0x3000, 0x4000}) {  // of the device, pinned, managed
    const absl::StatusOr<std::unique_ptr<Buffer>> buffer = interop_->Wrap(address, 64, nullptr);
    ASSERT_TRUE(buffer.ok()) << buffer.status();
    EXPECT_EQ((*buffer)->handle(), address);
    EXPECT_EQ(interop_->Address(**buffer).value(), address);
  }
  EXPECT_THAT(WhyNotWrapped(0x2000), HasSubstr("memory of cuda:0; move the tensor to cuda:1"));
  EXPECT_THAT(WhyNotWrapped(0x5000), HasSubstr("not CUDA memory"));
  EXPECT_THAT(WhyNotWrapped(0x1008), HasSubstr("8 bytes above a multiple of 16"));
  EXPECT_THAT(state_.calls, ElementsAre()) << "the memory is the program's: it is neither allocated nor freed";
}

TEST_F(CudaInteropTest, LaunchesInTheStreamOfTheProgramAndNowhereElse) {
  const std::unique_ptr<Function> function = Load();
  const std::unique_ptr<Buffer> buffer = interop_->Wrap(0x1000, 64, nullptr).value();
  state_.calls.clear();
  for (const std::optional<uint64_t> stream :
       {std::optional<uint64_t>(7), std::optional<uint64_t>(0), std::optional<uint64_t>()}) {
    const std::unique_ptr<StreamUse> use = interop_->UseStream(stream).value();
    ASSERT_EQ(function->Launch({.threads = 32}, {buffer.get()}), absl::OkStatus());
  }
  ASSERT_EQ(function->Launch({.threads = 32}, {buffer.get()}), absl::OkStatus());
  EXPECT_THAT(state_.launches, ElementsAre(StreamOf(7), StreamOf(0), StreamOf(kOwnStream), StreamOf(kOwnStream)));
  EXPECT_THAT(state_.launched_addresses, testing::Each(0x1000u));
  EXPECT_THAT(state_.calls, ElementsAre()) << "a captured stream forbids these";
}

TEST_F(CudaInteropTest, RestoresTheCurrentContextOfTheThread) {
  const std::unique_ptr<Function> function = Load();
  const std::unique_ptr<Buffer> buffer = interop_->Wrap(0x1000, 64, nullptr).value();
  state_.current = ContextOf(99);
  {
    const std::unique_ptr<StreamUse> use = interop_->UseStream(7).value();
    ASSERT_EQ(function->Launch({.threads = 32}, {buffer.get()}), absl::OkStatus());
    EXPECT_EQ(state_.current, ContextOf(kOwnContext));
  }
  EXPECT_EQ(state_.current, ContextOf(99));
}

TEST_F(CudaInteropTest, RefusesToLoadAndToAllocateDuringACapture) {
  state_.captures[StreamOf(7)] = 1;
  const std::unique_ptr<StreamUse> use = interop_->UseStream(7).value();
  for (const absl::Status& status : {device_->Load({.binary = "cubin"}).status(), device_->Allocate(64).status()}) {
    EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition) << status;
    EXPECT_THAT(std::string(status.message()), HasSubstr("make the same call once before the capture"));
  }
  EXPECT_THAT(state_.calls, ElementsAre());
  state_.captures.clear();
  EXPECT_TRUE(device_->Load({.binary = "cubin"}).ok());
}

TEST_F(CudaInteropTest, DestroysItsOwnStreamOnly) {
  interop_->UseStream(7).value().reset();
  std::unique_ptr<StreamUse> use = interop_->UseStream(7).value();
  use.reset();
  EXPECT_TRUE(device_->Synchronize().ok());
  device_.reset();
  EXPECT_THAT(state_.calls, ElementsAre("synchronize", "destroy own"));
}

}  // namespace
}  // namespace telemetry::worker::device

// Tests tensors over memory of the program, and DLPack, on the first OpenCL device, whose addresses are the host's.

#include "worker/runtime/program_tensor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "tests/worker/runtime/fake_device.h"
#include "tests/worker/runtime/program_memory.h"
#include "worker/device/interop.h"
#include "worker/device/open_device.h"

namespace telemetry::worker::runtime {
namespace {

using device::DType;
using dlpack::DLManagedTensor;
using dlpack::DLManagedTensorVersioned;
using testing::ElementsAre;
using testing::HasSubstr;

// A tensor of another library that counts the calls of its deleter.
template <typename Managed>
struct OtherTensor {
  explicit OtherTensor(ProgramFloats* floats) {
    managed.dl_tensor = {.data = std::bit_cast<void*>(floats->address()),
                         .device = {.device_type = dlpack::kDLCPU},
                         .ndim = 2,
                         .dtype = {.code = dlpack::kDLFloat, .bits = 32},
                         .shape = shape.data(),
                         .strides = strides.data()};
    managed.manager_ctx = this;
    managed.deleter = [](Managed* self) { ++static_cast<OtherTensor*>(self->manager_ctx)->deleted; };
  }
  std::array<int64_t, 2> shape = {2, 3};
  std::array<int64_t, 2> strides = {8, 2};
  Managed managed;
  int deleted = 0;
};

class ProgramTensorTest : public testing::Test {
 protected:
  static ProgramMemory At(const ProgramFloats& floats, const std::vector<int64_t>& sizes,
                          const std::vector<int64_t>& strides = {}, int64_t offset = 0) {
    return {.address = floats.address(),
            .offset = offset,
            .sizes = Dimensions(sizes.begin(), sizes.end()),
            .strides = Dimensions(strides.begin(), strides.end())};
  }
  void ExpectRefused(const ProgramMemory& memory, const std::string& why) {
    const absl::StatusOr<Tensor> tensor = WrapProgramMemory(device_, memory);
    EXPECT_EQ(tensor.status().code(), absl::StatusCode::kInvalidArgument) << tensor.status();
    EXPECT_THAT(std::string(tensor.status().message()), HasSubstr(why));
  }
  void ExpectRefused(dlpack::DLTensor tensor, const std::string& why) {
    const absl::Status status = BorrowDlpack(device_, tensor).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << status;
    EXPECT_THAT(std::string(status.message()), HasSubstr(why));
  }

  std::shared_ptr<device::Device> device_ = device::OpenDevice("opencl:0").value();
  ProgramFloats floats_{64};
};

TEST_F(ProgramTensorTest, ReadsTheProgramsElements) {
  for (size_t i = 0; i < 64; ++i) floats_[i] = static_cast<float>(i);
  const Tensor tensor = WrapProgramMemory(device_, At(floats_, {2, 3}, {10, 2}, 4)).value();
  EXPECT_THAT(ToHost(tensor)->RowMajor(), ElementsAre(4, 6, 8, 14, 16, 18));
  const Tensor dense = WrapProgramMemory(device_, At(floats_, {2, 2})).value();
  EXPECT_THAT(dense.strides, ElementsAre(2, 1));
  EXPECT_EQ(CheckTensor(tensor), absl::OkStatus());
}

TEST_F(ProgramTensorTest, DimensionsOfOneElementGetTheStridesOfADenseTensor) {
  EXPECT_THAT(WrapProgramMemory(device_, At(floats_, {1, 4, 1}, {77, 1, 99}))->strides, ElementsAre(4, 1, 1));
  EXPECT_THAT(WrapProgramMemory(device_, At(floats_, {4, 1}, {1, -3}))->strides, ElementsAre(1, 1));
}

TEST_F(ProgramTensorTest, RefusesLayoutsThatKernelsDoNotSupport) {
  ExpectRefused(At(floats_, {4}, {-1}), "a negative stride");
  ExpectRefused(At(floats_, {-4}, {1}), "a negative size");
  ExpectRefused(At(floats_, {4}, {1}, -1), "a negative offset");
  ExpectRefused(At(floats_, {4}, {1, 1}), "the number of strides");
  ExpectRefused(At(floats_, {4}, {1}, 1), "the address is 4 bytes above a multiple of 16");
  ExpectRefused(At(floats_, {int64_t{1} << 40, int64_t{1} << 40}, {int64_t{1} << 40, 1}), "do not fit any memory");
  ExpectRefused(At(floats_, {4}, {1}, int64_t{1} << 61), "do not fit any memory");
  ExpectRefused(ProgramMemory{.sizes = {4}}, "the address is null");
  EXPECT_EQ(WrapProgramMemory(device_, {.sizes = {0, 4}})->span(), 0) << "an empty tensor needs no memory";
}

TEST_F(ProgramTensorTest, ADeviceMaySupportNoMemoryOfTheProgram) {
  device_ = std::make_shared<FakeDevice>();
  EXPECT_EQ(WrapProgramMemory(device_, At(floats_, {4})).status().code(), absl::StatusCode::kUnimplemented);
}

TEST_F(ProgramTensorTest, ReleasesTheOwnerWithTheLastCopy) {
  auto owner = std::make_shared<int>(0);
  const std::weak_ptr<int> alive = owner;
  ProgramMemory memory = At(floats_, {4});
  memory.owner = std::exchange(owner, nullptr);
  std::optional<Tensor> tensor = WrapProgramMemory(device_, memory).value();
  memory.owner = nullptr;
  std::optional<Tensor> copy = tensor;
  tensor.reset();
  EXPECT_FALSE(alive.expired());
  copy.reset();
  EXPECT_TRUE(alive.expired());
}

TEST_F(ProgramTensorTest, FindsOutputsThatShareMemory) {
  const Tensor first = WrapProgramMemory(device_, At(floats_, {8})).value();
  const Tensor second = WrapProgramMemory(device_, At(floats_, {8}, {}, 8)).value();
  const Tensor middle = WrapProgramMemory(device_, At(floats_, {8}, {}, 4)).value();
  const Tensor empty = WrapProgramMemory(device_, {.sizes = {0}}).value();
  EXPECT_EQ(CheckNoOverlap({&first, &first}, {second, empty}), absl::OkStatus()) << "inputs may share memory";
  EXPECT_THAT(std::string(CheckNoOverlap({&middle}, {second}).message()), HasSubstr("shares memory with the input"));
  EXPECT_THAT(std::string(CheckNoOverlap({}, {first, middle}).message()), HasSubstr("shares memory with the output"));
}

TEST_F(ProgramTensorTest, EveryDTypePassesThroughDlpack) {
  for (const DType dtype : device::kAllDTypes) {
    ir::HostArray array = ir::HostArray::Dense(dtype, {2, 3});
    array.SetRowMajor({0, 1, 1, 0, 1, 0});
    const Tensor made = AllocateProgramTensor(device_, dtype, array.sizes).value();
    ASSERT_TRUE(device_->Upload(made.buffer.get(), 0, ir::ToBytes(array)).ok());
    ASSERT_TRUE(InteropOf(*device_).value()->Publish(made.buffer.get()).ok());
    DLManagedTensor* managed = ToDlpack(made).value();
    EXPECT_EQ(managed->dl_tensor.dtype.bits, 8 * SizeOf(dtype));
    const absl::StatusOr<Tensor> back = FromDlpack(device_, managed);
    ASSERT_TRUE(back.ok()) << back.status();
    EXPECT_EQ(back->dtype, dtype);
    EXPECT_EQ(ToHost(*back)->RowMajor(), array.data) << ShortName(dtype);
  }
}

TEST_F(ProgramTensorTest, ImportsDlpack) {
  for (size_t i = 0; i < 64; ++i) floats_[i] = static_cast<float>(i);
  OtherTensor<DLManagedTensor> other(&floats_);
  other.managed.dl_tensor.byte_offset = 16;
  {
    const absl::StatusOr<Tensor> tensor = FromDlpack(device_, &other.managed);
    ASSERT_TRUE(tensor.ok()) << tensor.status();
    EXPECT_THAT(ToHost(*tensor)->RowMajor(), ElementsAre(4, 6, 8, 12, 14, 16));
    EXPECT_EQ(other.deleted, 0);
  }
  EXPECT_EQ(other.deleted, 1);

  other.managed.dl_tensor.strides = nullptr;
  EXPECT_THAT(BorrowDlpack(device_, other.managed.dl_tensor)->strides, ElementsAre(3, 1));
  EXPECT_EQ(other.deleted, 1) << "a borrowed tensor is not deleted";
}

TEST_F(ProgramTensorTest, DeletesATensorThatItRefuses) {
  OtherTensor<DLManagedTensor> other(&floats_);
  other.managed.dl_tensor.dtype.bits = 64;
  EXPECT_FALSE(FromDlpack(device_, &other.managed).ok());
  EXPECT_EQ(other.deleted, 1);
}

TEST_F(ProgramTensorTest, ImportsVersionedDlpackAndKeepsReadOnlyTensors) {
  OtherTensor<DLManagedTensorVersioned> other(&floats_);
  EXPECT_TRUE(FromDlpack(device_, &other.managed, Access::kReadAndWrite).ok());
  other.managed.flags = dlpack::DLPACK_FLAG_BITMASK_READ_ONLY;
  EXPECT_TRUE(FromDlpack(device_, &other.managed, Access::kRead).ok());
  EXPECT_THAT(std::string(FromDlpack(device_, &other.managed, Access::kReadAndWrite).status().message()),
              HasSubstr("read-only"));
  other.managed.version.major = 2;
  EXPECT_THAT(std::string(FromDlpack(device_, &other.managed, Access::kRead).status().message()),
              HasSubstr("DLPack 2.0 is not supported"));
  EXPECT_EQ(other.deleted, 4);
}

TEST_F(ProgramTensorTest, KnowsTheElementTypes) {
  OtherTensor<DLManagedTensor> other(&floats_);
  dlpack::DLTensor tensor = other.managed.dl_tensor;
  const std::vector<std::pair<dlpack::DLDataType, DType>> types = {
      {{.code = 2, .bits = 32}, DType::kF32},  {{.code = 2, .bits = 16}, DType::kF16},
      {{.code = 4, .bits = 16}, DType::kBF16}, {{.code = 0, .bits = 8}, DType::kI8},
      {{.code = 0, .bits = 16}, DType::kI16},  {{.code = 0, .bits = 32}, DType::kI32},
      {{.code = 0, .bits = 64}, DType::kI64},  {{.code = 1, .bits = 8}, DType::kU8},
      {{.code = 1, .bits = 16}, DType::kU16},  {{.code = 1, .bits = 32}, DType::kU32},
      {{.code = 1, .bits = 64}, DType::kU64},  {{.code = 6, .bits = 8}, DType::kBool}};
  for (const auto& [type, dtype] : types) {
    tensor.dtype = type;
    const absl::StatusOr<Tensor> imported = BorrowDlpack(device_, tensor);
    ASSERT_TRUE(imported.ok()) << imported.status();
    EXPECT_EQ(imported->dtype, dtype);
    DLManagedTensor* const exported = ToDlpack(*imported).value();
    EXPECT_EQ(exported->dl_tensor.dtype.code, type.code);
    EXPECT_EQ(exported->dl_tensor.dtype.bits, type.bits);
    EXPECT_EQ(exported->dl_tensor.dtype.lanes, 1);
    exported->deleter(exported);
  }
  tensor.dtype = {.code = 2, .bits = 64};
  ExpectRefused(tensor, "convert to one of f32, f16, bf16, i32, bool, i8, i16, i64, u8, u16, u32, u64");
  tensor.dtype = {.code = 2, .bits = 32, .lanes = 4};
  ExpectRefused(tensor, "4 lanes");
}

TEST_F(ProgramTensorTest, RefusesTensorsOfOtherDevices) {
  OtherTensor<DLManagedTensor> other(&floats_);
  other.managed.dl_tensor.device = {.device_type = dlpack::kDLCUDA, .device_id = 1};
  ExpectRefused(other.managed.dl_tensor, "(type 2, number 1), but the kernel runs on opencl:0, which uses tensors of");
}

TEST_F(ProgramTensorTest, ExportsWithoutACopy) {
  std::optional<Tensor> tensor = AllocateProgramTensor(device_, DType::kF32, {2, 3}).value();
  DLManagedTensorVersioned* const exported = ToVersionedDlpack(*tensor).value();
  tensor.reset();  // the export keeps the memory
  const dlpack::DLTensor& shared = exported->dl_tensor;
  EXPECT_EQ(exported->version.major, 1u);
  EXPECT_EQ(exported->flags, 0u);
  EXPECT_EQ(shared.device.device_type, dlpack::kDLCPU);
  EXPECT_THAT(std::vector<int64_t>(shared.shape, shared.shape + shared.ndim), ElementsAre(2, 3));
  EXPECT_THAT(std::vector<int64_t>(shared.strides, shared.strides + shared.ndim), ElementsAre(3, 1));
  auto* const elements = static_cast<float*>(shared.data);
  for (int i = 0; i < 6; ++i) elements[i] = static_cast<float>(i);
  const Tensor again = FromDlpack(device_, exported, Access::kRead).value();
  EXPECT_THAT(ToHost(again)->RowMajor(), ElementsAre(0, 1, 2, 3, 4, 5));
}

TEST_F(ProgramTensorTest, MemoryThatOpenClAllocatedCannotBeExported) {
  const Tensor tensor = AllocateTensor(device_, DType::kF32, {4}).value();
  EXPECT_EQ(ToDlpack(tensor).status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(ToDlpack(Tensor::OnHost(ir::HostArray::Dense(DType::kF32, {4}))).status().code(),
            absl::StatusCode::kFailedPrecondition);
}

}  // namespace
}  // namespace telemetry::worker::runtime

#include "worker/runtime/leaves.h"

#include <memory>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/worker/runtime/fake_device.h"

namespace telemetry::worker::runtime {
namespace {

using device::Device;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class LeavesTest : public ::testing::Test {
 protected:
  std::shared_ptr<Device> first_ = std::make_shared<FakeDevice>();
  std::shared_ptr<Device> second_ = std::make_shared<FakeDevice>(FakeDevice::Behaviour{.ordinal = 1});
  Tensor a_ = TensorOn(first_, {1});
  Tensor b_ = TensorOn(first_, {2});
  Tensor c_ = TensorOn(first_, {3});
  Tensor host_ = Tensor::OnHost(ir::HostArray::Dense(device::DType::kF32, {2}));
  Signature signature_ = *Signature::Create("k", {{.name = "x"},
                                                  {.name = "rest", .kind = ParameterKind::kAny},
                                                  {.name = "rounds", .kind = ParameterKind::kConstexpr}});
};

TEST_F(LeavesTest, DepthFirstInTheOrderOfTheSignature) {
  const Arguments arguments = {a_, Argument::OfList({Argument::OfMap({{"z", b_}, {"scale", 0.5}}), "gelu", c_, true}),
                               3};
  const Leaves leaves = CollectLeaves(signature_, arguments);
  ASSERT_EQ(leaves.tensors.size(), 3);
  EXPECT_EQ(*leaves.tensors[0], a_);
  EXPECT_EQ(*leaves.tensors[1], b_);
  EXPECT_EQ(*leaves.tensors[2], c_);
  ASSERT_EQ(leaves.scalars.size(), 2);
  EXPECT_EQ(*leaves.scalars[0], Argument(0.5));
  ASSERT_EQ(leaves.constants.size(), 2);
  EXPECT_EQ(*leaves.constants[1], Argument(3));

  const LeafNames names = *NameLeaves(signature_, arguments);
  EXPECT_THAT(names.tensors, ElementsAre("x", "rest_0_z", "rest_2"));
  EXPECT_THAT(names.scalars, ElementsAre("rest_0_scale", "rest_3"));
  EXPECT_THAT(names.constants, ElementsAre("rest_1", "rounds"));
}

TEST_F(LeavesTest, WhatAFunctionCapturedIsPartOfTheArguments) {
  const Arguments arguments = {a_, Argument::OfFunction("epilogue", this, {b_, 2}), 3};
  EXPECT_THAT(NameLeaves(signature_, arguments)->tensors, ElementsAre("x", "rest_0"));
  EXPECT_EQ(CollectLeaves(signature_, arguments).scalars.size(), 1);
}

TEST_F(LeavesTest, KeysOfEveryKindAreNames) {
  const Arguments arguments = {a_,
                               Argument::OfMap({{"s", b_},
                                                {7, 1},
                                                {-7, 2},
                                                {0.5, c_},
                                                {true, ConstExpr(4)},
                                                {MapKey::OfTuple({1, "t"}), Argument::OfMap({{2, 3.0}})}}),
                               3};
  const LeafNames names = *NameLeaves(signature_, arguments);
  EXPECT_THAT(names.tensors, ElementsAre("x", "rest_s", "rest_0_5"));
  EXPECT_THAT(names.scalars, ElementsAre("rest_minus7", "rest_7", "rest_1_t_2"));
  EXPECT_THAT(names.constants, ElementsAre("rest_true", "rounds"));
  const Leaves leaves = CollectLeaves(signature_, arguments);
  ASSERT_EQ(leaves.constants.size(), 2);
  EXPECT_EQ(*leaves.constants[0], Argument(4)) << "the value of the ConstExpr";
  EXPECT_THAT(
      std::string(NameLeaves(signature_, Arguments{a_, Argument::OfMap({{1, b_}, {"1", c_}}), 3}).status().message()),
      HasSubstr("'rest_1'"));
}

TEST_F(LeavesTest, NamesThatCollideAreRefused) {
  const Arguments arguments = {a_, Argument::OfMap({{"a b", 1}, {"a-b", 2}}), 3};
  EXPECT_THAT(std::string(NameLeaves(signature_, arguments).status().message()), HasSubstr("'rest_a_b'"));
}

TEST_F(LeavesTest, TheDeviceIsFoundDepthFirst) {
  const Argument on_second = Argument::OfTuple({1, Argument::OfStruct("S", {{"t", TensorOn(second_, {1})}})});
  EXPECT_EQ(*FindDevice(Arguments{host_, on_second, a_}), second_);
  EXPECT_EQ(*FindDevice(Arguments{1, Argument(first_), on_second}), first_);
  EXPECT_EQ(*FindDevice(Arguments{Argument::OfFunction("f", this, {b_})}), first_);
}

TEST_F(LeavesTest, NoDeviceIsAnError) {
  const absl::Status status = FindDevice(Arguments{1, "cuda:0", host_, Argument::OfList({})}).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()), HasSubstr("no device in the arguments"));
}

TEST_F(LeavesTest, TensorsElsewhereAreRefused) {
  const Arguments arguments = {a_, TensorOn(second_, {1}), 3};
  EXPECT_THAT(std::string(CheckDevices(CollectLeaves(signature_, arguments), *first_).message()),
              HasSubstr("opencl:1"));
  EXPECT_TRUE(CheckDevices(CollectLeaves(signature_, Arguments{a_, b_, 3}), *first_).ok());
}

}  // namespace
}  // namespace telemetry::worker::runtime

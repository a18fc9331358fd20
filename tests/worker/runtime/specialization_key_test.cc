#include "worker/runtime/specialization_key.h"

#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/worker/runtime/fake_device.h"

namespace telemetry::worker::runtime {
namespace {

using device::Device;
using device::DType;
using ::testing::AllOf;
using ::testing::HasSubstr;

std::shared_ptr<Device> OpenClDevice(int ordinal = 0) {
  return std::make_shared<FakeDevice>(FakeDevice::Behaviour{.ordinal = ordinal});
}
std::shared_ptr<Device> CudaDevice() {
  return std::make_shared<FakeDevice>(FakeDevice::Behaviour{.dialect = device::Dialect::kCuda});
}

// Returns the key of one argument of the parameter `a`.
absl::StatusOr<std::string> MakeKey(const Argument& argument, ParameterKind kind = ParameterKind::kAny,
                                    bool static_shapes = true) {
  return SpecializationKey(*Signature::Create("k", {{.name = "a", .kind = kind}}), Arguments{argument}, static_shapes);
}
std::string Key(const Argument& argument) { return *MakeKey(argument); }
std::string DynamicKey(const Argument& argument) { return *MakeKey(argument, ParameterKind::kAny, false); }
std::string ConstexprKey(const Argument& argument) { return *MakeKey(argument, ParameterKind::kConstexpr); }

TEST(SpecializationKeyTest, ReadsAsItsHeaderSays) {
  const auto device = OpenClDevice();
  int anything = 0;
  EXPECT_EQ(Key(TensorOn(device, {4, 8}, DType::kF16)), "tensor(f16,opencl,[4,8],[8,1]);");
  EXPECT_EQ(Key(TensorOn(CudaDevice(), {8})), "tensor(f32,cuda,[8],[1]);");
  EXPECT_EQ(Key(Tensor::OnHost(ir::HostArray::Dense(DType::kI32, {2}))), "tensor(i32,cpu,[2],[1]);");
  EXPECT_EQ(DynamicKey(TensorOn(device, {4, 0, 1}, DType::kF16)), "tensor(f16,opencl,[2+,0,1]);");
  EXPECT_EQ(Key(3), "int;");
  EXPECT_EQ(Key(0.5), "float;");
  EXPECT_EQ(Key(true), "bool;");
  EXPECT_EQ(ConstexprKey(3), "int=3;");
  EXPECT_EQ(ConstexprKey(0.1), "float=0.1;");
  EXPECT_EQ(ConstexprKey(false), "bool=false;");
  EXPECT_EQ(Key("gelu"), "str(4:gelu);");
  EXPECT_EQ(Key(DType::kBF16), "dtype(bf16);");
  EXPECT_EQ(Key(Argument(OpenClDevice(1))), "device(opencl:1);");
  EXPECT_EQ(Key(Argument()), "None;");
  EXPECT_EQ(Key(Argument::OfList({1, "a"})), "list[int,str(1:a),];");
  EXPECT_EQ(Key(Argument::OfTuple({1, Argument::OfTuple({})})), "tuple[int,tuple[],];");
  EXPECT_EQ(Key(Argument::OfMap({{"b", 1}, {"a", 2.0}})), "map{1:a:float,1:b:int,};");
  EXPECT_EQ(Key(Argument::OfMap({{2, 1}, {-1, true}, {0.5, 1}, {true, 1}, {"k", 1}})),
            "map{1:k:int,bool=true:int,int=-1:bool,int=2:int,float=0.5:int,};");
  EXPECT_EQ(Key(Argument::OfMap({{MapKey::OfTuple({1, "a", MapKey::OfTuple({})}), 1}})),
            "map{tuple[int=1,1:a,tuple[],]:int,};");
  EXPECT_EQ(Key(int64_t{1} << 31), "int64;");
  EXPECT_EQ(Key(ConstExpr(3)), "constexpr(int=3);");
  EXPECT_EQ(ConstexprKey(ConstExpr(3)), "int=3;");
  EXPECT_EQ(Key(Argument::OfList({ConstExpr(3), 3})), "list[constexpr(int=3),int,];");
  EXPECT_EQ(Key(Argument::OfStruct("Opts", {{"b", 1}, {"a", DType::kF16}})),
            "struct(4:Opts){1:b:int,1:a:dtype(f16),};");
  EXPECT_THAT(Key(Argument::OfFunction("f", &anything, {1})), AllOf(HasSubstr("function("), HasSubstr(",[int,])")));
}

TEST(SpecializationKeyTest, ParametersStandInOrder) {
  const Signature signature = *Signature::Create(
      "k", {{.name = "a", .kind = ParameterKind::kScalar}, {.name = "b", .kind = ParameterKind::kConstexpr}});
  EXPECT_EQ(*SpecializationKey(signature, Arguments{1, 2}, true), "int;int=2;");
}

struct Pair {
  std::string what;
  Argument a;
  Argument b;
  bool same_static;
  bool same_dynamic;
  bool same_constexpr = false;
};

// Returns the pairs to compare. The objects that they refer to are static, so that they stay alive.
std::vector<Pair> Pairs() {
  static const auto device = OpenClDevice();
  static const auto second = OpenClDevice(1);
  static const auto cuda = CudaDevice();
  static int f;
  static int g;
  const auto list = [](Arguments items) { return Argument::OfList(std::move(items)); };
  return {
      {"another tensor of the same layout", TensorOn(device, {4, 8}), TensorOn(device, {4, 8}), true, true},
      {"another size", TensorOn(device, {4, 8}), TensorOn(device, {5, 8}), false, true},
      {"other strides", StridedOn(device, {4, 8}, {8, 1}), StridedOn(device, {4, 8}, {1, 4}), false, true},
      {"size 0", TensorOn(device, {0, 8}), TensorOn(device, {4, 8}), false, false},
      {"size 1", TensorOn(device, {1, 8}), TensorOn(device, {4, 8}), false, false},
      {"sizes 0 and 1", TensorOn(device, {0, 8}), TensorOn(device, {1, 8}), false, false},
      {"another rank", TensorOn(device, {8}), TensorOn(device, {8, 8}), false, false},
      {"another dtype", TensorOn(device, {8}, DType::kF16), TensorOn(device, {8}, DType::kBF16), false, false},
      {"another device type", TensorOn(device, {8}), TensorOn(cuda, {8}), false, false},
      {"another device of that type", TensorOn(device, {8}), TensorOn(second, {8}), true, true},
      {"another int", 1, 2, true, true},
      {"another float", 1.0, std::numeric_limits<double>::infinity(), true, true},
      {"int and float", 1, 1.0, false, false},
      {"int and bool", 1, true, false, false},
      {"the same int", 7, 7, true, true, true},
      {"floats that differ in the last bit", 0.1, std::nextafter(0.1, 1), true, true},
      {"zero and minus zero", 0.0, -0.0, true, true},
      {"strings", "a", "b", false, false},
      {"the same string", "a", "a", true, true, true},
      {"dtypes", DType::kF16, DType::kF32, false, false},
      {"devices", Argument(device), Argument(second), false, false},
      {"a list and a tuple", list({1}), Argument::OfTuple({1}), false, false},
      {"lists of other lengths", list({1}), list({1, 1}), false, false},
      {"lists nested otherwise", list({list({1}), 1}), list({list({1, 1})}), false, false},
      {"strings with the punctuation of lists", list({"a,1:b"}), list({"a", "b"}), false, false},
      {"lists of other numbers", list({1}), list({2}), true, true},
      {"maps whose keys have other types", Argument::OfMap({{1, 1}}), Argument::OfMap({{1.0, 1}}), false, false},
      {"maps with an int and a string", Argument::OfMap({{1, 1}}), Argument::OfMap({{"1", 1}}), false, false},
      {"maps with a tuple and an int", Argument::OfMap({{MapKey::OfTuple({1}), 1}}), Argument::OfMap({{1, 1}}), false,
       false},
      {"maps with equal zeros", Argument::OfMap({{0.0, 1}}), Argument::OfMap({{-0.0, 1}}), true, true, true},
      {"constants", Argument(ConstExpr(1)), Argument(ConstExpr(2)), false, false},
      {"a constant and an argument", Argument(ConstExpr(1)), Argument(1), false, false, true},
      {"maps with other keys", Argument::OfMap({{"a", 1}}), Argument::OfMap({{"b", 1}}), false, false},
      {"structs of other types", Argument::OfStruct("A", {{"a", 1}}), Argument::OfStruct("B", {{"a", 1}}), false,
       false},
      {"a map and a struct", Argument::OfMap({{"a", 1}}), Argument::OfStruct("map", {{"a", 1}}), false, false},
      {"functions", Argument::OfFunction("f", &f), Argument::OfFunction("f", &g), false, false},
      {"one function under two names", Argument::OfFunction("f", &f), Argument::OfFunction("g", &f), true, true},
      {"captures of other types", Argument::OfFunction("f", &f, {1}), Argument::OfFunction("f", &f, {1.0}), false,
       false},
      {"captured strings", Argument::OfFunction("f", &f, {"a"}), Argument::OfFunction("f", &f, {"b"}), false, false},
      {"None and an empty list", Argument(), list({}), false, false},
  };
}

TEST(SpecializationKeyTest, WhatSharesAKey) {
  for (const Pair& pair : Pairs()) {
    EXPECT_EQ(Key(pair.a) == Key(pair.b), pair.same_static) << pair.what << ": " << Key(pair.a);
    EXPECT_EQ(DynamicKey(pair.a) == DynamicKey(pair.b), pair.same_dynamic) << pair.what << ": " << DynamicKey(pair.a);
    if (!pair.a.is_number()) continue;
    EXPECT_EQ(ConstexprKey(pair.a) == ConstexprKey(pair.b), pair.same_constexpr) << pair.what;
  }
}

TEST(SpecializationKeyTest, AnUnknownValueIsNamedWithItsParameter) {
  for (const Argument& argument :
       {Argument(Opaque{"socket"}), Argument::OfList({1, Argument::OfMap({{"s", Opaque{"socket"}}})}),
        Argument::OfFunction("f", nullptr, {Opaque{"socket"}}), Argument::OfStruct("S", {{"s", Opaque{"socket"}}})}) {
    const absl::Status status = MakeKey(argument).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(std::string(status.message()), AllOf(HasSubstr("socket"), HasSubstr("'a'")));
  }
}

}  // namespace
}  // namespace telemetry::worker::runtime

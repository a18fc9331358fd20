#include "worker/runtime/signature.h"

#include <memory>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/worker/runtime/fake_device.h"

namespace telemetry::worker::runtime {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string InvalidMessage(const absl::Status& status) {
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << status;
  return std::string(status.message());
}

Parameter Constexpr(std::string name, std::optional<Argument> default_value = std::nullopt) {
  return {.name = std::move(name), .kind = ParameterKind::kConstexpr, .default_value = std::move(default_value)};
}
Parameter Scalar(std::string name, std::optional<Argument> default_value = std::nullopt) {
  return {.name = std::move(name), .kind = ParameterKind::kScalar, .default_value = std::move(default_value)};
}
Parameter Any(std::string name, std::optional<Argument> default_value = std::nullopt) {
  return {.name = std::move(name), .kind = ParameterKind::kAny, .default_value = std::move(default_value)};
}

struct RefusedSignature {
  std::string why;
  std::vector<Parameter> parameters;
  std::string message;
};

class RefusedSignatureTest : public ::testing::TestWithParam<RefusedSignature> {};

TEST_P(RefusedSignatureTest, NamesKernelAndParameter) {
  const std::string message = InvalidMessage(Signature::Create("norm", GetParam().parameters).status());
  EXPECT_THAT(message, HasSubstr(GetParam().message));
  EXPECT_THAT(message, HasSubstr("norm"));
}

INSTANTIATE_TEST_SUITE_P(
    All, RefusedSignatureTest,
    ::testing::Values(
        RefusedSignature{"Duplicate", {Any("x"), Any("y"), Any("x")}, "parameter 3 of kernel 'norm' has the name 'x'"},
        RefusedSignature{"Keyword", {Any("float")}, "'float', which is reserved"},
        RefusedSignature{"CudaBuiltin", {Any("threadIdx")}, "'threadIdx', which is reserved"},
        RefusedSignature{"OpenClQualifier", {Any("global")}, "'global', which is reserved"},
        RefusedSignature{"CompilersName", {Any("__x")}, "'__x', which is reserved"},
        RefusedSignature{"NoIdentifier", {Any("x-y")}, "'x-y', which is not an identifier"},
        RefusedSignature{"BeginsWithADigit", {Any("2x")}, "'2x', which is not an identifier"},
        RefusedSignature{"NoName", {Any("")}, "not an identifier"},
        RefusedSignature{"TooLong", {Any(std::string(65, 'x'))}, "65 characters"},
        RefusedSignature{"Variadic", {Any("x"), {.name = "rest", .is_variadic = true}}, "'rest', is variadic"},
        RefusedSignature{"DefaultBeforeNone", {Scalar("eps", 1e-5), Any("x")}, "'x', has no default"},
        RefusedSignature{"DefaultOfAnotherKind", {Scalar("eps", "small")}, "'eps' takes a number, not str"}),
    [](const auto& info) { return info.param.why; });

// Normalises arguments of norm(x, weight, eps=1e-5, rounds=1).
class NormalizeTest : public ::testing::Test {
 protected:
  absl::StatusOr<Arguments> Normalize(const Arguments& positional, const Signature::Named& named = {}) {
    return signature_.Normalize(positional, named);
  }

  Signature signature_ =
      *Signature::Create("norm", {{.name = "x"}, {.name = "weight"}, Scalar("eps", 1e-5), Constexpr("rounds", 1)});
  std::shared_ptr<device::Device> device_ = std::make_shared<FakeDevice>();
  Argument x_ = TensorOn(device_, {4, 8});
  Argument weight_ = TensorOn(device_, {8});
};

TEST_F(NormalizeTest, DefaultsAreFilledIn) {
  EXPECT_THAT(*Normalize({x_, weight_}), ElementsAre(x_, weight_, Argument(1e-5), Argument(1)));
}

TEST_F(NormalizeTest, NamesGoWhereTheSignatureHasThem) {
  EXPECT_THAT(*Normalize({}, {{"rounds", 3}, {"weight", weight_}, {"x", x_}}),
              ElementsAre(x_, weight_, Argument(1e-5), Argument(3)));
  EXPECT_THAT(*Normalize({x_, weight_}, {{"eps", 0.5}}), ElementsAre(x_, weight_, Argument(0.5), Argument(1)));
}

TEST_F(NormalizeTest, CompleteArgumentsStayAsTheyAre) {
  EXPECT_THAT(*Normalize({x_, weight_, 1, true}), ElementsAre(x_, weight_, Argument(1), Argument(true)));
  EXPECT_TRUE(signature_.IsComplete(4));
  EXPECT_FALSE(signature_.IsComplete(3));
}

TEST_F(NormalizeTest, MissingArgumentsAreAllNamed) {
  EXPECT_EQ(InvalidMessage(Normalize({}, {{"eps", 0.5}}).status()), "norm(): missing argument 'x', 'weight'");
}

TEST_F(NormalizeTest, UnexpectedArgumentsAreAllNamed) {
  EXPECT_EQ(InvalidMessage(Normalize({x_, weight_}, {{"bias", weight_}, {"axis", 1}}).status()),
            "norm(): unexpected argument 'axis', 'bias'");
}

TEST_F(NormalizeTest, ASurplusArgumentIsCounted) {
  EXPECT_EQ(InvalidMessage(Normalize({x_, weight_, 0.5, 1, "more"}).status()),
            "norm(): takes 4 arguments but 5 were given; number 5 (str) is surplus");
}

TEST_F(NormalizeTest, AnArgumentIsNotGivenTwice) {
  EXPECT_EQ(InvalidMessage(Normalize({x_, weight_}, {{"x", x_}}).status()),
            "norm(): argument 'x' is given by position and by name");
}

TEST_F(NormalizeTest, KindsAreChecked) {
  EXPECT_EQ(InvalidMessage(Normalize({x_, 1}).status()), "norm(): parameter 'weight' takes a tensor, not int");
  EXPECT_EQ(InvalidMessage(Normalize({x_, weight_, x_}).status()),
            "norm(): parameter 'eps' takes a number, not tensor");
  EXPECT_EQ(InvalidMessage(Normalize({x_, weight_, 1, Argument()}).status()),
            "norm(): parameter 'rounds' takes a bool, int, float, str or dtype, not None");
}

}  // namespace
}  // namespace telemetry::worker::runtime

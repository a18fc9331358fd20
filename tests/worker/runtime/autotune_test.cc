// Tests which config a kernel runs that has no fixed config, one or several.

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/worker/runtime/fake_device.h"
#include "tests/worker/runtime/test_kernels.h"
#include "worker/runtime/search.h"

namespace telemetry::worker::runtime {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// A search that returns one config and counts its calls.
class FakeSearch : public Search {
 public:
  explicit FakeSearch(codegen::Config answer) : answer_(std::move(answer)) {}
  absl::StatusOr<codegen::Config> Find(BoundKernel&, absl::Span<const Argument>,
                                       const AutotuneOptions& options) override {
    ++asked_;
    options_ = options;
    return answer_;
  }
  int asked() const { return asked_; }
  const AutotuneOptions& options() const { return options_; }  // of the last call

 private:
  codegen::Config answer_;
  int asked_ = 0;
  AutotuneOptions options_;
};

class AutotuneTest : public ::testing::Test {
 protected:
  std::shared_ptr<BoundKernel> Bound(std::vector<codegen::Config> configs, Settings settings = {}) {
    KernelSpec spec = AddScaledSpec();
    spec.configs = std::move(configs);
    spec.settings = settings;
    spec.search = search_;
    kernel_ = MakeKernel(std::move(spec));
    return *kernel_->Bind(arguments_);
  }
  codegen::Config Set(const BoundKernel& bound) { return bound.config().value_or(codegen::Config()); }
  codegen::Config Complete(const BoundKernel& bound, const codegen::Config& config) {
    return *bound.config_space().Normalize(config);
  }

  const codegen::Config slow_ = Config("Config(block_sizes=[32])");
  const codegen::Config fast_ = Config("Config(block_sizes=[64])");
  const codegen::Config searched_ = Config("Config(block_sizes=[256])");
  std::shared_ptr<FakeDevice> device_ = std::make_shared<FakeDevice>();
  std::shared_ptr<FakeSearch> search_ = std::make_shared<FakeSearch>(searched_);
  Arguments arguments_ = {TensorOn(device_, {1000}), TensorOn(device_, {1000}), 1.0};
  std::unique_ptr<Kernel> kernel_;
};

TEST_F(AutotuneTest, TheOnlyFixedConfigIsTaken) {
  const auto bound = Bound({slow_}, {.disallow_autotuning = true});
  EXPECT_EQ(*bound->Autotune(arguments_), slow_);
  EXPECT_EQ(Set(*bound), Complete(*bound, slow_));
  EXPECT_EQ(search_->asked(), 0);
  EXPECT_TRUE(device_->launches().empty());
}

TEST_F(AutotuneTest, TheSearchChoosesAmongSeveralFixedConfigs) {
  const auto bound = Bound({slow_, fast_}, {.disallow_autotuning = true});
  EXPECT_EQ(*bound->Autotune(arguments_), searched_);
  EXPECT_THAT(search_->options().configs, ElementsAre(slow_, fast_));
}

TEST_F(AutotuneTest, TheConfigsOfACallReplaceTheFixedOnes) {
  const auto bound = Bound({slow_}, {.disallow_autotuning = true});
  EXPECT_EQ(*bound->Autotune(arguments_, {.configs = {fast_}}), fast_);
  EXPECT_EQ(search_->asked(), 0);
  EXPECT_EQ(*bound->Autotune(arguments_, {.force = true, .configs = {fast_, slow_}}), searched_);
  EXPECT_THAT(search_->options().configs, ElementsAre(fast_, slow_));
}

TEST_F(AutotuneTest, TheOptionsOfACallReachTheSearch) {
  const auto bound = Bound({});
  ASSERT_TRUE(
      bound->Autotune(arguments_, {.effort = "full", .algorithm = "random", .seed = 7, .time_budget = absl::Seconds(3)})
          .ok());
  EXPECT_EQ(search_->options().effort, "full");
  EXPECT_EQ(search_->options().algorithm, "random");
  EXPECT_EQ(search_->options().seed, 7);
  EXPECT_EQ(search_->options().time_budget, absl::Seconds(3));
}

TEST_F(AutotuneTest, WithoutAConfigThereIsAFullSearch) {
  const auto bound = Bound({});
  EXPECT_EQ(*bound->Autotune(arguments_), searched_);
  EXPECT_EQ(Set(*bound), Complete(*bound, searched_));
  EXPECT_EQ(search_->asked(), 1);
}

TEST_F(AutotuneTest, ForceMakesAFullSearchOfFixedConfigsToo) {
  for (const std::vector<codegen::Config>& fixed : {std::vector{slow_}, std::vector{slow_, fast_}}) {
    EXPECT_EQ(*Bound(fixed)->Autotune(arguments_, {.force = true}), searched_);
    EXPECT_EQ(*Bound(fixed, {.force_autotune = true})->Autotune(arguments_), searched_);
  }
  EXPECT_EQ(search_->asked(), 4);
  EXPECT_TRUE(search_->options().force);
  EXPECT_EQ(*Bound({})->Autotune(arguments_), searched_);
  EXPECT_FALSE(search_->options().force);
}

TEST_F(AutotuneTest, ADisallowedSearchIsAnErrorThatSaysSo) {
  const Settings settings = {.disallow_autotuning = true};
  for (const absl::Status& status : {Bound({}, settings)->Autotune(arguments_).status(),
                                     Bound({slow_}, settings)->Autotune(arguments_, {.force = true}).status(),
                                     Bound({}, settings)->Run(arguments_).status()}) {
    EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
    EXPECT_THAT(std::string(status.message()), HasSubstr("disallow_autotuning"));
  }
  EXPECT_EQ(search_->asked(), 0);
}

TEST_F(AutotuneTest, WithoutASearchAChoiceIsAnError) {
  search_ = nullptr;
  for (const std::vector<codegen::Config>& fixed : {std::vector<codegen::Config>(), std::vector{slow_, fast_}}) {
    const absl::Status status = Bound(fixed)->Autotune(arguments_).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
    EXPECT_THAT(std::string(status.message()), HasSubstr("without a search"));
  }
}

TEST_F(AutotuneTest, TheCodeOfAKernelWithoutAConfigIsThatOfItsDefaultConfig) {
  const auto bound = Bound({});
  EXPECT_EQ(*bound->ToSource(), *bound->ToSource(bound->config_space().Default()));
  ASSERT_TRUE(bound->SetConfig(fast_).ok());
  EXPECT_EQ(*bound->ToSource(), *bound->ToSource(fast_));
}

TEST_F(AutotuneTest, ACallAutotunesOnceWhereItHasTo) {
  const auto bound = Bound({});
  ASSERT_TRUE(bound->Run(arguments_).ok());
  ASSERT_TRUE(bound->Run(arguments_).ok());
  EXPECT_EQ(search_->asked(), 1);
  EXPECT_EQ(device_->launches().back().source, *bound->ToSource(searched_));
}

TEST_F(AutotuneTest, ACallThatHasAConfigDoesNotAutotune) {
  ASSERT_TRUE(Bound({slow_})->Run(arguments_).ok());
  ASSERT_TRUE(Bound({}, {.use_default_config = true})->Run(arguments_).ok());
  EXPECT_EQ(search_->asked(), 0);
  ASSERT_TRUE(Bound({slow_}, {.force_autotune = true})->Run(arguments_).ok());
  EXPECT_EQ(search_->asked(), 1);
}

}  // namespace
}  // namespace telemetry::worker::runtime

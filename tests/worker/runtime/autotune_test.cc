// Tests which config a kernel runs that has no fixed config, one or several.

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/worker/runtime/fake_device.h"
#include "tests/worker/runtime/test_kernels.h"
#include "worker/runtime/finite_search.h"

namespace telemetry::worker::runtime {
namespace {

using ::testing::HasSubstr;

// A search that returns one config and counts its calls.
class FakeSearch : public Search {
 public:
  explicit FakeSearch(codegen::Config answer) : answer_(std::move(answer)) {}
  absl::StatusOr<codegen::Config> Find(BoundKernel&, absl::Span<const Argument>, bool force) override {
    ++asked_;
    forced_ = force;
    return answer_;
  }
  int asked() const { return asked_; }
  bool forced() const { return forced_; }  // in the last call

 private:
  codegen::Config answer_;
  int asked_ = 0;
  bool forced_ = false;
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
  const codegen::Config broken_ = Config("Config(block_sizes=[128])");
  const codegen::Config searched_ = Config("Config(block_sizes=[256])");
  std::string fast_source_;
  std::string broken_source_;
  std::shared_ptr<FakeDevice> device_ = std::make_shared<FakeDevice>(FakeDevice::Behaviour{
      .launch_ms = [this](const std::string& source) { return source == fast_source_ ? 1.0 : 2.0; },
      .compile =
          [this](const std::string& source) {
            return source == broken_source_ ? absl::InvalidArgumentError("line 3") : absl::OkStatus();
          }});
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

TEST_F(AutotuneTest, OfSeveralTheFastestIsTaken) {
  const auto bound = Bound({slow_, fast_, slow_}, {.disallow_autotuning = true});
  fast_source_ = *bound->ToSource(fast_);
  EXPECT_EQ(*bound->Autotune(arguments_), fast_);
  EXPECT_EQ(Set(*bound), Complete(*bound, fast_));
  EXPECT_EQ(search_->asked(), 0);
}

TEST_F(AutotuneTest, AConfigThatDoesNotCompileIsLeftOut) {
  const auto bound = Bound({broken_, slow_});
  broken_source_ = *bound->ToSource(broken_);
  EXPECT_EQ(*bound->Autotune(arguments_), slow_);
}

TEST_F(AutotuneTest, NoneThatRunsIsAnErrorWithTheFirstsReason) {
  const auto bound = Bound({broken_, broken_});
  broken_source_ = *bound->ToSource(broken_);
  const absl::Status status = bound->Autotune(arguments_).status();
  EXPECT_THAT(std::string(status.message()), HasSubstr("none of the 2 configs of kernel 'add_scaled' runs"));
  EXPECT_THAT(std::string(status.message()), HasSubstr("line 3"));
  EXPECT_EQ(device_->compile_count(), 1) << "the compile error must be cached";
  EXPECT_FALSE(bound->config().has_value());
}

TEST_F(AutotuneTest, WithoutAConfigThereIsAFullSearch) {
  const auto bound = Bound({});
  EXPECT_EQ(*bound->Autotune(arguments_), searched_);
  EXPECT_EQ(Set(*bound), Complete(*bound, searched_));
  EXPECT_EQ(search_->asked(), 1);
}

TEST_F(AutotuneTest, ForceMakesAFullSearchOfFixedConfigsToo) {
  for (const std::vector<codegen::Config>& fixed : {std::vector{slow_}, std::vector{slow_, fast_}}) {
    EXPECT_EQ(*Bound(fixed)->Autotune(arguments_, true), searched_);
    EXPECT_EQ(*Bound(fixed, {.force_autotune = true})->Autotune(arguments_), searched_);
  }
  EXPECT_EQ(search_->asked(), 4);
  EXPECT_TRUE(search_->forced());
  EXPECT_EQ(*Bound({})->Autotune(arguments_), searched_);
  EXPECT_FALSE(search_->forced());
}

TEST_F(AutotuneTest, ADisallowedSearchIsAnErrorThatSaysSo) {
  const Settings settings = {.disallow_autotuning = true};
  for (const absl::Status& status :
       {Bound({}, settings)->Autotune(arguments_).status(),
        Bound({slow_}, settings)->Autotune(arguments_, true).status(), Bound({}, settings)->Run(arguments_).status()}) {
    EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
    EXPECT_THAT(std::string(status.message()), HasSubstr("disallow_autotuning"));
  }
  EXPECT_EQ(search_->asked(), 0);
}

TEST_F(AutotuneTest, WithoutASearchAFullOneIsAnError) {
  search_ = nullptr;
  const absl::Status status = Bound({})->Autotune(arguments_).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(status.message()), HasSubstr("without a search"));
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

// Tests TunedSearch in programs with their own kernels: later processes use the config that the first process found.

#include "worker/tune/tuned_search.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tests/worker/runtime/test_kernels.h"
#include "tests/worker/tune/tune_fixture.h"
#include "worker/device/open_device.h"
#include "worker/kernels/kernel_spec.h"
#include "worker/runtime/kernel.h"
#include "worker/tune/bound_call.h"

namespace telemetry::worker::tune {
namespace {

namespace fs = std::filesystem;
using runtime::Settings;
using runtime::ToDevice;
using testing::HasSubstr;

ir::HostArray Vector(int64_t size, double first) {
  ir::HostArray array = ir::HostArray::Strided(device::DType::kF32, {size}, {1});
  for (int64_t i = 0; i < size; ++i) array.data[static_cast<size_t>(i)] = first + static_cast<double>(i);
  return array;
}

class TunedSearchTest : public testing::Test {
 protected:
  ~TunedSearchTest() override { fs::remove_all(folder_); }

  // Simulates the start of a process: opens a session and binds the kernel to (x, y, scale).
  void Start(Settings settings = {}, const std::string& source = "def add_scaled(x, y, scale)") {
    bound_.reset();
    session_.reset();
    auto session = TuneSession::Open({.state_dir = State(), .log_base = (folder_ / "log").string()});
    ASSERT_TRUE(session.ok()) << session.status();
    session_ = *std::move(session);
    Bind(session_.get(), settings, source);
  }
  void Bind(TuneSession* session, Settings settings = {}, const std::string& source = "def add_scaled(x, y, scale)") {
    runtime::KernelSpec spec = runtime::AddScaledSpec();
    spec.source = source;
    spec.settings = settings;
    TunerOptions tuner = fixture_.Options(4);
    tuner.generate = generate_;
    tuner.on_progress = [this](const TuneProgress& progress) { measured_ += progress.done > 0 ? 1 : 0; };
    spec.search = std::make_shared<TunedSearch>(BestConfigCache(State() + "/best"),
                                                TunedSearchOptions{.session = session, .tuner = std::move(tuner)});
    kernel_ = runtime::MakeKernel(std::move(spec));
    auto bound = kernel_->Bind(arguments_);
    ASSERT_TRUE(bound.ok()) << bound.status();
    bound_ = *std::move(bound);
  }
  std::string State() const { return (folder_ / "state").string(); }
  int CountInLog(const std::string& text) const {
    std::ifstream file(folder_.string() + "/log.csv");
    int count = 0;
    for (std::string line; std::getline(file, line);) count += line.find(text) == std::string::npos ? 0 : 1;
    return count;
  }

  TuneFixture fixture_;
  const fs::path folder_ =
      fs::path(testing::TempDir()) / ("tuned-search-" + std::to_string(getpid()) + "-" +
                                      testing::UnitTest::GetInstance()->current_test_info()->name());
  std::shared_ptr<device::Device> device_ = *device::OpenDevice("opencl:0");
  runtime::Arguments arguments_ = {*ToDevice(device_, Vector(256, 0)), *ToDevice(device_, Vector(256, 1000)), 2.0};
  Candidates::Generate generate_;
  std::unique_ptr<TuneSession> session_;
  std::unique_ptr<runtime::Kernel> kernel_;
  std::shared_ptr<runtime::BoundKernel> bound_;
  int measured_ = 0;  // number of configs
};

TEST_F(TunedSearchTest, WhatOneProcessTunedTheNextOneTakes) {
  Start();
  auto outputs = bound_->Run(arguments_);
  ASSERT_TRUE(outputs.ok()) << outputs.status();
  EXPECT_GE(measured_, 4);
  const auto out = ToHost(outputs->front());
  ASSERT_TRUE(out.ok()) << out.status();
  EXPECT_EQ(out->data[3], 3 + 2 * 1003);
  const codegen::Config found = *bound_->config();

  measured_ = 0;
  Start();
  ASSERT_TRUE(bound_->Run(arguments_).ok());
  EXPECT_EQ(measured_, 0);
  EXPECT_EQ(bound_->config(), found);

  Start({.force_autotune = true});
  ASSERT_TRUE(bound_->Autotune(arguments_).ok());
  EXPECT_GT(measured_, 0) << "force_autotune tunes even if a config is known";

  measured_ = 0;
  Start();
  ASSERT_TRUE(bound_->Autotune(arguments_, {.force = true}).ok());
  EXPECT_GT(measured_, 0) << "a forced call tunes even if a config is known";
}

// Of eight configs, one computes wrong results and one ends its process.
TEST_F(TunedSearchTest, AListOfConfigsIsTunedLikeAnyAttempt) {
  std::vector<codegen::Config> configs;
  for (const int size : {16, 32, 64, 128}) {
    for (const int warps : {1, 2}) {
      configs.push_back(runtime::Config("Config(block_sizes=[" + std::to_string(size) +
                                        "], num_warps=" + std::to_string(warps) + ")"));
    }
  }
  const auto complete = [this](const codegen::Config& config) { return *bound_->config_space().Normalize(config); };
  generate_ = [this, &configs, &complete](const codegen::Config& config) {
    absl::StatusOr<codegen::GeneratedKernel> generated = bound_->Generate(config);
    if (!generated.ok()) return generated;
    const size_t name = generated->source.rfind(generated->function + "(");
    const size_t body = generated->source.find('{', name) + 1;
    if (config == complete(configs[2])) generated->source.insert(body, "return;");
    if (config == complete(configs[5])) generated->source.insert(body, "*(volatile __global int*)8 = 1;");
    return generated;
  };
  Start();
  const absl::StatusOr<codegen::Config> chosen = bound_->Autotune(arguments_, {.configs = configs});
  ASSERT_TRUE(chosen.ok()) << chosen.status();
  std::vector<codegen::Config> sound;
  for (size_t i = 0; i < configs.size(); ++i) {
    if (i != 2 && i != 5) sound.push_back(complete(configs[i]));
  }
  EXPECT_THAT(sound, testing::Contains(*chosen));
  EXPECT_EQ(CountInLog(",started,"), 8);
  EXPECT_EQ(CountInLog(",error,"), 2);

  // A later process knows the choice among these configs, and only among these.
  measured_ = 0;
  Start();
  std::reverse(configs.begin(), configs.end());
  EXPECT_EQ(*bound_->Autotune(arguments_, {.configs = configs}), *chosen);
  EXPECT_EQ(measured_, 0);
  ASSERT_TRUE(bound_->Autotune(arguments_, {.configs = {configs[0], configs[1]}}).ok());
  EXPECT_GT(measured_, 0);
}

TEST_F(TunedSearchTest, AnInvalidOptionIsNamed) {
  Start();
  EXPECT_THAT(std::string(bound_->Autotune(arguments_, {.effort = "much"}).status().message()), HasSubstr("much"));
  EXPECT_THAT(std::string(bound_->Autotune(arguments_, {.algorithm = "luck"}).status().message()), HasSubstr("luck"));
}

TEST_F(TunedSearchTest, WithoutASessionOnlyWhatIsKnownIsTaken) {
  Bind(nullptr);
  const absl::Status status = bound_->Autotune(arguments_).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(status.message()), HasSubstr("add_scaled [(256,), (256,)]"));

  const codegen::Config known = *bound_->config_space().Normalize(worker::runtime::Config("Config(num_warps=2)"));
  const v1::Run run = *MakeCallRun(*bound_, arguments_);
  ASSERT_TRUE(BestConfigCache(State() + "/best").Put(MakeBestConfig(run, known, 0.5, "")).ok());
  EXPECT_EQ(*bound_->Autotune(arguments_), known);
}

TEST_F(TunedSearchTest, AKnownConfigThatTheKernelCannotHaveIsNotTaken) {
  Bind(nullptr);
  const v1::Run run = *MakeCallRun(*bound_, arguments_);
  const codegen::Config other = worker::runtime::Config("Config(of_another_version=2)");
  ASSERT_TRUE(BestConfigCache(State() + "/best").Put(MakeBestConfig(run, other, 0.5, "")).ok());
  EXPECT_EQ(bound_->Autotune(arguments_).status().code(), absl::StatusCode::kFailedPrecondition);
}

TEST_F(TunedSearchTest, AKernelWithoutASourceIsToldSo) {
  Bind(nullptr, {}, /*source=*/"");
  EXPECT_THAT(std::string(bound_->Autotune(arguments_).status().message()), HasSubstr("KernelSpec::source"));
}

// Checks that a program that calls a library kernel finds the configs of `telemetry-worker tune`.
TEST_F(TunedSearchTest, ALibraryKernelsCallIsTheRunOfTheCommand) {
  for (const char* name : {"softmax", "attention"}) {
    const kernels::LibraryKernel& library = **kernels::FindKernel(name);
    const kernels::Problem problem = kernels::DefaultProblem(library);
    const LibrarySubject subject = *MakeLibrarySubject(library, problem, {}, device_, /*input_seed=*/1);
    const absl::StatusOr<v1::Run> run = MakeCallRun(*subject.bound, subject.arguments);
    ASSERT_TRUE(run.ok()) << run.status();
    EXPECT_EQ(run->SerializeAsString(), subject.info.run.SerializeAsString()) << name;
  }
}

}  // namespace
}  // namespace telemetry::worker::tune

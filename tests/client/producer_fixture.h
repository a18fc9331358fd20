#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "client/producer.h"
#include "gtest/gtest.h"
#include "tests/client/fake_collector.h"
#include "tests/client/spool_fixture.h"

namespace telemetry::client {

inline constexpr absl::Duration kLong = absl::Seconds(60);

// A producer and its collector. The records are runs with distinct kernel names.
class ProducerTest : public testing::Test {
 protected:
  ProducerTest() {
    options_.collector = collector_.address();
    options_.spool_dir = folder_.path() + "/spool";
    options_.linger = absl::Milliseconds(1);
    options_.retry_first = absl::Milliseconds(1);
    options_.retry_cap = absl::Milliseconds(20);
    options_.on_notice = [this](const std::string& text) {
      absl::MutexLock lock(&mutex_);
      notices_.push_back(text);
    };
    options_.on_refused = [this](const v1::Ack::Refused& refused) {
      absl::MutexLock lock(&mutex_);
      refused_.push_back(absl::StrCat(refused.seq(), ": ", refused.message()));
    };
  }

  void Open() {
    producer_.reset();
    absl::StatusOr<std::unique_ptr<Producer>> producer = Producer::Open(options_);
    ASSERT_TRUE(producer.ok()) << producer.status();
    producer_ = *std::move(producer);
  }
  static v1::Record MakeRecord(const std::string& name) {
    v1::Record record;
    record.mutable_run()->set_kernel_name(name);
    return record;
  }
  void Append(const std::string& name) {
    const absl::Status status = producer_->Append(MakeRecord(name));
    ASSERT_TRUE(status.ok()) << status;
  }
  void Drain() {
    const absl::Status status = producer_->Drain(kLong);
    ASSERT_TRUE(status.ok()) << status;
  }
  void AwaitNotice(const std::string& part) {
    absl::MutexLock lock(&mutex_);
    const auto said = [&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return Said(part); };
    ASSERT_TRUE(mutex_.AwaitWithTimeout(absl::Condition(&said), kLong)) << part;
  }
  bool Said(const std::string& part) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return std::any_of(notices_.begin(), notices_.end(),
                       [&](const std::string& notice) { return absl::StrContains(notice, part); });
  }
  std::vector<std::string> notices() {
    absl::MutexLock lock(&mutex_);
    return notices_;
  }
  std::vector<std::string> refused() {
    absl::MutexLock lock(&mutex_);
    return refused_;
  }

  TempFolder folder_;
  FakeCollector collector_{folder_.path()};
  ProducerOptions options_;
  absl::Mutex mutex_;
  std::vector<std::string> notices_ ABSL_GUARDED_BY(mutex_);
  std::vector<std::string> refused_ ABSL_GUARDED_BY(mutex_);
  std::unique_ptr<Producer> producer_;
};

}  // namespace telemetry::client

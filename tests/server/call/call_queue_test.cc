#include "server/call/call_queue.h"

#include <gmock/gmock.h>
#include <grpcpp/create_channel.h>
#include <grpcpp/security/auth_metadata_processor.h>
#include <grpcpp/security/credentials.h>
#include <grpcpp/security/server_credentials.h>
#include <grpcpp/server.h>
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "absl/synchronization/notification.h"
#include "server/call/operation_scope.h"
#include "tests/server/collector/any_call.h"

namespace telemetry::collector {
namespace {

using ::testing::ElementsAre;

// Keeps the thread that reads a call with authorization inside gRPC.
class Keeper : public grpc::AuthMetadataProcessor {
 public:
  bool IsBlocking() const override { return false; }
  grpc::Status Process(const InputMetadata& metadata, grpc::AuthContext* /*context*/, OutputMetadata* /*consumed*/,
                       OutputMetadata* /*response*/) override {
    if (metadata.count("authorization") == 0) return grpc::Status::OK;
    kept_.Notify();
    while (!released_) continue;
    return grpc::Status::OK;
  }

  void AwaitThread() { kept_.WaitForNotification(); }
  void Release() { released_ = true; }

 private:
  absl::Notification kept_;
  std::atomic<bool> released_ = false;
};

class CallQueueTest : public ::testing::Test {
 protected:
  CallQueueTest() {
    const auto credentials = grpc::experimental::LocalServerCredentials(LOCAL_TCP);
    credentials->SetAuthMetadataProcessor(keeper_);
    grpc::ServerBuilder builder;
    builder.AddListeningPort("127.0.0.1:0", credentials, &port_);
    queue_.AddTo(builder);
    server_ = builder.BuildAndStart();
    queue_.Start();
  }
  ~CallQueueTest() override { Stop(); }

  void Stop() {
    server_->Shutdown();
    queue_.Stop();
  }

  // Calls a method that the server does not have, on a connection of its own.
  CallOutcome Call(const std::vector<std::string>& authorization) const {
    grpc::ChannelArguments arguments;
    arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
    return CallAnything(grpc::CreateCustomChannel(absl::StrCat("127.0.0.1:", port_),
                                                  grpc::experimental::LocalCredentials(LOCAL_TCP), arguments),
                        "/no.Service/Method", "", authorization);
  }

  const std::shared_ptr<Keeper> keeper_ = std::make_shared<Keeper>();
  int port_ = 0;
  access::Gate gate_{nullptr};
  net::ReceiveMeter meter_{uint64_t{1} << 20};
  call::RunningCalls calls_{gate_, meter_, {}};
  call::CallQueue queue_{calls_};
  std::unique_ptr<grpc::Server> server_;
};

TEST_F(CallQueueTest, RunsPostedWorkInOrderOnOneThread) {
  // ThreadSanitizer recognises the lock, but not the notification.
  absl::Mutex mutex;
  std::vector<int> done;
  std::vector<std::thread::id> threads;
  absl::Notification all;
  for (int i = 0; i < 3; ++i) {
    queue_.Post([&, i] {
      {
        const absl::MutexLock lock(&mutex);
        done.push_back(i);
        threads.push_back(std::this_thread::get_id());
      }
      if (i == 2) all.Notify();
    });
  }
  all.WaitForNotification();
  const absl::MutexLock lock(&mutex);
  EXPECT_THAT(done, ElementsAre(0, 1, 2));
  EXPECT_NE(threads[0], std::this_thread::get_id());
  EXPECT_THAT(threads, ElementsAre(threads[0], threads[0], threads[0]));
}

TEST_F(CallQueueTest, RunsWorkThatAnEventPosts) {
  absl::Notification done;
  queue_.Post([&] { queue_.Post([&] { done.Notify(); }); });
  done.WaitForNotification();
}

TEST_F(CallQueueTest, IsStuckWhileAThreadComputesWithoutAnEvent) {
  EXPECT_EQ(queue_.Supervise(), net::ServerLoad::kLight);
  std::atomic<bool> end = false;
  absl::Notification done;
  queue_.Post([&] {
    while (!end) continue;
    done.Notify();
  });
  while (queue_.Supervise() != net::ServerLoad::kStuck) std::this_thread::yield();
  end = true;
  done.WaitForNotification();
  // The thread is seen to have gone on at the latest by the third call, because it may do so between two calls.
  absl::Notification next;
  queue_.Post([&] { next.Notify(); });
  next.WaitForNotification();
  queue_.Supervise();
  queue_.Supervise();
  EXPECT_NE(queue_.Supervise(), net::ServerLoad::kStuck);
}

TEST_F(CallQueueTest, OtherThreadsHelpWhileGrpcKeepsOne) {
  std::thread hostile([&] { Call({"any"}); });
  keeper_->AwaitThread();
  std::atomic<bool> end = false;
  std::thread supervisor([&] {
    while (!end) queue_.Supervise();
  });
  EXPECT_EQ(Call({}).status.error_code(), grpc::StatusCode::UNIMPLEMENTED);
  end = true;
  keeper_->Release();
  supervisor.join();
  hostile.join();
}

TEST_F(CallQueueTest, OtherThreadsReactWhileAnOperationOfAReactionStarts) {
  std::atomic<bool> end = false;
  absl::Notification started;
  absl::Notification ended;
  queue_.Post([&] {
    call::StartInScope([&] {
      started.Notify();
      while (!end) continue;
      ended.Notify();
    });
  });
  started.WaitForNotification();
  absl::Notification reacted;
  queue_.Post([&] { reacted.Notify(); });
  while (!reacted.HasBeenNotified()) queue_.Supervise();
  end = true;
  ended.WaitForNotification();
}

TEST(OperationScopeTest, OperationsStartInTheirOrderAtTheEndOfTheOutermostScope) {
  std::vector<int> started;
  const auto start = [&](int number) { call::StartInScope([&started, number] { started.push_back(number); }); };
  start(1);
  EXPECT_THAT(started, ElementsAre(1));
  {
    const call::OperationScope outer;
    start(2);
    {
      const call::OperationScope inner;
      start(3);
      call::StartInScope([&] { start(4); });
    }
    EXPECT_THAT(started, ElementsAre(1));
  }
  EXPECT_THAT(started, ElementsAre(1, 2, 3, 4));
}

TEST_F(CallQueueTest, RunsWorkAtOnceAfterItsEnd) {
  Stop();
  std::thread::id thread;
  queue_.Post([&] { thread = std::this_thread::get_id(); });
  EXPECT_EQ(thread, std::this_thread::get_id());
}

}  // namespace
}  // namespace telemetry::collector

#include "worker/tune/process/child_process.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <fstream>
#include <string>
#include <thread>

#include "tests/worker/tune/open_fds.h"
#include "tests/worker/tune/process/child_roles.h"
#include "worker/tune/process/parent_connection.h"

namespace telemetry::worker::tune::process {
namespace {

using absl::StatusCode;
using testing::EndsWith;
using testing::HasSubstr;

std::string Message(const absl::Status& status) { return std::string(status.message()); }

// Waits for a message of a child that sends none.
absl::Status Listen(ChildProcess* child, absl::Duration timeout = kLong) {
  Text text;
  return child->Receive(&text, timeout);
}

bool IsReaped(pid_t pid) { return waitpid(pid, nullptr, WNOHANG) == -1 && errno == ECHILD; }

// A pipe whose writing end only other processes hold.
struct Lifeline {
  Lifeline() {
    std::array<int, 2> fds = {-1, -1};
    EXPECT_EQ(pipe2(fds.data(), O_CLOEXEC), 0);
    end = OwnedFd(fds[0]);
    held = OwnedFd(fds[1]);
  }
  // Blocks until all processes with the writing end have ended.
  void AwaitEnd() {
    held = OwnedFd();
    char byte = 0;
    EXPECT_EQ(read(end.get(), &byte, 1), 0);
  }
  OwnedFd end, held;
};

TEST(ChildProcessTest, Answers) {
  const auto child = StartRole("echo").value();
  EXPECT_EQ(*Ask(child.get(), "one"), "one");
  EXPECT_EQ(*Ask(child.get(), ""), "");
  const std::string large(size_t{8} << 20, 'x');
  EXPECT_EQ(*Ask(child.get(), large), large);
  EXPECT_TRUE(child->IsRunning());
  EXPECT_FALSE(child->ending().has_value());
}

TEST(ChildProcessTest, AMessageOverTheLimitIsRefusedAndTheChildGoesOn) {
  const auto child = StartRole("echo").value();
  const absl::Status status = child->Send(MakeText(std::string(kDefaultMessageLimitBytes, 'x')), kLong);
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(Message(status), HasSubstr("SharedBytes"));
  EXPECT_EQ(*Ask(child.get(), "one"), "one");
}

TEST(ChildProcessTest, AfterADeadlineTheAnswerStillComes) {
  const auto child = StartRole("slow").value();
  ASSERT_EQ(child->Send(MakeText("one"), kLong), absl::OkStatus());
  EXPECT_EQ(Listen(child.get(), absl::Milliseconds(20)).code(), StatusCode::kDeadlineExceeded);
  EXPECT_EQ(*Ask(child.get(), "two"), "two");
}

TEST(ChildProcessTest, AChildThatTakesNoMessageIsKilledAtTheDeadline) {
  const auto child = StartRole("deaf").value();
  const std::string large(size_t{8} << 20, 'x');
  EXPECT_EQ(child->Send(MakeText(large), absl::Milliseconds(50)).code(), StatusCode::kDeadlineExceeded);
  EXPECT_FALSE(child->IsRunning());
  EXPECT_EQ(child->Send(MakeText("one"), kLong).code(), StatusCode::kUnavailable);
}

TEST(ChildProcessTest, ACrashIsNamedWithWhatWasPrinted) {
  const auto child = StartRole("crash").value();
  const absl::Status status = Ask(child.get(), "").status();
  EXPECT_EQ(status.code(), StatusCode::kUnavailable);
  EXPECT_THAT(Message(status), HasSubstr("was killed by SIGSEGV (Segmentation fault)"));
  EXPECT_THAT(Message(status), HasSubstr("something is amiss"));
  EXPECT_EQ(child->ending()->SignalName(), "SIGSEGV");
  EXPECT_EQ(child->printed(), "something is amiss");
  EXPECT_TRUE(IsReaped(child->pid()));
}

TEST(ChildProcessTest, AnExitIsNamed) {
  const auto child = StartRole("quit").value();
  EXPECT_THAT(Message(Ask(child.get(), "").status()), HasSubstr("exited with status 3"));
  EXPECT_EQ(child->ending()->exit_status, 3);
}

TEST(ChildProcessTest, WhatWasSentBeforeTheEndIsReceived) {
  const auto child = StartRole("echo").value();
  EXPECT_EQ(*Ask(child.get(), "last"), "last");
  EXPECT_THAT(Message(Listen(child.get())), HasSubstr("exited with status 0"));
}

TEST(ChildProcessTest, AKillFromOutsideIsSeen) {
  const auto child = StartRole("deaf").value();
  ASSERT_EQ(kill(child->pid(), SIGKILL), 0);
  EXPECT_THAT(Message(Listen(child.get())), HasSubstr("SIGKILL"));
  EXPECT_FALSE(child->IsRunning());
}

TEST(ChildProcessTest, AnyThreadInterrupts) {
  const auto child = StartRole("deaf").value();
  std::thread other([&] { child->Interrupt(); });
  EXPECT_THAT(Message(Listen(child.get())), HasSubstr("SIGKILL"));
  other.join();
  child->Interrupt();  // must have no effect
}

TEST(ChildProcessTest, KillLeavesNoZombie) {
  const auto child = StartRole("busy").value();
  child->Kill();
  EXPECT_TRUE(IsReaped(child->pid()));
  EXPECT_EQ(child->ending()->signal, SIGKILL);
  child->Kill();
  EXPECT_EQ(Listen(child.get()).code(), StatusCode::kUnavailable);
}

TEST(ChildProcessTest, GarbageIsTold) {
  const auto child = StartRole("garbage").value();
  EXPECT_EQ(Listen(child.get()).code(), StatusCode::kDataLoss);
  EXPECT_FALSE(child->IsRunning());
}

TEST(ChildProcessTest, AFrameOverTheLimitIsNotRead) {
  const auto child = StartRole("too large").value();
  const absl::Status status = Listen(child.get());
  EXPECT_EQ(status.code(), StatusCode::kDataLoss);
  EXPECT_THAT(Message(status), HasSubstr("2147483648 bytes"));
  EXPECT_FALSE(child->IsRunning());
}

TEST(ChildProcessTest, AChildThatHangsUpIsKilled) {
  const auto child = StartRole("hang up").value();
  EXPECT_EQ(Listen(child.get()).code(), StatusCode::kUnavailable);
  EXPECT_TRUE(IsReaped(child->pid()));
}

TEST(ChildProcessTest, AChildThatPrintsMuchIsNotHeldUp) {
  const auto child = StartRole("chatter").value();
  EXPECT_EQ(*Ask(child.get(), "one"), "one");
  child->Kill();
  EXPECT_THAT(child->printed(), EndsWith("the last line"));
  EXPECT_LE(child->printed().size(), StderrTail::kLimitBytes);
  EXPECT_GT(child->printed().size(), StderrTail::kLimitBytes / 2);
}

TEST(ChildProcessTest, WhatEarlierWorkPrintedIsForgotten) {
  const auto child = StartRole("chatter").value();
  EXPECT_EQ(*Ask(child.get(), "one"), "one");
  child->ForgetPrinted();
  EXPECT_EQ(child->printed(), "");
}

TEST(ChildProcessTest, AChildThatExceedsItsMemoryIsKilled) {
  const auto child = StartRole("hoard").value();
  child->LimitMemory(child->ResidentBytes() + (uint64_t{200} << 20));
  EXPECT_EQ(*Ask(child.get(), "one"), "one");
  absl::Status status;
  for (int i = 0; i < 4 && status.ok(); ++i) status = Ask(child.get(), "more").status();
  EXPECT_EQ(status.code(), StatusCode::kResourceExhausted);
  EXPECT_THAT(Message(status), HasSubstr("MiB of memory and was killed"));
  EXPECT_TRUE(IsReaped(child->pid()));
  EXPECT_EQ(child->ResidentBytes(), 0u);
}

TEST(ChildProcessTest, InheritsNoOtherDescriptor) {
  const OwnedFd careless(open("/dev/null", O_RDONLY));  // inheritable: without O_CLOEXEC
  const auto child = StartRole("list fds").value();
  EXPECT_EQ(*Ask(child.get(), ""), "0 1 2 3");
}

TEST(ChildProcessTest, AChildIsGoneOnceItsParentWasKilled) {
  Lifeline lifeline;
  const auto parent = StartRole("parent").value();
  ASSERT_EQ(*Ask(parent.get(), "is there", {lifeline.held.get()}), "is there");
  ASSERT_EQ(kill(parent->pid(), SIGKILL), 0);
  lifeline.AwaitEnd();
}

TEST(ChildProcessTest, WhatAChildStartedEndsWithIt) {
  Lifeline lifeline;
  const auto child = StartRole("fork").value();
  ASSERT_EQ(*Ask(child.get(), "one", {lifeline.held.get()}), "one");
  child->Kill();
  lifeline.AwaitEnd();
}

TEST(ChildProcessTest, AChildGoesFirstWhenMemoryRunsOut) {
  const auto child = StartRole("echo").value();
  ASSERT_EQ(*Ask(child.get(), "one"), "one");
  int score = 0;
  std::ifstream("/proc/" + std::to_string(child->pid()) + "/oom_score_adj") >> score;
  EXPECT_EQ(score, 1000);
}

TEST(ChildProcessTest, NothingStaysOpen) {
  const int before = OpenFds();
  for (const char* role : {"echo", "crash", "quit", "garbage", "busy"}) {
    const auto child = StartRole(role).value();
    EXPECT_EQ(child->Send(MakeText("last"), kLong), absl::OkStatus());
    Listen(child.get(), absl::Milliseconds(50)).IgnoreError();
  }
  EXPECT_FALSE(ChildProcess::Start({.program = {.path = "/nowhere"}}).ok());
  EXPECT_EQ(OpenFds(), before);
}

TEST(ChildProcessTest, AProgramThatIsNotThereIsNamed) {
  const absl::Status status = ChildProcess::Start({.program = {.path = "/nowhere/tuner"}}).status();
  EXPECT_EQ(status.code(), StatusCode::kUnavailable);
  EXPECT_THAT(Message(status), HasSubstr("/nowhere/tuner: No such file"));
}

TEST(ChildProcessTest, AProgramThatDoesNotServeStartsNoChildrenForEver) {
  const auto child = StartRole("unaware").value();
  const absl::Status status = Listen(child.get());
  EXPECT_THAT(Message(status), HasSubstr("exited with status 4"));
  EXPECT_THAT(Message(status), HasSubstr("RunTuneChild"));
}

TEST(ParentConnectionTest, NeedsAParent) {
  EXPECT_EQ(ParentConnection::Open().status().code(), StatusCode::kFailedPrecondition);
}

}  // namespace
}  // namespace telemetry::worker::tune::process

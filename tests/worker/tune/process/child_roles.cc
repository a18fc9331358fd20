#include "tests/worker/tune/process/child_roles.h"

#include <dirent.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <map>
#include <string_view>
#include <utility>

#include "absl/strings/str_join.h"
#include "worker/tune/process/parent_connection.h"
#include "worker/tune/process/shared_bytes.h"

namespace telemetry::worker::tune::process {
namespace {

using Fds = std::vector<OwnedFd>;

// Replies to each request with the result of `answer`.
int Serve(const std::function<std::string(const std::string&, Fds)>& answer) {
  const auto parent = ParentConnection::Open().value();
  const absl::Status status = ServeFrames<Text, Text>(*parent, [&](const Text& question, Fds fds, Text* reply) {
    reply->set_value(answer(question.value(), std::move(fds)));
    return question.value() == "last" ? Serving::kEnd : Serving::kGoOn;
  });
  return status.ok() ? 0 : 1;
}

int Echo() {
  return Serve([](const std::string& question, const Fds&) { return question; });
}

// Receives two messages before it replies.
int Slow() {
  const auto parent = ParentConnection::Open().value();
  Text text;
  for (int i = 0; i < 2; ++i) {
    if (!parent->Receive(&text).ok()) return 1;
  }
  return parent->Send(text).ok() ? 0 : 1;
}

int Crash() {
  return Serve([](const std::string&, const Fds&) -> std::string {
    std::cerr << "something is amiss" << std::endl;
    std::signal(SIGSEGV, SIG_DFL);  // otherwise a sanitizer would handle the signal
    std::raise(SIGSEGV);
    return "";
  });
}

int Quit() {
  return Serve([](const std::string&, const Fds&) -> std::string { std::_Exit(3); });
}

int Chatter() {
  return Serve([](const std::string& question, const Fds&) {
    for (int i = 0; i < 100000; ++i) std::cout << "line " << i << " of much that is said\n";
    std::cout << "the last line" << std::endl;
    return question;
  });
}

// Holds 64 MiB more after each reply.
int Hoard() {
  std::vector<std::string> held;
  return Serve([&](const std::string& question, const Fds&) {
    held.emplace_back(size_t{64} << 20, 'x');
    usleep(300000);
    return question;
  });
}

// Neither reads nor exits.
int Deaf() {
  const auto parent = ParentConnection::Open().value();
  while (true) pause();
}

int Raw(std::string_view bytes) {
  const auto parent = ParentConnection::Open().value();
  if (write(kMessageFd, bytes.data(), bytes.size()) < 0) return 1;
  while (true) pause();
}

int Garbage() { return Raw("printed by a library that knows no better"); }

// Writes the header of a frame with a length of 2 GiB.
int TooLarge() {
  const FrameHeader header = {.magic = kFrameMagic, .length = uint32_t{1} << 31};
  return Raw({reinterpret_cast<const char*>(&header), sizeof(header)});
}

int HangUp() {
  const auto parent = ParentConnection::Open().value();
  shutdown(kMessageFd, SHUT_WR);
  while (true) pause();
}

int ListFds() {
  return Serve([](const std::string&, const Fds&) {
    std::vector<int> fds;
    DIR* folder = opendir("/proc/self/fd");
    while (const dirent* entry = readdir(folder)) {
      if (entry->d_name[0] != '.' && std::atoi(entry->d_name) != dirfd(folder)) fds.push_back(std::atoi(entry->d_name));
    }
    closedir(folder);
    std::sort(fds.begin(), fds.end());
    return absl::StrJoin(fds, " ");
  });
}

// Adds one to each byte of the shared memory that comes with a request.
int Increment() {
  return Serve([](const std::string&, Fds fds) {
    SharedBytes bytes = SharedBytes::Open(std::move(fds.front())).value();
    for (std::byte& byte : bytes.mutable_bytes()) byte = static_cast<std::byte>(std::to_integer<int>(byte) + 1);
    return std::string("done");
  });
}

// Forks a child that never ends and does not use the connection.
int Fork() {
  return Serve([](const std::string& question, const Fds&) {
    if (fork() == 0) {
      while (true) pause();
    }
    return question;
  });
}

// Replies once, then computes forever.
int Busy() {
  const auto parent = ParentConnection::Open().value();
  Text text;
  Fds held;
  if (!parent->Receive(&text, &held).ok() || !parent->Send(text).ok()) return 1;
  std::atomic<uint64_t> count = 0;
  while (true) ++count;
}

// A parent with a busy child, to which it forwards the request.
int Parent() {
  std::unique_ptr<ChildProcess> child;
  return Serve([&](const std::string& question, const Fds& fds) {
    child = StartRole("busy").value();
    return Ask(child.get(), question, {fds.front().get()}).value();
  });
}

// A main that does not call RunTuneChild.
int Unaware() {
  std::cerr << StartRole("unaware").status().message() << std::endl;
  return 4;
}

int Play(std::string_view role) {
  static const std::map<std::string_view, int (*)()> kRoles = {
      {"busy", &Busy},      {"chatter", &Chatter},     {"crash", &Crash},        {"deaf", &Deaf},
      {"hoard", &Hoard},    {"echo", &Echo},           {"fork", &Fork},          {"garbage", &Garbage},
      {"hang up", &HangUp}, {"increment", &Increment}, {"list fds", &ListFds},   {"parent", &Parent},
      {"quit", &Quit},      {"slow", &Slow},           {"too large", &TooLarge}, {"unaware", &Unaware},
  };
  return kRoles.at(role)();
}

}  // namespace

absl::StatusOr<std::unique_ptr<ChildProcess>> StartRole(const std::string& role) {
  return ChildProcess::Start({.program = {.arguments = {"play"}}, .role = role});
}

absl::StatusOr<std::string> Ask(ChildProcess* child, const std::string& question, absl::Span<const int> fds) {
  if (absl::Status status = child->Send(MakeText(question), kLong, fds); !status.ok()) return status;
  Text answer;
  if (absl::Status status = child->Receive(&answer, kLong); !status.ok()) return status;
  return answer.value();
}

std::optional<int> PlayRole(int argc, char** argv) {
  if (argc != 3 || argv[1] != std::string_view("play")) return std::nullopt;
  return Play(argv[2]);
}

}  // namespace telemetry::worker::tune::process

#include "tests/worker/tune/compile/fake_compiler.h"

#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <string_view>
#include <vector>

#include "absl/strings/str_cat.h"
#include "worker/tune/compile/compile_messages.pb.h"
#include "worker/tune/process/parent_connection.h"

namespace telemetry::worker::tune::compile {
namespace {

void Crash() {
  std::cerr << "internal compiler error" << std::endl;
  std::signal(SIGSEGV, SIG_DFL);  // otherwise a sanitizer would handle the signal
  std::raise(SIGSEGV);
}

void Hang() {
  while (true) pause();
}

// Uses more and more memory, faster than any limit is checked, but not without end.
void Hoard() {
  std::vector<std::string> held;
  for (int i = 0; i < 64; ++i) {
    held.emplace_back(size_t{16} << 20, 'x');
    usleep(20000);
  }
  Hang();
}

// Never frees this memory.
void Keep() {
  auto* kept = new std::string(size_t{300} << 20, 'x');
  asm volatile("" : : "r"(kept->data()) : "memory");
}

process::Serving Answer(const CompileRequest& request, CompileReply* reply) {
  const std::string& source = request.source();
  if (source == "crash") Crash();
  if (source == "hang") Hang();
  if (source == "hoard") Hoard();
  if (source == "keep") Keep();
  if (source == "quit") std::_Exit(7);
  if (source == "garbage" && write(process::kMessageFd, "no frame at all", 15) == 15) Hang();
  if (source.starts_with("refuse")) {
    reply->set_code(static_cast<int>(absl::StatusCode::kInvalidArgument));
    reply->set_message("line 1: refused");
  }
  reply->set_binary(absl::StrCat(source, ":", getpid()));
  reply->set_log("a remark");
  reply->set_seconds(0.5);
  return process::Serving::kGoOn;
}

}  // namespace

process::ChildProgram FakeCompiler() { return {.arguments = {"fake"}}; }

pid_t PidIn(const std::string& binary) { return std::atoi(binary.substr(binary.rfind(':') + 1).c_str()); }

std::optional<int> PlayCompiler(int argc, char** argv) {
  if (argc != 3 || argv[1] != std::string_view("fake")) return std::nullopt;
  const auto parent = process::ParentConnection::Open().value();
  const absl::Status status = process::ServeFrames<CompileRequest, CompileReply>(
      *parent, [](const CompileRequest& request, const std::vector<process::OwnedFd>&, CompileReply* reply) {
        return Answer(request, reply);
      });
  return status.ok() ? 0 : 1;
}

}  // namespace telemetry::worker::tune::compile

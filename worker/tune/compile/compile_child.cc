#include "worker/tune/compile/compile_child.h"

#include <malloc.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "proto/base/status_macros.h"
#include "worker/device/compile_cuda.h"
#include "worker/device/device.h"
#include "worker/device/open_device.h"
#include "worker/tune/compile/code_folder.h"
#include "worker/tune/compile/compile_messages.pb.h"
#include "worker/tune/process/parent_connection.h"

namespace telemetry::worker::tune::compile {
namespace {

using device::CompiledCode;
using device::Device;

// Lowers the priority of compilation, because busy processors disturb measurements.
constexpr int kNiceness = 5;

// Keeps the memory of a compilation for the next one. NVRTC frees it all, and getting it from the kernel again takes
// 2,000 page faults for each source.
void KeepMemory() {
  constexpr int kKeptBytes = 256 << 20;
  mallopt(M_TRIM_THRESHOLD, kKeptBytes);
  mallopt(M_TOP_PAD, 16 << 20);
  mallopt(M_MMAP_THRESHOLD, kKeptBytes);
}

class Compilers {
 public:
  absl::StatusOr<CompiledCode> Compile(const CompileRequest& request) {
    // The code folder replaces NVRTC's cache. Initialising the driver in all compilers at once would delay the first
    // results.
    if (!request.is_opencl()) {
      return device::CompileCuda(request.source(), request.target(), device::NvrtcCache::kBypassed);
    }
    std::shared_ptr<Device>& device = devices_[request.target()];
    if (device == nullptr) {
      ASSIGN_OR_RETURN(std::shared_ptr<Device> opened, device::OpenDevice(request.target()));
      device = std::move(opened);
    }
    return device->Compile(request.source());
  }

 private:
  absl::flat_hash_map<std::string, std::shared_ptr<Device>> devices_;  // OpenCL compiles for an open device
};

void Answer(const CompileRequest& request, Compilers* compilers, CompileReply* reply) {
  const auto begin = std::chrono::steady_clock::now();
  absl::StatusOr<CompiledCode> code = compilers->Compile(request);
  reply->set_seconds(std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
  reply->set_code(code.status().raw_code());
  if (code.ok()) {
    reply->set_binary(std::move(code->binary));
    reply->set_log(std::move(code->log));
    reply->set_function(std::move(code->function));
  } else {
    reply->set_message(std::string(code.status().message()));
  }
}

// Answers, and keeps new code in the code folder.
void AnswerAndKeep(const CompileRequest& request, Compilers* compilers, CompileReply* reply) {
  Answer(request, compilers, reply);
  if (request.code_folder().empty() || !CodeFolder::MayKeep(request)) return;
  const absl::StatusOr<std::string> nvrtc = device::NvrtcIdentity();
  if (nvrtc.ok()) CodeFolder(request.code_folder()).Store(request, *nvrtc, *reply);
}

}  // namespace

absl::Status RunCompileChild() {
  ASSIGN_OR_RETURN(std::unique_ptr<process::ParentConnection> parent, process::ParentConnection::Open());
  [[maybe_unused]] const int niceness = nice(kNiceness);  // an error is harmless
  KeepMemory();
  Compilers compilers;
  return process::ServeFrames<CompileRequest, CompileReply>(
      *parent, [&](const CompileRequest& request, const std::vector<process::OwnedFd>& /*fds*/, CompileReply* reply) {
        AnswerAndKeep(request, &compilers, reply);
        return process::Serving::kGoOn;
      });
}

}  // namespace telemetry::worker::tune::compile

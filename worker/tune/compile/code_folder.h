#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "worker/tune/compile/compile_messages.pb.h"

namespace telemetry::worker::tune::compile {

// Replies of CUDA's compiler in the files of a folder, so that later attempts need not compile equal sources again. A
// file has the SHA-256 of the compiler, its options and the source as its name, and contains a CompileReply followed by
// the SHA-256 of the reply. A file that is torn or was changed is compiled and written again.
//
// Texts about the code are kept in the same way.
//
// Everything here is for speed only: the errors of Find and Store are not reported. Any number of processes may use a
// folder at once.
class CodeFolder {
 public:
  // `path` need not exist.
  explicit CodeFolder(std::string path) : path_(std::move(path)) {}

  // Returns true if the reply to the request depends on nothing but the compiler and the request: a CUDA source without
  // #include directives, whose files may change.
  static bool MayKeep(const CompileRequest& request);

  // Returns the kept reply, and marks it as used now; nullopt if there is none.
  std::optional<CompileReply> Find(const CompileRequest& request, const std::string& compiler) const;

  // Keeps a reply if it is code or a refusal of the source. `compiler` is device::NvrtcIdentity().
  void Store(const CompileRequest& request, const std::string& compiler, const CompileReply& reply) const;

  // Keeps a text under a name, and returns it later, like a reply. No text has the name of code.
  std::optional<std::string> FindText(const std::string& name) const;
  void StoreText(const std::string& name, const std::string& text) const;

  // Removes the files that were not used for the longest time until the others have at most `limit_bytes`. Returns OK
  // if there is no folder. UNAVAILABLE and PERMISSION_DENIED: as in client/file.h.
  absl::Status Trim(uint64_t limit_bytes) const;

 private:
  std::string PathOf(const CompileRequest& request, const std::string& compiler) const;
  std::string PathOf(const std::string& name) const;
  std::optional<std::string> FindAt(const std::string& path) const;
  void StoreAt(const std::string& path, std::string bytes) const;

  std::string path_;
};

}  // namespace telemetry::worker::tune::compile

#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace telemetry::worker {

// A shared library opened at run time. Drivers keep threads and exit handlers of their own, so a library stays open
// until the process ends; copies are the same library. Any thread.
class SharedLibrary {
 public:
  // The first of `names` (what the loader finds, or paths) that opens. NOT_FOUND says for each why it did not.
  static absl::StatusOr<SharedLibrary> Open(const std::vector<std::string>& names);

  // What it was opened as.
  const std::string& name() const { return name_; }
  // nullptr: there is no such symbol.
  void* Find(const char* symbol) const;

 private:
  SharedLibrary(std::string name, void* handle) : name_(std::move(name)), handle_(handle) {}

  std::string name_;
  void* handle_;
};

// Takes functions out of a library into typed pointers, and remembers the first that is missing.
class FunctionBinder {
 public:
  explicit FunctionBinder(const SharedLibrary& library) : library_(library) {}

  template <typename Signature>
  FunctionBinder& Bind(const char* symbol, Signature** function) {
    BindOptional(symbol, function);
    if (*function == nullptr && missing_.empty()) missing_ = symbol;
    return *this;
  }

  // The pointer is null where the library has no such function.
  template <typename Signature>
  FunctionBinder& BindOptional(const char* symbol, Signature** function) {
    *function = reinterpret_cast<Signature*>(library_.Find(symbol));
    return *this;
  }

  // FAILED_PRECONDITION names the library and the first function that it lacks: it is too old.
  absl::Status status() const;

 private:
  const SharedLibrary& library_;
  std::string missing_;
};

}  // namespace telemetry::worker

#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace telemetry::worker::device {

// A shared library opened at run time. Drivers have their own threads and exit handlers, so a library stays open until
// the process ends. Copies refer to the same library. Any thread may use it.
class SharedLibrary {
 public:
  // Opens the first of `names` (names for the loader, or paths) that can be opened. NOT_FOUND: the message contains the
  // error of each.
  static absl::StatusOr<SharedLibrary> Open(const std::vector<std::string>& names);
  // Opens the library whose path the environment variable contains, and no other; if it is not set, one of `names`.
  static absl::StatusOr<SharedLibrary> OpenChosen(const char* variable, const std::vector<std::string>& names);

  // Returns the name that was opened.
  const std::string& name() const { return name_; }
  // Returns null if there is no such symbol.
  void* Find(const char* symbol) const;

 private:
  SharedLibrary(std::string name, void* handle) : name_(std::move(name)), handle_(handle) {}

  std::string name_;
  void* handle_;
};

// Binds functions of a library to typed pointers and records the first missing function.
class FunctionBinder {
 public:
  explicit FunctionBinder(const SharedLibrary& library) : library_(library) {}

  template <typename Signature>
  FunctionBinder& Bind(const char* symbol, Signature** function) {
    BindOptional(symbol, function);
    if (*function == nullptr && missing_.empty()) missing_ = symbol;
    return *this;
  }

  // Sets the pointer to null if the library has no such function.
  template <typename Signature>
  FunctionBinder& BindOptional(const char* symbol, Signature** function) {
    *function = reinterpret_cast<Signature*>(library_.Find(symbol));
    return *this;
  }

  // FAILED_PRECONDITION: the library is too old; the message names the library and the first missing function.
  absl::Status status() const;

 private:
  const SharedLibrary& library_;
  std::string missing_;
};

}  // namespace telemetry::worker::device

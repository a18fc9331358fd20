#include "worker/device/library.h"

#include <dlfcn.h>

#include <cstdlib>

#include "absl/strings/str_cat.h"

namespace telemetry::worker::device {

absl::StatusOr<SharedLibrary> SharedLibrary::Open(const std::vector<std::string>& names) {
  std::string tried;
  for (const std::string& name : names) {
    if (void* handle = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL); handle != nullptr) {
      return SharedLibrary(name, handle);
    }
    const char* error = dlerror();
    absl::StrAppend(&tried, tried.empty() ? "" : "; ", error == nullptr ? name : error);
  }
  return absl::NotFoundError(tried);
}

absl::StatusOr<SharedLibrary> SharedLibrary::OpenChosen(const char* variable, const std::vector<std::string>& names) {
  const char* chosen = std::getenv(variable);
  return chosen != nullptr && *chosen != '\0' ? Open({chosen}) : Open(names);
}

void* SharedLibrary::Find(const char* symbol) const { return dlsym(handle_, symbol); }

absl::Status FunctionBinder::status() const {
  if (missing_.empty()) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat(library_.name(), " has no function ", missing_, ": it is too old; install a newer one"));
}

}  // namespace telemetry::worker::device

#include "worker/runtime/compile_cache.h"

#include <utility>

#include "proto/base/status_macros.h"
#include "proto/record/strings.h"

namespace telemetry::worker::runtime {
namespace {

using device::Device;

absl::StatusOr<std::shared_ptr<LoadedFunction>> Compile(Device& device, const std::string& source,
                                                        const std::string& function) {
  ASSIGN_OR_RETURN(device::CompiledCode code, device.Compile(source));
  absl::StatusOr<std::unique_ptr<device::Module>> module = device.Load(code);
  if (!module.ok()) return module.status();
  ASSIGN_OR_RETURN(std::unique_ptr<device::Function> entry, (*module)->GetFunction(function));
  auto loaded = std::make_shared<LoadedFunction>();
  loaded->module = *std::move(module);
  loaded->function = std::move(entry);
  return loaded;
}

}  // namespace

std::shared_ptr<CompileCache::Entry> CompileCache::Find(const std::string& key) {
  const absl::MutexLock lock(&mutex_);
  std::shared_ptr<Entry>& entry = entries_[key];
  if (entry == nullptr) entry = std::make_shared<Entry>();
  return entry;
}

absl::StatusOr<std::shared_ptr<LoadedFunction>> CompileCache::Get(Device& device, const std::string& source,
                                                                  const std::string& function) {
  const std::shared_ptr<Entry> entry = Find(record::Cat(device.id(), "\n", function, "\n", source));
  const absl::MutexLock lock(&entry->mutex);
  if (!entry->is_known) {
    entry->result = Compile(device, source, function);
    entry->is_known = entry->result.ok() || absl::IsInvalidArgument(entry->result.status());
  }
  return entry->result;
}

void CompileCache::Clear() {
  const absl::MutexLock lock(&mutex_);
  entries_.clear();
}

}  // namespace telemetry::worker::runtime

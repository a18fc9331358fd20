#include "worker/debug_flags.h"

#include "absl/strings/str_cat.h"

namespace telemetry::worker {

void DebugFlags::AddTo(cli::Flags& flags, const std::string& when) {
  flags
      .Add("debug-values", values,
           absl::StrCat("Inspect values ", when,
                        ": 1 saves tensors (.npy), 2 prints them, 3 prints kernel "
                        "names"))
      ->check(CLI::Range(0, 3));
  flags.Add("debug-kernels", kernels, "Kernels whose values are saved or printed (default: all)")
      ->type_name("NAME,...");
  flags.Add("debug-dir", dir, "Folder of the saved tensors")->type_name("DIR");
}

debug::DebugOptions DebugFlags::Options() const {
  return {.level = static_cast<debug::DebugLevel>(values), .kernels = debug::SplitKernelNames(kernels), .folder = dir};
}

}  // namespace telemetry::worker

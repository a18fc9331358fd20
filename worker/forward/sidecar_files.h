#pragma once

#include <string>
#include <vector>

namespace telemetry::worker::forward {

// The files of one HELION_AUTOTUNE_LOG base path, called a group. Each of them may be missing, now or permanently.
struct SidecarFiles {
  std::string base;  // path without a suffix and without "./"; names the group

  std::string csv() const { return base + ".csv"; }
  std::string sources() const { return base + ".sources.csv"; }
  std::string meta_lines() const { return base + ".meta.jsonl"; }
  std::string meta() const { return base + ".meta.json"; }
  std::string ir_lines() const { return base + ".ir.jsonl"; }
  std::string wrapper_lines() const { return base + ".wrapper.jsonl"; }
  std::string kernel_tuner() const { return base + ".json"; }
  std::string measurement_lines() const { return base + ".measurements.jsonl"; }
  std::string trace() const { return base + ".trace.jsonl"; }

  bool operator==(const SidecarFiles& other) const = default;
};

// Returns the group of a sidecar's path, or a group with an empty base if the name is not that of a sidecar. The name
// of a Kernel Tuner file is that of any .json file; FindSidecars() looks into the file.
SidecarFiles GroupOfSidecar(const std::string& path);

// Returns the groups that a PATH of the command line denotes, each once, ordered by name:
//   a folder          every group below it
//   a sidecar         its group
//   a base path       its group; its last suffix is replaced as Helion replaces it ("v1.1.0-softmax" gives v1.1.csv)
// Adds a line to `problems` for a path without any sidecar and for a folder that cannot be read. With `may_come_later`,
// a base path without files also yields its group.
std::vector<SidecarFiles> FindSidecars(const std::string& path, bool may_come_later,
                                       std::vector<std::string>* problems);

}  // namespace telemetry::worker::forward

#pragma once

#include <string>
#include <vector>

namespace telemetry::forward {

// The files that one HELION_AUTOTUNE_LOG base path gives. Any of them may be absent, now or for good.
struct SidecarFiles {
  std::string base;  // the path without a suffix and without "./"; names the group

  std::string csv() const { return base + ".csv"; }
  std::string sources() const { return base + ".sources.csv"; }
  std::string meta_lines() const { return base + ".meta.jsonl"; }
  std::string meta() const { return base + ".meta.json"; }
  std::string ir_lines() const { return base + ".ir.jsonl"; }
  std::string wrapper_lines() const { return base + ".wrapper.jsonl"; }

  bool operator==(const SidecarFiles& other) const = default;
};

// The group that a sidecar's path belongs to; empty base: the name is not that of a sidecar.
SidecarFiles GroupOfSidecar(const std::string& path);

// What a PATH of the command line means, each group once, in the order of their names:
//   a folder          every group below it
//   a sidecar         its group
//   a base path       its group; its last suffix is replaced as Helion replaces it ("v1.1.0-softmax" gives v1.1.csv)
// A path without any sidecar, and a folder that cannot be read, is a line in `problems`. With `may_come_later` a base
// path gives its group all the same.
std::vector<SidecarFiles> FindSidecars(const std::string& path, bool may_come_later,
                                       std::vector<std::string>* problems);

}  // namespace telemetry::forward

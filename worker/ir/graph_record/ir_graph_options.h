#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

namespace telemetry::worker::ir::graph_record {

// The identity of the kernel, and the values that the IR does not have.
struct IrGraphOptions {
  std::string run_id;
  std::string kernel_id;
  std::string kernel_name;
  std::string input_shapes;      // "[(4096, 2560)]"
  std::string device;            // the device that holds the tensors: "cuda:0"
  int64_t block_size_hint = 64;  // the recorded value of a block that a config chooses
  // Called with each distinct warning about the IR, once per extraction. May be empty.
  std::function<void(const std::string&)> on_warning;
};

// Maximum length of a target, value, source location or other free text in a record, in bytes, including kTruncated. A
// longer text is cut at the boundary of a character and ends in kTruncated.
inline constexpr size_t kMaxTextBytes = 256;
inline constexpr char kTruncated[] = "...<truncated>";

}  // namespace telemetry::worker::ir::graph_record

#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <vector>

#include "worker/runtime/program_tensor.h"

namespace telemetry::worker::runtime {

// Floats of the program, at a multiple of 4096 bytes.
class ProgramFloats {
 public:
  explicit ProgramFloats(size_t count, float value = 0)
      : count_(count), data_(static_cast<float*>(::operator new(count * sizeof(float), kAlignment))) {
    std::fill(data_, data_ + count, value);
  }
  ~ProgramFloats() { ::operator delete(data_, kAlignment); }
  ProgramFloats(const ProgramFloats&) = delete;
  ProgramFloats& operator=(const ProgramFloats&) = delete;

  float& operator[](size_t i) { return data_[i]; }
  uint64_t address() const { return reinterpret_cast<uint64_t>(data_); }
  std::vector<float> values() const { return {data_, data_ + count_}; }

 private:
  static constexpr std::align_val_t kAlignment{4096};
  const size_t count_;
  float* const data_;
};

}  // namespace telemetry::worker::runtime

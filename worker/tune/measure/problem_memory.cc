#include "worker/tune/measure/problem_memory.h"

#include <algorithm>
#include <array>
#include <bit>

#include "proto/base/status_macros.h"
#include "proto/record/strings.h"
#include "worker/tune/measure/failures.h"
#include "worker/tune/measure/loaded_config.h"
#include "worker/tune/measure/problem_image.h"
#include "worker/tune/measure/tensor_element.h"

namespace telemetry::worker::tune::measure {
namespace {

using device::Buffer;
using device::DType;
using record::Cat;
using runtime::Dimensions;

// A copy of an argument may use this fraction of the device's memory: 1 / kCopyShare.
constexpr uint64_t kCopyShare = 16;

size_t WholeWords(size_t bytes) { return (bytes + sizeof(uint32_t) - 1) / sizeof(uint32_t) * sizeof(uint32_t); }

// NaN in every float format; a conspicuous value as an integer; neither true nor false as a bool.
uint8_t PoisonByte(DType dtype) { return IsFloat(dtype) ? 0xff : 0xa5; }

DType ToDType(const wire::Buffer& buffer) { return static_cast<DType>(buffer.dtype()); }

// The dtype of expected values of a buffer.
DType ExpectedDType(const wire::Buffer& buffer) { return IsFloat(ToDType(buffer)) ? DType::kF32 : DType::kI32; }

}  // namespace

ProblemMemory::ProblemMemory(std::shared_ptr<device::Device> device, std::unique_ptr<DeviceChecks> checks,
                             wire::Setup setup, process::SharedBytes data)
    : device_(std::move(device)), setup_(std::move(setup)), data_(std::move(data)), checks_(std::move(checks)) {}

ProblemMemory::~ProblemMemory() = default;

absl::StatusOr<std::unique_ptr<ProblemMemory>> ProblemMemory::Create(std::shared_ptr<device::Device> device,
                                                                     std::unique_ptr<DeviceChecks> checks,
                                                                     wire::Setup setup, process::SharedBytes data) {
  auto memory = std::unique_ptr<ProblemMemory>(
      new ProblemMemory(std::move(device), std::move(checks), std::move(setup), std::move(data)));
  RETURN_IF_ERROR(memory->Allocate());
  RETURN_IF_ERROR(memory->Prepare(0));
  return memory;
}

absl::Status ProblemMemory::Allocate() {
  for (const wire::Buffer& buffer : setup_.buffers()) {
    ASSIGN_OR_RETURN(GuardedBuffer guarded,
                     GuardedBuffer::Create(device_.get(), buffer.elements() * SizeOf(ToDType(buffer))));
    buffers_.push_back(std::move(guarded));
    expected_.push_back(nullptr);
    copies_.push_back(nullptr);
    if (!buffer.written()) continue;
    ASSIGN_OR_RETURN(std::unique_ptr<Buffer> expected, device_->Allocate(buffer.elements() * sizeof(float)));
    expected_.back() = std::move(expected);
  }
  ASSIGN_OR_RETURN(std::unique_ptr<Buffer> counts, device_->Allocate(2 * buffers_.size() * sizeof(CheckCounts)));
  counts_ = std::move(counts);
  if (!setup_.has_baseline()) return absl::OkStatus();
  absl::StatusOr<std::unique_ptr<LoadedConfig>> baseline = LoadedConfig::Load(device_.get(), *this, setup_.baseline());
  if (!baseline.ok()) return absl::FailedPreconditionError(baseline.status().message());
  baseline_ = *std::move(baseline);
  return absl::OkStatus();
}

runtime::Tensor ProblemMemory::tensor(int index) const {
  const wire::Buffer& buffer = setup_.buffers(index);
  // Does not own the buffer: ProblemMemory owns it.
  std::shared_ptr<Buffer> memory(std::shared_ptr<void>(), buffers_[static_cast<size_t>(index)].body());
  return {.dtype = ToDType(buffer),
          .sizes = Dimensions(buffer.sizes().begin(), buffer.sizes().end()),
          .strides = Dimensions(buffer.strides().begin(), buffer.strides().end()),
          .device = device_,
          .buffer = std::move(memory)};
}

bool ProblemMemory::reads_what_it_writes() const {
  for (int i = 0; i < buffer_count(); ++i) {
    if (IsWritten(i) && HasContents(i)) return true;
  }
  return false;
}

absl::Status ProblemMemory::Upload(Buffer* to, const wire::Range& from) {
  ASSIGN_OR_RETURN(const absl::Span<const std::byte> bytes, FindBytes(from, data_.bytes()));
  return device_->Upload(to, 0, bytes);
}

absl::Status ProblemMemory::Restore(int index) {
  Buffer* body = buffers_[static_cast<size_t>(index)].body();
  const std::optional<std::byte> uniform = uniform_[static_cast<size_t>(index)];
  if (uniform.has_value()) return device_->Fill(body, std::to_integer<uint8_t>(*uniform));
  const Buffer* copy = copies_[static_cast<size_t>(index)].get();
  if (copy != nullptr) return device_->Copy(body, copy, body->size_bytes());
  if (HasContents(index)) return Upload(body, Contents(index).initial());
  return device_->Fill(body, PoisonByte(ToDType(setup_.buffers(index))));
}

absl::Status ProblemMemory::KeepCopy(int index) {
  const Buffer* body = buffers_[static_cast<size_t>(index)].body();
  const bool is_needed = IsWritten(index) && HasContents(index) && !uniform_[static_cast<size_t>(index)];
  if (!is_needed || body->size_bytes() > device_->properties().global_bytes / kCopyShare) return absl::OkStatus();
  absl::StatusOr<std::unique_ptr<Buffer>> copy = device_->Allocate(WholeWords(body->size_bytes()));
  if (!copy.ok()) return absl::OkStatus();  // the memory is full; uploads do without a copy
  // The hash includes the bytes up to the next word.
  RETURN_IF_ERROR(device_->Fill(copy->get(), 0));
  RETURN_IF_ERROR(device_->Copy(copy->get(), body, body->size_bytes()));
  copies_[static_cast<size_t>(index)] = *std::move(copy);
  return absl::OkStatus();
}

void ProblemMemory::FindUniformBytes() {
  uniform_.assign(buffers_.size(), std::nullopt);
  for (int i = 0; i < buffer_count(); ++i) {
    const absl::StatusOr<absl::Span<const std::byte>> bytes = FindBytes(Contents(i).initial(), data_.bytes());
    if (!bytes.ok() || bytes->empty()) continue;
    const std::byte first = bytes->front();
    const bool is_uniform =
        std::all_of(bytes->begin(), bytes->end(), [first](std::byte byte) { return byte == first; });
    if (is_uniform) uniform_[static_cast<size_t>(i)] = first;
  }
}

absl::Status ProblemMemory::RestoreAll(int data_set) {
  data_set_ = data_set;
  FindUniformBytes();
  for (int i = 0; i < buffer_count(); ++i) {
    copies_[static_cast<size_t>(i)] = nullptr;
    absl::Status status = buffers_[static_cast<size_t>(i)].Mend(device_.get());
    if (status.ok()) status = Restore(i);
    if (status.ok()) status = KeepCopy(i);
    if (status.ok() && IsWritten(i) && baseline_ == nullptr) {
      status = Upload(expected_[static_cast<size_t>(i)].get(), Contents(i).expected());
    }
    if (!status.ok()) return status;
  }
  if (baseline_ != nullptr) {
    RETURN_IF_ERROR(RunBaseline());
  }
  ASSIGN_OR_RETURN(whole_, Count(/*with_results=*/false));
  return absl::OkStatus();
}

absl::Status ProblemMemory::TakeExpected() {
  for (int i = 0; i < buffer_count(); ++i) {
    if (!IsWritten(i)) continue;
    RETURN_IF_ERROR(Upload(expected_[static_cast<size_t>(i)].get(), Contents(i).expected()));
  }
  ASSIGN_OR_RETURN(whole_, Count(/*with_results=*/false));
  return absl::OkStatus();
}

absl::Status ProblemMemory::LaunchBaseline() {
  absl::Status status = baseline_->Launch();
  if (status.ok()) status = device_->Synchronize();
  if (status.ok()) return status;
  return absl::FailedPreconditionError(Cat("the baseline fails: ", std::string(status.message())));
}

absl::Status ProblemMemory::RunBaseline() {
  RETURN_IF_ERROR(LaunchBaseline());
  for (int i = 0; i < buffer_count(); ++i) {
    if (!IsWritten(i)) continue;
    const wire::Buffer& buffer = setup_.buffers(i);
    RETURN_IF_ERROR(CompareSample(i));
    RETURN_IF_ERROR(checks_->Widen(this->buffer(i), ToDType(buffer), static_cast<int64_t>(buffer.elements()),
                                   expected_[static_cast<size_t>(i)].get()));
    RETURN_IF_ERROR(Restore(i));
  }
  return absl::OkStatus();
}

absl::Status ProblemMemory::CompareSample(int index) {
  const wire::Contents& contents = Contents(index);
  if (contents.sample_places().size() == 0) return absl::OkStatus();
  ASSIGN_OR_RETURN(const std::unique_ptr<Buffer> places, device_->Allocate(contents.sample_places().size()));
  ASSIGN_OR_RETURN(const std::unique_ptr<Buffer> values, device_->Allocate(contents.sample_values().size()));
  RETURN_IF_ERROR(Upload(places.get(), contents.sample_places()));
  RETURN_IF_ERROR(Upload(values.get(), contents.sample_values()));
  RETURN_IF_ERROR(device_->Fill(counts_.get(), 0));
  const auto elements = static_cast<int64_t>(contents.sample_places().size() / sizeof(uint32_t));
  const wire::Buffer& buffer = setup_.buffers(index);
  RETURN_IF_ERROR(checks_->CompareSample(this->buffer(index), places.get(), values.get(), ToDType(buffer), elements,
                                         {.absolute = buffer.absolute(), .relative = buffer.relative()}, counts_.get(),
                                         0));
  CheckCounts counts;
  RETURN_IF_ERROR(
      device_->Download(counts_.get(), 0, absl::MakeSpan(reinterpret_cast<std::byte*>(&counts), sizeof(counts))));
  if (counts.mismatches == 0) return absl::OkStatus();
  uint32_t place = 0;
  RETURN_IF_ERROR(device_->Download(places.get(), static_cast<size_t>(counts.first_mismatch()) * sizeof(place),
                                    absl::MakeSpan(reinterpret_cast<std::byte*>(&place), sizeof(place))));
  return absl::FailedPreconditionError(Cat("the baseline differs from the reference at ", counts.mismatches, " of ",
                                           elements, " elements of '", buffer.name(), "', first at position ", place));
}

ir::Tolerance ProblemMemory::ToleranceOf(int index) const {
  const wire::Buffer& buffer = setup_.buffers(index);
  const double factor = baseline_ == nullptr ? 1 : 2;
  return {.absolute = factor * buffer.absolute(), .relative = factor * buffer.relative()};
}

absl::Status ProblemMemory::Prepare(int data_set) {
  if (data_set != data_set_) return RestoreAll(data_set);
  for (int i = 0; i < buffer_count(); ++i) {
    if (!IsWritten(i)) continue;
    RETURN_IF_ERROR(Restore(i));
  }
  return absl::OkStatus();
}

absl::Status ProblemMemory::QueueCounts(int index, bool with_results) {
  const GuardedBuffer& guarded = buffers_[static_cast<size_t>(index)];
  const wire::Buffer& buffer = setup_.buffers(index);
  absl::Status status = checks_->CountDamage(guarded.all(), guarded.begin(), guarded.end(), guarded.all_bytes(),
                                             GuardedBuffer::kZoneByte, counts_.get(), index);
  if (!status.ok()) return status;
  if (!buffer.written()) return checks_->Hash(guarded.all(), guarded.begin(), guarded.end(), counts_.get(), index);
  if (const Buffer* copy = copies_[static_cast<size_t>(index)].get(); copy != nullptr) {
    RETURN_IF_ERROR(checks_->Hash(copy, 0, static_cast<int64_t>(copy->size_bytes()), counts_.get(), index));
  }
  const Buffer* expected = expected_[static_cast<size_t>(index)].get();
  const auto elements = static_cast<int64_t>(buffer.elements());
  status = checks_->Hash(expected, 0, elements * 4, counts_.get(), buffer_count() + index);
  if (!status.ok() || !with_results) return status;
  if (buffer.holds_doubles()) {
    return checks_->CompareDoubles(guarded.body(), expected, elements / 2, ToleranceOf(index), counts_.get(), index);
  }
  return checks_->Compare(guarded.body(), expected, ToDType(buffer), elements, ToleranceOf(index), counts_.get(),
                          index);
}

absl::StatusOr<std::vector<CheckCounts>> ProblemMemory::Count(bool with_results) {
  RETURN_IF_ERROR(device_->Fill(counts_.get(), 0));
  for (int i = 0; i < buffer_count(); ++i) {
    RETURN_IF_ERROR(QueueCounts(i, with_results));
  }
  std::vector<CheckCounts> counts(2 * buffers_.size());
  const absl::Span<std::byte> bytes(reinterpret_cast<std::byte*>(counts.data()), counts.size() * sizeof(CheckCounts));
  RETURN_IF_ERROR(device_->Download(counts_.get(), 0, bytes));
  return counts;
}

absl::Status ProblemMemory::AddFirst(int index, int64_t first, wire::Check* check) {
  const wire::Buffer& buffer = setup_.buffers(index);
  const auto value_at = [&](const Buffer* memory, DType dtype) -> absl::StatusOr<double> {
    std::array<std::byte, sizeof(double)> element = {};
    const absl::Span<std::byte> bytes =
        absl::MakeSpan(element).first(buffer.holds_doubles() ? sizeof(double) : SizeOf(dtype));
    RETURN_IF_ERROR(device_->Download(memory, static_cast<size_t>(first) * bytes.size(), bytes));
    return buffer.holds_doubles() ? std::bit_cast<double>(element) : ValueOfElement(bytes, dtype);
  };
  if (buffer.holds_doubles()) {
    check->add_first_index(first);
  } else {
    for (const int64_t i : IndexOfElement(first, buffer)) check->add_first_index(i);
  }
  ASSIGN_OR_RETURN(const double actual, value_at(this->buffer(index), ToDType(buffer)));
  ASSIGN_OR_RETURN(const double expected, value_at(expected_[static_cast<size_t>(index)].get(), ExpectedDType(buffer)));
  check->set_actual(actual);
  check->set_expected(expected);
  return absl::OkStatus();
}

absl::Span<const std::byte> ProblemMemory::InitialBytes(int index) const {
  return FindBytes(setup_.data_sets(0).buffers(index).initial(), data_.bytes()).value_or(absl::Span<const std::byte>());
}

absl::Status ProblemMemory::AddCounts(int index, const CheckCounts& counts, wire::Check* check) {
  check->set_worst_absolute(std::max<double>(check->worst_absolute(), counts.worst_absolute));
  check->set_worst_relative(std::max<double>(check->worst_relative(), counts.worst_relative));
  check->set_mismatches(check->mismatches() + counts.mismatches);
  if (counts.mismatches == 0 || !check->output().empty()) return absl::OkStatus();
  const wire::Buffer& buffer = setup_.buffers(index);
  check->set_output(buffer.name());
  return AddFirst(index, counts.first_mismatch(), check);
}

std::optional<wire::Failure> ProblemMemory::FindDamage(const std::vector<CheckCounts>& counts) const {
  for (int i = 0; i < buffer_count(); ++i) {
    const auto index = static_cast<size_t>(i);
    const std::string& name = setup_.buffers(i).name();
    if (counts[index].damaged_bytes > 0) {
      return CheckFailure("OutOfBounds", "red_zone",
                          Cat("wrote beyond '", name, "': ", counts[index].damaged_bytes, " bytes of the red zones (",
                              GuardedBuffer::kZoneBytes, " bytes before and after it) were changed"));
    }
    if (!IsWritten(i) && counts[index].hash != whole_[index].hash) {
      return CheckFailure("InputChanged", "input", Cat("wrote to '", name, "', which is a read-only input"));
    }
    const size_t expected = buffers_.size() + index;
    if (counts[expected].hash != whole_[expected].hash || counts[index].hash != whole_[index].hash) {
      return CheckFailure("OutOfBounds", "other_memory", "wrote to memory that is not one of its arguments");
    }
  }
  return std::nullopt;
}

absl::StatusOr<CheckVerdict> ProblemMemory::Judge(const std::vector<CheckCounts>& counts) {
  CheckVerdict verdict;
  for (int i = 0; i < buffer_count(); ++i) {
    RETURN_IF_ERROR(AddCounts(i, counts[static_cast<size_t>(i)], &verdict.check));
  }
  verdict.failure = FindDamage(counts);
  if (verdict.failure.has_value() || verdict.check.mismatches() == 0) return verdict;
  verdict.failure = CheckFailure("WrongResult", "mismatch", DescribeMismatch(verdict.check));
  return verdict;
}

absl::StatusOr<CheckVerdict> ProblemMemory::Check(bool with_results) {
  ASSIGN_OR_RETURN(std::vector<CheckCounts> counts, Count(with_results));
  ASSIGN_OR_RETURN(CheckVerdict verdict, Judge(counts));
  // Wrong results are overwritten before the next launch.
  if (FindDamage(counts).has_value()) {
    RETURN_IF_ERROR(RestoreAll(data_set_));
  }
  return verdict;
}

}  // namespace telemetry::worker::tune::measure

#include "worker/tune/measure/problem_image.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <string_view>
#include <utility>

#include "proto/base/parallel.h"
#include "proto/base/status_macros.h"
#include "proto/record/strings.h"
#include "worker/device/kernel_words.h"
#include "worker/tune/measure/tensor_element.h"

namespace telemetry::worker::tune::measure {
namespace {

using record::Cat;

constexpr uint64_t kAlignment = 64;
constexpr size_t kExpectedElementBytes = 4;

absl::Status Refuse(const ProblemBuffer& buffer, std::string_view what) {
  return absl::InvalidArgumentError(Cat("the problem's buffer '", buffer.name, "': ", what));
}

// Returns the position in memory after the last element.
uint64_t CountSpannedElements(const ProblemBuffer& buffer) {
  uint64_t last = 0;
  for (size_t d = 0; d < buffer.sizes.size(); ++d) {
    if (buffer.sizes[d] == 0) return 0;
    last += static_cast<uint64_t>(buffer.sizes[d] - 1) * static_cast<uint64_t>(buffer.strides[d]);
  }
  return last + 1;
}

absl::Status CheckLayout(const ProblemBuffer& buffer) {
  if (buffer.holds_doubles && (buffer.dtype != device::DType::kI32 || CountSpannedElements(buffer) % 2 != 0)) {
    return Refuse(buffer, "doubles are pairs of i32");
  }
  if (buffer.sizes.size() != buffer.strides.size())
    return Refuse(buffer, "the number of strides differs from the number of sizes");
  const auto negative = [](int64_t value) { return value < 0; };
  if (std::any_of(buffer.sizes.begin(), buffer.sizes.end(), negative) ||
      std::any_of(buffer.strides.begin(), buffer.strides.end(), negative)) {
    return Refuse(buffer, "a negative size or stride");
  }
  if (CountSpannedElements(buffer) < std::numeric_limits<uint32_t>::max()) return absl::OkStatus();
  return Refuse(buffer, "2^32 elements or more; results are counted in 32 bits");
}

absl::Status CheckSample(const ProblemBuffer& buffer, const BufferData& data) {
  if (!data.expected.empty()) return Refuse(buffer, "expected values beside a baseline");
  if (buffer.holds_doubles) return Refuse(buffer, "results of a baseline cannot be doubles");
  const uint64_t elements = CountSpannedElements(buffer);
  const auto outside = [elements](const ExpectedElement& element) { return element.place >= elements; };
  if (std::any_of(data.sample.begin(), data.sample.end(), outside)) {
    return Refuse(buffer, Cat("an element of the sample is not one of its ", elements, " elements"));
  }
  return absl::OkStatus();
}

// The origin of a problem's expected results.
enum class Origin { kData, kBaseline, kReference };

Origin OriginOf(const MeasureProblem& problem) {
  if (!problem.baselines.empty()) return Origin::kBaseline;
  return problem.reference.has_value() ? Origin::kReference : Origin::kData;
}

absl::Status CheckData(const ProblemBuffer& buffer, const BufferData& data, Origin origin) {
  const uint64_t elements = CountSpannedElements(buffer);
  if (!buffer.expected.has_value() && !data.expected.empty())
    return Refuse(buffer, "expected values without a tolerance");
  if (buffer.expected.has_value() && origin == Origin::kBaseline) {
    RETURN_IF_ERROR(CheckSample(buffer, data));
  } else if (origin == Origin::kReference) {
    if (!data.expected.empty()) return Refuse(buffer, "expected values beside a reference");
  } else if (buffer.expected.has_value() && data.expected.size() != elements) {
    return Refuse(buffer, Cat(data.expected.size(), " expected values for ", elements, " elements"));
  }
  if (data.initial.empty() && buffer.expected.has_value()) return absl::OkStatus();
  if (data.initial.size() == elements * SizeOf(buffer.dtype)) return absl::OkStatus();
  return Refuse(buffer, Cat(data.initial.size(), " bytes for ", elements, " elements of ", ShortName(buffer.dtype)));
}

absl::Status CheckProblem(const MeasureProblem& problem) {
  for (const ProblemBuffer& buffer : problem.buffers) {
    RETURN_IF_ERROR(CheckLayout(buffer));
  }
  if (problem.data_sets.empty()) return absl::InvalidArgumentError("the problem has no data set to measure on");
  if (problem.reference.has_value() &&
      (!problem.baselines.empty() || problem.data_sets.size() != 1 || problem.last.valid())) {
    return absl::InvalidArgumentError("a problem with a reference has one data set and no baselines");
  }
  for (const DataSet& set : problem.data_sets) {
    if (set.buffers.size() != problem.buffers.size()) {
      return absl::InvalidArgumentError(Cat("the problem has ", problem.buffers.size(), " buffers, but a data set has ",
                                            set.buffers.size(), " buffers"));
    }
    for (size_t i = 0; i < set.buffers.size(); ++i) {
      RETURN_IF_ERROR(CheckData(problem.buffers[i], set.buffers[i], OriginOf(problem)));
    }
  }
  return absl::OkStatus();
}

wire::Buffer Describe(const ProblemBuffer& buffer) {
  wire::Buffer description;
  description.set_name(buffer.name);
  description.set_dtype(static_cast<int32_t>(buffer.dtype));
  description.set_holds_doubles(buffer.holds_doubles);
  description.mutable_sizes()->Add(buffer.sizes.begin(), buffer.sizes.end());
  description.mutable_strides()->Add(buffer.strides.begin(), buffer.strides.end());
  description.set_written(buffer.expected.has_value());
  description.set_elements(CountSpannedElements(buffer));
  if (!buffer.expected.has_value()) return description;
  description.set_absolute(buffer.expected->absolute);
  description.set_relative(buffer.expected->relative);
  return description;
}

void Place(uint64_t size, uint64_t* end, wire::Range* range) {
  range->set_offset(*end);
  range->set_size(size);
  *end += (size + kAlignment - 1) / kAlignment * kAlignment;
}

// Writes the form in which values are compared.
void CopyValue(device::DType dtype, double value, std::byte* to) {
  if (IsFloat(dtype)) {
    const auto number = static_cast<float>(value);
    std::memcpy(to, &number, sizeof(number));
  } else {
    const int32_t number = device::NarrowedInteger(dtype, value);
    std::memcpy(to, &number, sizeof(number));
  }
}

void CopyExpected(device::DType dtype, const std::vector<double>& values, std::byte* to) {
  ForEachPart(values.size(), kElementsPerPart, [&](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) CopyValue(dtype, values[i], to + i * kExpectedElementBytes);
  });
}

// On all cores: the image is new memory, whose pages take longer than the copy.
void CopyInitial(const std::vector<std::byte>& bytes, std::byte* to) {
  ForEachPart(bytes.size(), kElementsPerPart * kExpectedElementBytes,
              [&](size_t begin, size_t end) { std::memcpy(to + begin, bytes.data() + begin, end - begin); });
}

void CopySample(device::DType dtype, const std::vector<ExpectedElement>& sample, std::byte* places, std::byte* values) {
  ForEachPart(sample.size(), kElementsPerPart, [&](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) {
      std::memcpy(places + i * sizeof(sample[i].place), &sample[i].place, sizeof(sample[i].place));
      CopyValue(dtype, sample[i].value, values + i * kExpectedElementBytes);
    }
  });
}

void CopyData(const DataSet& set, const wire::Setup& setup, int index, std::byte* to) {
  for (int i = 0; i < setup.buffers_size(); ++i) {
    const BufferData& data = set.buffers[static_cast<size_t>(i)];
    const auto dtype = static_cast<device::DType>(setup.buffers(i).dtype());
    const wire::Contents& contents = setup.data_sets(index).buffers(i);
    CopyInitial(data.initial, to + contents.initial().offset());
    CopyExpected(dtype, data.expected, to + contents.expected().offset());
    CopySample(dtype, data.sample, to + contents.sample_places().offset(), to + contents.sample_values().offset());
  }
}

// Returns true if the data have the sizes of the contents, and the sample lies within the buffer.
bool Fits(const BufferData& data, const wire::Buffer& buffer, const wire::Contents& contents) {
  const auto inside = [&buffer](const ExpectedElement& element) { return element.place < buffer.elements(); };
  return data.initial.size() == contents.initial().size() &&
         data.expected.size() * kExpectedElementBytes == contents.expected().size() &&
         data.sample.size() * sizeof(ExpectedElement::place) == contents.sample_places().size() &&
         std::all_of(data.sample.begin(), data.sample.end(), inside);
}

}  // namespace

absl::StatusOr<ProblemImage> MakeImage(const MeasureProblem& problem, const std::string& device) {
  RETURN_IF_ERROR(CheckProblem(problem));
  ProblemImage image;
  image.setup.set_device(device);
  for (const ProblemBuffer& buffer : problem.buffers) *image.setup.add_buffers() = Describe(buffer);
  uint64_t end = 0;
  std::vector<const DataSet*> sets;
  for (const DataSet& set : problem.data_sets) sets.push_back(&set);
  if (problem.last.valid()) sets.push_back(sets.front());
  for (const DataSet* set : sets) {
    wire::DataSet* placed = image.setup.add_data_sets();
    for (size_t i = 0; i < set->buffers.size(); ++i) {
      const BufferData& data = set->buffers[i];
      wire::Contents* contents = placed->add_buffers();
      Place(data.initial.size(), &end, contents->mutable_initial());
      const bool follows = OriginOf(problem) == Origin::kReference && problem.buffers[i].expected.has_value();
      const uint64_t expected = follows ? CountSpannedElements(problem.buffers[i]) : data.expected.size();
      Place(expected * kExpectedElementBytes, &end, contents->mutable_expected());
      Place(data.sample.size() * sizeof(uint32_t), &end, contents->mutable_sample_places());
      Place(data.sample.size() * kExpectedElementBytes, &end, contents->mutable_sample_values());
    }
  }
  ASSIGN_OR_RETURN(process::SharedBytes data,
                   process::SharedBytes::Create("telemetry-problem", std::max<uint64_t>(end, 1)));
  image.data = std::move(data);
  std::byte* const to = image.data.mutable_bytes().data();
  for (size_t i = 0; i < problem.data_sets.size(); ++i) {
    CopyData(problem.data_sets[i], image.setup, static_cast<int>(i), to);
  }
  return image;
}

absl::Status SetLast(const DataSet& set, ProblemImage* image) {
  const int index = image->setup.data_sets_size() - 1;
  const wire::DataSet& placed = image->setup.data_sets(index);
  bool fits = set.buffers.size() == static_cast<size_t>(placed.buffers_size());
  for (int i = 0; fits && i < placed.buffers_size(); ++i) {
    fits = Fits(set.buffers[static_cast<size_t>(i)], image->setup.buffers(i), placed.buffers(i));
  }
  if (!fits) return absl::InvalidArgumentError("the last data set of the problem has other sizes than the first");
  CopyData(set, image->setup, index, image->data.mutable_bytes().data());
  return absl::OkStatus();
}

void SetExpected(int buffer, uint64_t first, absl::Span<const std::byte> elements, ProblemImage* image) {
  const wire::Range& range = image->setup.data_sets(0).buffers(buffer).expected();
  std::byte* const to = image->data.mutable_bytes().data() + range.offset() + first * kExpectedElementBytes;
  const auto dtype = static_cast<device::DType>(image->setup.buffers(buffer).dtype());
  if (dtype == device::DType::kF32 || dtype == device::DType::kI32) {
    std::memcpy(to, elements.data(), elements.size());
    return;
  }
  const size_t size = SizeOf(dtype);
  for (size_t i = 0; i < elements.size() / size; ++i) {
    CopyValue(dtype, ValueOfElement(elements.subspan(i * size, size), dtype), to + i * kExpectedElementBytes);
  }
}

absl::StatusOr<absl::Span<const std::byte>> FindBytes(const wire::Range& range, absl::Span<const std::byte> data) {
  if (range.offset() <= data.size() && range.size() <= data.size() - range.offset()) {
    return data.subspan(range.offset(), range.size());
  }
  return absl::InvalidArgumentError(
      Cat("the problem's data: ", range.size(), " bytes at ", range.offset(), " of ", data.size()));
}

}  // namespace telemetry::worker::tune::measure

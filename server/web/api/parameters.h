#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "server/http/target.h"

namespace telemetry::web::api {

// The query parameters of a call, checked. Errors are INVALID_ARGUMENT and name the parameter.
class Parameters {
 public:
  explicit Parameters(const http::Target& target) : target_(target) {}

  // Returns an error if there is a parameter with another name, or one of these twice, except `repeated`.
  absl::Status Allow(absl::Span<const std::string_view> names, absl::Span<const std::string_view> repeated = {}) const;

  bool Has(std::string_view name) const { return target_.Find(name).has_value(); }
  // Return the value; nullopt: the parameter is absent.
  absl::StatusOr<std::optional<std::string>> Text(std::string_view name) const;
  absl::StatusOr<std::optional<int64_t>> Int(std::string_view name) const;
  // Returns the value, which must not be absent.
  absl::StatusOr<std::string> Required(std::string_view name) const;
  // Returns the value, or `usual`; a value that is out of range is an error.
  absl::StatusOr<int64_t> Bounded(std::string_view name, int64_t usual, int64_t least, int64_t most) const;
  // Returns the value, which must be one of `choices`, or the first choice.
  absl::StatusOr<std::string> Choice(std::string_view name, std::initializer_list<std::string_view> choices) const;
  // Returns all values, at most `most`.
  absl::StatusOr<std::vector<std::string>> All(std::string_view name, size_t most) const;

 private:
  const http::Target& target_;
};

// The parameters by which /runs and /facets filter.
inline constexpr std::array<std::string_view, 11> kFilterNames = {
    "kernel", "shapes", "dtypes", "hardware", "origin", "algorithm", "dialect", "sender", "state", "since", "until"};

}  // namespace telemetry::web::api

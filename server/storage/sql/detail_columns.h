#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>

#include "absl/status/status.h"
#include "server/storage/sql/statement.h"
#include "telemetry/v1/records.pb.h"

namespace telemetry::storage::sql {

// A column that contains one optional field of a detail: NULL if the field is unset.
template <typename Value>
struct DetailField {
  std::string_view name;
  bool (v1::MeasurementDetail::*has)() const;
  Value (v1::MeasurementDetail::*get)() const;
  void (v1::MeasurementDetail::*set)(Value);

  std::optional<Value> ToColumn(const v1::MeasurementDetail& detail) const {
    return (detail.*has)() ? std::optional<Value>((detail.*get)()) : std::nullopt;
  }
  absl::Status FromColumn(const Statement& row, int column, v1::MeasurementDetail* detail) const {
    if (row.IsNull(column)) return absl::OkStatus();
    if constexpr (std::is_same_v<Value, double>) {
      (detail->*set)(row.Double(column));
    } else {
      (detail->*set)(static_cast<Value>(row.Int(column)));
    }
    return absl::OkStatus();
  }
};

// Compilers before P1816 cannot deduce the type of an aggregate's members.
template <typename Value>
DetailField(const char*, bool (v1::MeasurementDetail::*)() const, Value (v1::MeasurementDetail::*)() const,
            void (v1::MeasurementDetail::*)(Value)) -> DetailField<Value>;

// The column of the stage, which contains its name.
struct DetailStage {
  std::string_view name;

  std::string_view ToColumn(const v1::MeasurementDetail& detail) const;
  absl::Status FromColumn(const Statement& row, int column, v1::MeasurementDetail* detail) const;
};

// The column of the samples: a JSON array in which each number round-trips exactly, or NULL if there are no samples.
struct DetailSamples {
  std::string_view name;

  std::optional<std::string> ToColumn(const v1::MeasurementDetail& detail) const;
  // Returns DATA_LOSS if the column is not a JSON array of numbers.
  absl::Status FromColumn(const Statement& row, int column, v1::MeasurementDetail* detail) const;
};

// The columns of measurement_details after attempt and seq. All statements on the table are derived from this list.
inline constexpr std::tuple kDetailColumns = [] {
  using Detail = v1::MeasurementDetail;
  return std::tuple{
      DetailStage{"stage"},
      DetailField{"tied_with_best", &Detail::has_tied_with_best, &Detail::tied_with_best, &Detail::set_tied_with_best},
      DetailSamples{"samples_ms_json"},
      DetailField{"throttled_samples", &Detail::has_throttled_samples, &Detail::throttled_samples,
                  &Detail::set_throttled_samples},
      DetailField{"registers", &Detail::has_registers, &Detail::registers, &Detail::set_registers},
      DetailField{"spill_bytes", &Detail::has_spill_bytes, &Detail::spill_bytes, &Detail::set_spill_bytes},
      DetailField{"shared_bytes", &Detail::has_shared_bytes, &Detail::shared_bytes, &Detail::set_shared_bytes},
      DetailField{"occupancy", &Detail::has_occupancy, &Detail::occupancy, &Detail::set_occupancy},
      DetailField{"binary_bytes", &Detail::has_binary_bytes, &Detail::binary_bytes, &Detail::set_binary_bytes},
      DetailField{"worst_absolute_error", &Detail::has_worst_absolute_error, &Detail::worst_absolute_error,
                  &Detail::set_worst_absolute_error},
      DetailField{"worst_relative_error", &Detail::has_worst_relative_error, &Detail::worst_relative_error,
                  &Detail::set_worst_relative_error},
      DetailField{"sm_clock_mhz", &Detail::has_sm_clock_mhz, &Detail::sm_clock_mhz, &Detail::set_sm_clock_mhz},
      DetailField{"time_unix_us", &Detail::has_time_unix_us, &Detail::time_unix_us, &Detail::set_time_unix_us},
      DetailField{"exact_perf_ms", &Detail::has_exact_perf_ms, &Detail::exact_perf_ms, &Detail::set_exact_perf_ms},
  };
}();

// Returns the names of kDetailColumns, separated by commas.
std::string DetailColumnNames();

// Reads kDetailColumns of the current row, which begin at `column`. Returns DATA_LOSS if a column cannot be read.
absl::Status FillDetail(const Statement& row, int column, v1::MeasurementDetail* detail);

}  // namespace telemetry::storage::sql

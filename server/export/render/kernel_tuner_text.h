#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "proto/record/json.h"
#include "server/export/render/layout.h"
#include "telemetry/v1/records.pb.h"

namespace telemetry::exporter::render {

// The text of the two layouts of Kernel Tuner, which contain one run. kT4: each row is a result, in the order of the
// rows. kKernelTunerCache: each config is an entry, with the outcome of one of its rows: a final measurement, else one
// that was not stopped early, else any measurement, else a failure; among equals the first. Rows without an outcome
// are left out. Memory: kT4 holds no rows; kKernelTunerCache holds one row of each config, with its samples. Not
// thread-safe.
class KernelTunerText {
 public:
  // `layout` is kT4 or kKernelTunerCache.
  explicit KernelTunerText(Layout layout) : layout_(layout) {}

  // Begins an attempt. The rows that follow belong to it.
  void BeginAttempt(const v1::Attempt& attempt);

  // Adds a row and appends the text that is ready to `out`. Returns false if the row has no outcome. `config` must stay
  // valid until Finish(). `detail` may be null.
  bool Add(const v1::Measurement& row, const v1::MeasurementDetail* detail, std::string_view config, std::string* out);

  // Appends the rest of the results or the cache to `rows`, and for kT4 the metadata to `meta`. `descriptions` are
  // those of the run; empty: there is no run. INVALID_ARGUMENT if a parameter has the name of a key of a cache entry.
  absl::Status Finish(const std::vector<v1::Run>& descriptions, std::string* rows, std::string* meta);

 private:
  // A config with the row that represents it.
  struct Entry {
    std::string_view config;
    int rank = 0;
    v1::Measurement row;
    v1::MeasurementDetail detail;
    std::optional<int64_t> time_unix_us;
  };

  std::optional<int64_t> TimeOf(const v1::Measurement& row, const v1::MeasurementDetail* detail) const;
  void AddEntry(Entry entry);
  absl::Status FinishCache(const v1::Run& run, std::string* rows) const;
  record::Json MetadataJson(const std::vector<v1::Run>& descriptions) const;

  const Layout layout_;
  std::optional<int64_t> started_unix_us_;          // of the attempt
  record::Json space_;                              // parameters to their values; null: not known
  record::Json problem_size_;                       // null: not known
  std::vector<record::Json> machines_;              // distinct
  std::vector<std::string> programs_;               // distinct
  std::string operating_system_;                    // of the first attempt that names one
  std::string_view config_;                         // of the last row
  record::Json configuration_;                      // of config_
  uint64_t results_ = 0;                            // kT4: written
  std::vector<Entry> entries_;                      // kKernelTunerCache
  absl::flat_hash_map<uint64_t, size_t> entry_of_;  // by config_id, its index in entries_
};

}  // namespace telemetry::exporter::render

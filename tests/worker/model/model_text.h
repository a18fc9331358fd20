#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/str_cat.h"
#include "proto/record/ids.h"
#include "worker/model/run_features.h"

namespace telemetry::worker::model {

// Returns the position of a feature.
inline size_t FeatureIndex(std::string_view name) {
  const std::vector<std::string>& names = FeatureNames();
  return static_cast<size_t>(std::find(names.begin(), names.end(), name) - names.begin());
}

// Returns the text of a tree that predicts `below` for values of the feature below `threshold`, `missing` says where a
// value that is not known goes, and `above` for the others.
inline std::string TreeText(std::string_view feature, double threshold, double below, double above,
                            bool missing_goes_left = true) {
  const size_t index = FeatureIndex(feature);
  return absl::StrCat(R"({"left_children": [1, -1, -1], "right_children": [2, -1, -1], "split_indices": [)", index,
                      R"(, 0, 0], "split_conditions": [)", threshold, ", ", below, ", ", above,
                      R"(], "default_left": [)", missing_goes_left ? 1 : 0, ", 0, 0]}\n");
}

// Returns the text of a model with these lines as trees.
inline std::string ModelText(const std::string& trees, int version = kFeatureVersion,
                             const std::string& provenance = "{}") {
  std::string names;
  for (const std::string& name : FeatureNames()) absl::StrAppend(&names, names.empty() ? "\"" : ", \"", name, "\"");
  return absl::StrCat(R"({"format": "autotune-telemetry cost model", "version": 1, "features": {"version": )", version,
                      R"(, "names": [)", names, R"(]}, "base": 0.5, "trees_sha256": ")", record::Sha256Hex(trees),
                      R"(", "provenance": )", provenance, "}\n", trees);
}

}  // namespace telemetry::worker::model

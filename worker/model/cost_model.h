#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "proto/record/json.h"

namespace telemetry::worker::model {

// Returns the content of a model's file, or of its first CostModel::kMostBytes + 1 bytes. NOT_FOUND,
// FAILED_PRECONDITION (not a file), UNAVAILABLE: it cannot be read. Messages begin with the path.
absl::StatusOr<std::string> ReadModelFile(const std::string& path);

// A cost model: gradient-boosted regression trees that predict the logarithm of a config's time relative to the other
// configs of its run. README.md describes the file format. Immutable; threads may share it.
//
// The text of a model may come from anyone. Parse reads it within the limits below and accepts only trees whose
// evaluation ends and stays inside its arrays, so that a hostile model can at most predict badly.
class CostModel {
 public:
  static constexpr size_t kMostBytes = 64 << 20;     // of a file
  static constexpr size_t kMostLineBytes = 2 << 20;  // of one tree
  static constexpr size_t kMostNodes = 2'000'000;    // of all trees
  static constexpr int kFormatVersion = 1;

  // INVALID_ARGUMENT: the text is not a model, is damaged, exceeds a limit, or is for other features than those of this
  // program (FeatureNames). The message contains the reason.
  static absl::StatusOr<CostModel> Parse(std::string_view text);
  // Reads a file. FAILED_PRECONDITION: the errors of Parse, or not a file. NOT_FOUND, UNAVAILABLE: it cannot be read.
  // Messages begin with the path.
  static absl::StatusOr<CostModel> Load(const std::string& path);

  // Returns the prediction for a config with these features (RunFeatures::Of). Smaller is faster. Predictions of one
  // run can be compared.
  double Predict(absl::Span<const float> features) const;

  // The provenance of the model: the dataset, its scores and the training library, as the file states them.
  const record::Json& provenance() const { return provenance_; }
  size_t trees() const { return roots_.size(); }
  size_t nodes() const { return nodes_.size(); }

 private:
  // A node of a tree. A leaf has no children, and its value is a prediction.
  struct Node {
    int32_t left = -1;  // of nodes_; -1: a leaf
    int32_t right = -1;
    int32_t feature = 0;
    float value = 0;  // a smaller feature goes left
    bool missing_goes_left = false;
  };

  absl::Status AddTree(const record::Json& tree);

  record::Json provenance_;
  float base_ = 0;
  std::vector<Node> nodes_;  // of all trees
  std::vector<int32_t> roots_;
};

}  // namespace telemetry::worker::model

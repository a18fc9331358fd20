#include "worker/model/cost_model.h"

#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "proto/base/status_macros.h"
#include "proto/record/ids.h"
#include "proto/record/numbers.h"
#include "proto/record/strings.h"
#include "worker/model/run_features.h"

namespace telemetry::worker::model {
namespace {

using record::Cat;
using record::Json;

constexpr std::string_view kFormat = "autotune-telemetry cost model";
constexpr size_t kMostHeaderBytes = 1 << 20;

absl::Status Invalid(std::string_view why) { return absl::InvalidArgumentError(record::AbslView(why)); }

// Takes the first line from the text, without its line end. Returns false if the text has no complete line.
bool TakeLine(std::string_view* text, std::string_view* line) {
  const size_t end = text->find('\n');
  if (end == std::string_view::npos) return false;
  *line = text->substr(0, end);
  text->remove_prefix(end + 1);
  return true;
}

std::string_view TextAt(const Json& object, std::string_view key) {
  const Json* const value = object.Find(key);
  return value != nullptr && value->kind == Json::Kind::kString ? std::string_view(value->text) : std::string_view();
}

std::optional<int64_t> IntegerOf(const Json* value) {
  return value != nullptr && value->kind == Json::Kind::kNumber ? record::ParseInt64(value->text) : std::nullopt;
}

absl::Status CheckFeatures(const Json& header) {
  const Json* const features = header.Find("features");
  if (features == nullptr) return Invalid("the header has no features");
  const std::optional<int64_t> version = IntegerOf(features->Find("version"));
  if (version != kFeatureVersion) {
    return Invalid(Cat("the model is for version ", version.value_or(0),
                       " of the features, and this program computes version ", kFeatureVersion,
                       "; train a model with this version of autotune_telemetry"));
  }
  const Json* const names = features->Find("names");
  const std::vector<std::string>& known = FeatureNames();
  bool equal = names != nullptr && names->items.size() == known.size();
  for (size_t i = 0; equal && i < known.size(); ++i) equal = names->items[i].text == known[i];
  return equal ? absl::OkStatus() : Invalid("the features are not those of this program; train a model with it");
}

absl::StatusOr<Json> ReadHeader(std::string_view line) {
  if (line.size() > kMostHeaderBytes) return Invalid("not a cost model: the first line is too long");
  absl::StatusOr<Json> header = record::ParseJson(line);
  if (!header.ok() || TextAt(*header, "format") != kFormat) return Invalid("not a cost model");
  const std::optional<int64_t> version = IntegerOf(header->Find("version"));
  if (version != CostModel::kFormatVersion) {
    return Invalid(Cat("the file has format version ", version.value_or(0), ", and this program reads version ",
                       CostModel::kFormatVersion));
  }
  RETURN_IF_ERROR(CheckFeatures(*header));
  return header;
}

// Returns the numbers of a member of a tree, or nothing if it is not a list of `size` finite numbers.
std::optional<std::vector<double>> NumbersAt(const Json& tree, std::string_view key, size_t size) {
  const Json* const list = tree.Find(key);
  if (list == nullptr || list->kind != Json::Kind::kArray || list->items.size() != size) return std::nullopt;
  std::vector<double> numbers;
  numbers.reserve(size);
  for (const Json& item : list->items) {
    const auto number = item.kind == Json::Kind::kNumber ? record::ParseDecimal(item.text) : std::nullopt;
    if (!number.has_value() || !std::isfinite(static_cast<float>(*number))) return std::nullopt;
    numbers.push_back(*number);
  }
  return numbers;
}

// Returns the number as an integer from `low` to `high` - 1; nullopt if it is none.
std::optional<int32_t> IndexOf(double number, int64_t low, int64_t high) {
  if (number != std::floor(number) || number < static_cast<double>(low) || number >= static_cast<double>(high)) {
    return std::nullopt;
  }
  return static_cast<int32_t>(number);
}

}  // namespace

absl::Status CostModel::AddTree(const Json& tree) {
  const Json* const left_children = tree.Find("left_children");
  const size_t size = left_children == nullptr ? 0 : left_children->items.size();
  const auto left = NumbersAt(tree, "left_children", size);
  const auto right = NumbersAt(tree, "right_children", size);
  const auto features = NumbersAt(tree, "split_indices", size);
  const auto values = NumbersAt(tree, "split_conditions", size);
  const auto defaults = NumbersAt(tree, "default_left", size);
  if (size == 0 || !left || !right || !features || !values || !defaults) {
    return Invalid("its lists are missing, differ in length, or contain something else than finite numbers");
  }
  if (nodes_.size() + size > kMostNodes) return Invalid(Cat("the model has more than ", kMostNodes, " nodes"));
  const auto root = static_cast<int32_t>(nodes_.size());
  const auto count = static_cast<int64_t>(size);
  for (size_t i = 0; i < size; ++i) {
    Node node = {.value = static_cast<float>((*values)[i]), .missing_goes_left = (*defaults)[i] != 0};
    const bool is_leaf = (*left)[i] == -1 && (*right)[i] == -1;
    if (!is_leaf) {
      // A child comes after its parent, so that every path ends.
      const auto next = static_cast<int64_t>(i) + 1;
      const std::optional<int32_t> to_left = IndexOf((*left)[i], next, count);
      const std::optional<int32_t> to_right = IndexOf((*right)[i], next, count);
      const auto feature = IndexOf((*features)[i], 0, static_cast<int64_t>(FeatureNames().size()));
      if (!to_left || !to_right) return Invalid(Cat("node ", i, " has a child that is not a later node of the tree"));
      if (!feature) return Invalid(Cat("node ", i, " compares a feature that does not exist"));
      node.left = root + *to_left;
      node.right = root + *to_right;
      node.feature = *feature;
    }
    nodes_.push_back(node);
  }
  roots_.push_back(root);
  return absl::OkStatus();
}

absl::StatusOr<CostModel> CostModel::Parse(std::string_view text) {
  if (text.size() > kMostBytes) return Invalid(Cat("the file is larger than ", kMostBytes >> 20, " MiB"));
  std::string_view line;
  if (!TakeLine(&text, &line)) return Invalid("not a cost model");
  ASSIGN_OR_RETURN(const Json header, ReadHeader(line));
  if (record::Sha256Hex(text) != TextAt(header, "trees_sha256")) {
    return Invalid("the file is damaged: its trees do not have the hash in its first line; copy or train it again");
  }
  CostModel model;
  const Json* const base = header.Find("base");
  model.base_ = base == nullptr ? NAN : static_cast<float>(record::ParseDecimal(base->text).value_or(NAN));
  if (!std::isfinite(model.base_)) return Invalid("the header has no number base");
  if (const Json* const provenance = header.Find("provenance")) model.provenance_ = *provenance;
  while (!text.empty()) {
    if (!TakeLine(&text, &line) || line.size() > kMostLineBytes) return Invalid("a tree is not a line, or too long");
    const absl::StatusOr<Json> tree = record::ParseJson(line);
    const absl::Status status = tree.ok() ? model.AddTree(*tree) : tree.status();
    if (!status.ok()) return Invalid(Cat("tree ", model.roots_.size(), ": ", status.message()));
  }
  if (model.roots_.empty()) return Invalid("the model has no trees");
  return model;
}

absl::StatusOr<std::string> ReadModelFile(const std::string& path) {
  std::error_code error;
  const auto type = std::filesystem::status(path, error).type();
  if (type == std::filesystem::file_type::not_found) return absl::NotFoundError(Cat(path, ": no such file"));
  if (type != std::filesystem::file_type::regular) return absl::FailedPreconditionError(Cat(path, ": not a file"));
  // One byte more than the limit tells that the file is too large.
  std::string text(CostModel::kMostBytes + 1, '\0');
  std::ifstream file(path, std::ios::binary);
  if (!file) return absl::UnavailableError(Cat(path, ": cannot be read; check its permissions"));
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<size_t>(file.gcount()));
  return text;
}

absl::StatusOr<CostModel> CostModel::Load(const std::string& path) {
  ASSIGN_OR_RETURN(const std::string text, ReadModelFile(path));
  absl::StatusOr<CostModel> model = Parse(text);
  if (!model.ok()) return absl::FailedPreconditionError(Cat(path, ": ", model.status().message()));
  return model;
}

double CostModel::Predict(absl::Span<const float> features) const {
  // The sum in float32, tree by tree, is that of XGBoost.
  float sum = base_;
  for (const int32_t root : roots_) {
    const Node* node = &nodes_[static_cast<size_t>(root)];
    while (node->left >= 0) {
      const auto feature = static_cast<size_t>(node->feature);
      const float value = feature < features.size() ? features[feature] : NAN;
      const bool goes_left = std::isnan(value) ? node->missing_goes_left : value < node->value;
      node = &nodes_[static_cast<size_t>(goes_left ? node->left : node->right)];
    }
    sum += node->value;
  }
  return sum;
}

}  // namespace telemetry::worker::model

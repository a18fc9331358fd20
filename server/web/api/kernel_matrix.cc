#include "server/web/api/kernel_matrix.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "proto/base/status_macros.h"
#include "server/web/api/common.h"
#include "server/web/rows/by_keys.h"
#include "server/web/rows/optional_column.h"

namespace telemetry::web::api {
namespace {

using json::JsonWriter;
using rows::OptionalDouble;
using rows::OptionalInt;
using storage::sql::Statement;

constexpr size_t kMostShapes = 500;
constexpr size_t kMostDevices = 50;

// The runs of a kernel, those with the newest attempts first.
constexpr char kRuns[] =
    "SELECT r.shapes, r.dtypes, r.hardware, r.run_id, sn.label, r.attempts, r.best_ms, r.default_ms, "
    "(SELECT a.best_ms FROM attempts AS a WHERE a.run = r.run ORDER BY a.time_us DESC, a.attempt DESC LIMIT 1), "
    "(SELECT s.ratio FROM steps AS s WHERE s.name = r.name AND s.shapes = r.shapes AND s.dtypes = r.dtypes AND "
    "s.hardware = r.hardware AND s.sender = r.sender AND s.series = 'best' AND s.is_newest = 1), r.last_us "
    "FROM runs AS r JOIN texts AS sn ON sn.text = r.sender WHERE r.name = ?1 ORDER BY r.last_us DESC, r.run DESC "
    "LIMIT 50000";

// A cell of the matrix. The run is the one with the best time; if there is none, the newest.
struct Cell {
  std::string run_id;
  std::optional<std::string> sender;
  int64_t runs = 0;
  int64_t attempts = 0;
  std::optional<double> best_ms;
  std::optional<double> default_ms;
  std::optional<double> newest_best_ms;
  std::optional<double> step;
  std::optional<int64_t> last_us;
};

// Keys of texts.
using Shape = std::pair<int64_t, int64_t>;  // shapes and dtypes
struct Matrix {
  std::map<std::pair<Shape, int64_t>, Cell> cells;
  std::vector<Shape> shapes;     // in the order of their labels
  std::vector<int64_t> devices;  // in the order of their labels
};

struct NamedText {
  std::optional<std::string> label;
  std::string filter;
};
using Texts = absl::flat_hash_map<int64_t, NamedText>;

// Adds a run to its cell. Runs come in the order of their newest attempts, the newest first.
void AddRun(const Statement& row, Matrix* matrix) {
  Cell& cell = matrix->cells[{{row.Int(0), row.Int(1)}, row.Int(2)}];
  if (cell.runs++ == 0) {
    cell.run_id = row.String(3);
    cell.sender = rows::OptionalString(row, 4);
    cell.newest_best_ms = OptionalDouble(row, 8);
    cell.step = OptionalDouble(row, 9);
    cell.last_us = OptionalInt(row, 10);
  }
  cell.attempts += row.Int(5);
  const std::optional<double> best = OptionalDouble(row, 6);
  if (!best.has_value() || (cell.best_ms.has_value() && *cell.best_ms <= *best)) return;
  cell.best_ms = best;
  cell.run_id = row.String(3);
  cell.sender = rows::OptionalString(row, 4);
  cell.default_ms = OptionalDouble(row, 7);
}

absl::StatusOr<Matrix> ReadMatrix(const Call& call, int64_t name) {
  Statement runs(call.scratch, kRuns);
  Matrix matrix;
  RETURN_IF_ERROR(ForEachRow(runs.Bind(name), [&] {
    AddRun(runs, &matrix);
    return absl::OkStatus();
  }));
  return matrix;
}

absl::StatusOr<Texts> ReadTexts(const Call& call, const Matrix& matrix) {
  std::set<int64_t> keys;
  for (const auto& [place, cell] : matrix.cells) keys.insert({place.first.first, place.first.second, place.second});
  const std::vector<int64_t> list(keys.begin(), keys.end());
  Texts texts;
  RETURN_IF_ERROR(rows::ReadByKeys(call.scratch, "SELECT text, label, filter FROM texts WHERE text", list,
                                   [&texts](const Statement& row) {
                                     texts[row.Int(0)] = {rows::OptionalString(row, 1), row.String(2)};
                                   }));
  return texts;
}

// Orders the rows and the columns of the matrix by their labels.
void SortByLabels(const Texts& texts, Matrix* matrix) {
  std::set<std::tuple<std::optional<std::string>, std::optional<std::string>, Shape>> shapes;
  std::set<std::tuple<std::optional<std::string>, int64_t>> devices;
  for (const auto& [place, cell] : matrix->cells) {
    const auto& [shape, device] = place;
    shapes.emplace(texts.at(shape.first).label, texts.at(shape.second).label, shape);
    devices.emplace(texts.at(device).label, device);
  }
  for (const auto& [first, second, shape] : shapes) matrix->shapes.push_back(shape);
  for (const auto& [label, device] : devices) matrix->devices.push_back(device);
}

void WriteNamedText(JsonWriter& out, const NamedText& text) {
  out.BeginObject();
  out.Field("label", text.label);
  out.Field("filter", text.filter);
  out.EndObject();
}

void WriteSides(const Matrix& matrix, const Texts& texts, JsonWriter& out) {
  out.BeginArray("shapes");
  for (size_t i = 0; i < std::min(kMostShapes, matrix.shapes.size()); ++i) {
    out.BeginObject();
    out.Key("shapes");
    WriteNamedText(out, texts.at(matrix.shapes[i].first));
    out.Key("dtypes");
    WriteNamedText(out, texts.at(matrix.shapes[i].second));
    out.EndObject();
  }
  out.EndArray();
  out.BeginArray("devices");
  for (size_t i = 0; i < std::min(kMostDevices, matrix.devices.size()); ++i) {
    WriteNamedText(out, texts.at(matrix.devices[i]));
  }
  out.EndArray();
}

void WriteCell(const Cell& cell, size_t shape, size_t device, JsonWriter& out) {
  const bool has_speedup = cell.best_ms.has_value() && cell.default_ms.has_value() && *cell.best_ms > 0;
  out.BeginObject();
  out.Field("shape", shape);
  out.Field("device", device);
  out.Field("run_id", cell.run_id);
  out.Field("sender", cell.sender);
  out.Field("runs", cell.runs);
  out.Field("attempts", cell.attempts);
  out.Field("best_ms", cell.best_ms);
  out.Field("default_ms", cell.default_ms);
  out.Field("speedup", has_speedup ? std::optional(*cell.default_ms / *cell.best_ms) : std::nullopt);
  out.Field("newest_best_ms", cell.newest_best_ms);
  out.Field("step", cell.step);
  out.Field("last_received_unix_ms", cell.last_us.has_value() ? std::optional(*cell.last_us / 1000) : std::nullopt);
  out.EndObject();
}

void WriteCells(const Matrix& matrix, JsonWriter& out) {
  size_t written = 0;
  out.BeginArray("cells");
  for (size_t shape = 0; shape < std::min(kMostShapes, matrix.shapes.size()); ++shape) {
    for (size_t device = 0; device < std::min(kMostDevices, matrix.devices.size()); ++device) {
      const auto found = matrix.cells.find({matrix.shapes[shape], matrix.devices[device]});
      if (found == matrix.cells.end()) continue;
      WriteCell(found->second, shape, device, out);
      ++written;
    }
  }
  out.EndArray();
  out.Field("cells_left_out", matrix.cells.size() - written);
}

}  // namespace

absl::Status WriteMatrix(const Call& call, int64_t name, JsonWriter& out) {
  ASSIGN_OR_RETURN(Matrix matrix, ReadMatrix(call, name));
  ASSIGN_OR_RETURN(const Texts texts, ReadTexts(call, matrix));
  SortByLabels(texts, &matrix);
  WriteSides(matrix, texts, out);
  WriteCells(matrix, out);
  return absl::OkStatus();
}

}  // namespace telemetry::web::api

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "proto/base/status_macros.h"
#include "proto/record/strings.h"
#include "server/web/api/common.h"
#include "server/web/api/endpoints.h"
#include "server/web/api/kernel_name.h"
#include "server/web/api/page_writer.h"
#include "server/web/api/sort_order.h"

namespace telemetry::web::api {
namespace {

using json::JsonWriter;
using record::Cat;
using storage::sql::Statement;

constexpr size_t kMostShapes = 500;
constexpr size_t kMostDevices = 50;
constexpr int kMostVersions = 200;

struct KernelSort {
  std::string_view name;
  std::string_view expression;
  bool is_text;
};
constexpr KernelSort kSorts[] = {{"name", "k.label", true},
                                 {"runs", "k.runs", false},
                                 {"rows", "k.row_count", false},
                                 {"last_received", "k.last_us", false}};

absl::StatusOr<SortOrder> KernelOrder(const Call& call) {
  ASSIGN_OR_RETURN(const std::string sort,
                   call.parameters.Choice("sort", {"name", "-name", "runs", "-runs", "rows", "-rows", "last_received",
                                                   "-last_received"}));
  const bool is_descending = sort.front() == '-';
  const std::string_view name = std::string_view(sort).substr(is_descending ? 1 : 0);
  for (const KernelSort& known : kSorts) {
    if (known.name != name) continue;
    return SortOrder{.expression = std::string(known.expression),
                     .key = "k.name",
                     .is_descending = is_descending,
                     .is_text = known.is_text};
  }
  return absl::InvalidArgumentError("parameter sort: there is no such value");
}

// The kernels by name, with sums over their runs.
constexpr char kKernels[] =
    "(SELECT r.name, t.label, t.filter, count(*) AS runs, sum(r.attempts) AS attempts, sum(r.row_count) AS row_count, "
    "count(DISTINCT n.version) AS versions, count(DISTINCT r.shapes || ' ' || r.dtypes) AS shapes, "
    "count(DISTINCT r.hardware) AS devices, min(r.first_us) AS first_us, max(r.last_us) AS last_us FROM runs AS r "
    "JOIN texts AS t ON t.text = r.name LEFT JOIN kernels AS n ON n.kernel = r.kernel ";

// A cell of the matrix of a kernel.
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

struct NamedText {
  std::optional<std::string> label;
  std::string filter;

  friend bool operator<(const NamedText& a, const NamedText& b) {
    return std::tie(a.label, a.filter) < std::tie(b.label, b.filter);
  }
};

NamedText ReadNamed(const Statement& row, int column) {
  NamedText text = {.filter = row.String(column + 1)};
  if (!row.IsNull(column)) text.label = row.String(column);
  return text;
}

void WriteNamedText(JsonWriter& out, const NamedText& text) {
  out.Field("label", text.label);
  out.Field("filter", text.filter);
}

using Shape = std::pair<NamedText, NamedText>;
struct Matrix {
  std::map<std::pair<Shape, NamedText>, Cell> cells;
  std::map<Shape, size_t> shapes;
  std::map<NamedText, size_t> devices;
};

constexpr char kCells[] =
    "SELECT sh.label, sh.filter, dt.label, dt.filter, hw.label, hw.filter, r.run_id, sn.label, r.attempts, r.best_ms, "
    "r.default_ms, (SELECT a.best_ms FROM attempts AS a WHERE a.run = r.run ORDER BY a.time_us DESC, a.attempt DESC "
    "LIMIT 1), (SELECT s.ratio FROM steps AS s WHERE s.name = r.name AND s.shapes = r.shapes AND s.dtypes = r.dtypes AND "
    "s.hardware = r.hardware AND s.sender = r.sender AND s.series = 'best' AND s.is_newest = 1), r.last_us "
    "FROM runs AS r JOIN texts AS sh ON sh.text = r.shapes JOIN texts AS dt ON dt.text = r.dtypes "
    "JOIN texts AS hw ON hw.text = r.hardware JOIN texts AS sn ON sn.text = r.sender "
    "WHERE r.name = ?1 ORDER BY r.last_us DESC, r.run DESC LIMIT 50000";

std::optional<double> Column(const Statement& row, int column) {
  return row.IsNull(column) ? std::nullopt : std::optional(row.Double(column));
}

// Adds a run to its cell. Runs come in the order of their newest attempts, the newest first.
void AddRun(const Statement& row, Matrix* matrix) {
  const Shape shape = {ReadNamed(row, 0), ReadNamed(row, 2)};
  const NamedText device = ReadNamed(row, 4);
  Cell& cell = matrix->cells[{shape, device}];
  matrix->shapes.emplace(shape, 0);
  matrix->devices.emplace(device, 0);
  if (cell.runs++ == 0) {
    cell.run_id = row.String(6);
    if (!row.IsNull(7)) cell.sender = row.String(7);
    cell.newest_best_ms = Column(row, 11);
    cell.step = Column(row, 12);
    cell.last_us = row.Int(13);
  }
  cell.attempts += row.Int(8);
  const std::optional<double> best = Column(row, 9);
  if (!best.has_value() || (cell.best_ms.has_value() && *cell.best_ms <= *best)) return;
  cell.best_ms = best;
  cell.default_ms = Column(row, 10);
}

void WriteCell(const Cell& cell, size_t shape, size_t device, JsonWriter& out) {
  out.BeginObject();
  out.Field("shape", shape);
  out.Field("device", device);
  out.Field("run_id", cell.run_id);
  out.Field("sender", cell.sender);
  out.Field("runs", cell.runs);
  out.Field("attempts", cell.attempts);
  out.Field("best_ms", cell.best_ms);
  out.Field("default_ms", cell.default_ms);
  const bool has_speedup = cell.best_ms.has_value() && cell.default_ms.has_value() && *cell.best_ms > 0;
  out.Field("speedup", has_speedup ? std::optional(*cell.default_ms / *cell.best_ms) : std::nullopt);
  out.Field("newest_best_ms", cell.newest_best_ms);
  out.Field("step", cell.step);
  out.Field("last_received_unix_ms", cell.last_us.has_value() ? std::optional(*cell.last_us / 1000) : std::nullopt);
  out.EndObject();
}

void WriteMatrix(Matrix* matrix, JsonWriter& out) {
  size_t next = 0;
  out.BeginArray("shapes");
  for (auto& [shape, index] : matrix->shapes) {
    index = next++;
    if (index >= kMostShapes) continue;
    out.BeginObject();
    out.BeginObject("shapes");
    WriteNamedText(out, shape.first);
    out.EndObject();
    out.BeginObject("dtypes");
    WriteNamedText(out, shape.second);
    out.EndObject();
    out.EndObject();
  }
  out.EndArray();
  next = 0;
  out.BeginArray("devices");
  for (auto& [device, index] : matrix->devices) {
    index = next++;
    if (index >= kMostDevices) continue;
    out.BeginObject();
    WriteNamedText(out, device);
    out.EndObject();
  }
  out.EndArray();
  int64_t left_out = 0;
  out.BeginArray("cells");
  for (const auto& [place, cell] : matrix->cells) {
    const size_t shape = matrix->shapes[place.first];
    const size_t device = matrix->devices[place.second];
    shape < kMostShapes && device < kMostDevices ? WriteCell(cell, shape, device, out) : void(++left_out);
  }
  out.EndArray();
  out.Field("cells_left_out", left_out);
}

absl::Status WriteVersions(const Call& call, int64_t name, JsonWriter& out) {
  Statement versions(call.scratch,
                     "SELECT k.version, max(k.kernel_id), count(*), min(r.first_us), max(r.last_us), max(k.source_bytes), "
                     "max(k.source_lines), count(*) OVER () FROM runs AS r JOIN kernels AS k ON k.kernel = r.kernel "
                     "WHERE r.name = ?1 AND k.version IS NOT NULL GROUP BY k.version "
                     "ORDER BY max(r.last_us) DESC, k.version LIMIT ?2");
  versions.Bind(name, kMostVersions);
  int64_t count = 0;
  int64_t total = 0;
  out.BeginArray("versions");
  RETURN_IF_ERROR(ForEachRow(versions, [&] {
    ++count;
    total = versions.Int(7);
    out.BeginObject();
    WriteText(out, "version", versions, 0);
    WriteText(out, "kernel_id", versions, 1);
    WriteInt(out, "runs", versions, 2);
    WriteTime(out, "first_received_unix_ms", versions, 3);
    WriteTime(out, "last_received_unix_ms", versions, 4);
    WriteInt(out, "source_bytes", versions, 5);
    WriteInt(out, "source_lines", versions, 6);
    out.EndObject();
    return absl::OkStatus();
  }));
  out.EndArray();
  out.Field("versions_left_out", total - count);
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<int64_t> WriteKernelName(const Call& call, json::JsonWriter& out) {
  ASSIGN_OR_RETURN(const std::string filter, call.parameters.Required("kernel"));
  ASSIGN_OR_RETURN(const std::optional<int64_t> name, FindText(call.scratch, filter));
  Statement kernel(call.scratch,
                   "SELECT label, filter FROM texts WHERE text = ?1 AND EXISTS (SELECT 1 FROM runs WHERE name = ?1)");
  ASSIGN_OR_RETURN(const bool found, kernel.Bind(name.value_or(-1)).Step());
  if (!found) return absl::NotFoundError("the dataset has no run of this kernel");
  WriteNamed(out, "kernel", kernel, 0);
  return *name;
}

absl::Status ListKernels(const Call& call, JsonWriter& out) {
  RETURN_IF_ERROR(call.parameters.Allow({"q", "sort", "limit", "cursor", "format"}));
  ASSIGN_OR_RETURN(const int64_t size, PageSize(call));
  ASSIGN_OR_RETURN(const SortOrder order, KernelOrder(call));
  ASSIGN_OR_RETURN(const std::optional<Cursor> cursor, ParseCursor(call));
  ASSIGN_OR_RETURN(const std::string after, order.After(cursor));
  ASSIGN_OR_RETURN(const std::optional<std::string> q, call.parameters.Text("q"));
  const std::string found = Cat("WHERE instr(lower(coalesce(t.label, '')), lower(", Quoted(q.value_or("")), ")) > 0 ");
  Statement list(call.scratch,
                 Cat("SELECT k.name, k.label, k.filter, k.runs, k.attempts, k.row_count, k.versions, k.shapes, k.devices, "
                     "k.first_us, k.last_us, ",
                     order.expression, " FROM ", kKernels, found, "GROUP BY r.name) AS k WHERE ", after, order.Clause(),
                     " LIMIT ", size + 1)
                     .c_str());
  out.BeginObject();
  RETURN_IF_ERROR(WritePage(
      out, list, size,
      [&] {
        WriteNamed(out, "kernel", list, 1);
        WriteInt(out, "runs", list, 3);
        WriteInt(out, "attempts", list, 4);
        WriteInt(out, "rows", list, 5);
        WriteInt(out, "versions", list, 6);
        WriteInt(out, "shapes", list, 7);
        WriteInt(out, "devices", list, 8);
        WriteTime(out, "first_received_unix_ms", list, 9);
        WriteTime(out, "last_received_unix_ms", list, 10);
      },
      [&] { return order.Place(list, 11, 0); }));
  Statement total(call.scratch,
                  Cat("SELECT count(DISTINCT r.name) FROM runs AS r JOIN texts AS t ON t.text = r.name ", found).c_str());
  ASSIGN_OR_RETURN(const std::optional<int64_t> kernels, total.QueryInt());
  out.Field("total", kernels.value_or(0));
  WriteSummaries(out, call.state.progress());
  out.EndObject();
  return absl::OkStatus();
}

absl::Status GetKernel(const Call& call, JsonWriter& out) {
  RETURN_IF_ERROR(call.parameters.Allow({"kernel", "format"}));
  out.BeginObject();
  ASSIGN_OR_RETURN(const int64_t name, WriteKernelName(call, out));
  Statement cells(call.scratch, kCells);
  cells.Bind(name);
  Matrix matrix;
  RETURN_IF_ERROR(ForEachRow(cells, [&] {
    AddRun(cells, &matrix);
    return absl::OkStatus();
  }));
  WriteMatrix(&matrix, out);
  RETURN_IF_ERROR(WriteVersions(call, name, out));
  out.EndObject();
  return absl::OkStatus();
}

}  // namespace telemetry::web::api

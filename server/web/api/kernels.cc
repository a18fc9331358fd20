#include <cstdint>
#include <optional>
#include <string>

#include "proto/base/status_macros.h"
#include "proto/record/strings.h"
#include "server/web/api/common.h"
#include "server/web/api/endpoints.h"
#include "server/web/api/kernel_matrix.h"
#include "server/web/api/kernel_name.h"
#include "server/web/api/page_writer.h"
#include "server/web/api/sort_order.h"

namespace telemetry::web::api {
namespace {

using json::JsonWriter;
using record::Cat;
using storage::sql::Statement;

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
                   call.parameters.Choice(
                       "sort", {"name", "-name", "runs", "-runs", "rows", "-rows", "last_received", "-last_received"}));
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
    "count(DISTINCT n.version) AS versions, count(DISTINCT r.shapes << 32 | r.dtypes) AS shapes, "
    "count(DISTINCT r.hardware) AS devices, min(r.first_us) AS first_us, max(r.last_us) AS last_us FROM runs AS r "
    "JOIN texts AS t ON t.text = r.name LEFT JOIN kernels AS n ON n.kernel = r.kernel ";

absl::Status WriteVersions(const Call& call, int64_t name, JsonWriter& out) {
  Statement versions(
      call.scratch,
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
  Statement list(
      call.scratch,
      Cat("SELECT k.name, k.label, k.filter, k.runs, k.attempts, k.row_count, k.versions, k.shapes, k.devices, "
          "k.first_us, k.last_us, ",
          order.expression, " FROM ", kKernels, found, "GROUP BY r.name) AS k WHERE ", after, order.Clause(), " LIMIT ",
          size + 1)
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
  Statement total(
      call.scratch,
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
  RETURN_IF_ERROR(WriteMatrix(call, name, out));
  RETURN_IF_ERROR(WriteVersions(call, name, out));
  out.EndObject();
  return absl::OkStatus();
}

}  // namespace telemetry::web::api

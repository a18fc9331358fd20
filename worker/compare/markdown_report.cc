#include <string>
#include <string_view>

#include "absl/strings/str_format.h"
#include "proto/record/strings.h"
#include "worker/compare/report.h"

namespace telemetry::worker::compare {
namespace {

using record::Cat;

constexpr size_t kMostBytes = 60000;  // GitHub refuses comments of more than 65,536 characters
constexpr size_t kMostChangedBytes = 45000;
constexpr size_t kMostCellBytes = 200;
constexpr std::string_view kHead = "| kernel | time | base | head | change | verdict |\n|---|---|---|---|---|---|\n";

// Returns a text that the table shows as it is: names come from the senders of the dataset.
std::string Cell(std::string_view text) {
  std::string cell;
  for (const char c : text) {
    if (cell.size() > kMostCellBytes) return cell + "...";
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7F) {
      cell += ' ';
    } else if (std::string_view("|<>&@`*_[]\\~#").find(c) != std::string_view::npos) {
      absl::StrAppendFormat(&cell, "&#%d;", byte);
    } else {
      cell += c;
    }
  }
  return cell;
}

std::string RowsOf(const RunComparison& run) {
  std::string rows;
  for (const TimeComparison& time : run.times) {
    const bool is_slower = ShownVerdict(run, time) == Verdict::kSlower;
    const char* const mark = is_slower ? "**" : "";
    rows += Cat("| ", rows.empty() ? Cell(NameOf(run.key)) : "", " | ", NameOf(time.kind), " | ", Format(time.base),
                " | ", Format(time.head), " | ", mark, Format(time.change), mark, " | ", mark,
                Cell(FormatVerdict(run, time)), mark, " |\n");
  }
  for (const std::string& remark : run.remarks) rows += Cat("| | | | | | note: ", Cell(remark), " |\n");
  return rows;
}

// Appends a table of the runs with these verdicts, of at most this many bytes in total.
void AppendTable(const Report& report, std::initializer_list<Verdict> verdicts, size_t most_bytes, std::string* text) {
  *text += kHead;
  size_t left_out = 0;
  for (const Verdict verdict : verdicts) {
    for (const RunComparison& run : report.runs) {
      if (run.verdict != verdict) continue;
      const std::string rows = RowsOf(run);
      if (text->size() + rows.size() > most_bytes) {
        ++left_out;
      } else {
        *text += rows;
      }
    }
  }
  if (left_out > 0) *text += Cat("\n", left_out, left_out == 1 ? " run is" : " runs are", " not shown.\n");
}

}  // namespace

std::string ToMarkdown(const Report& report) {
  const size_t slower = CountOf(report, Verdict::kSlower);
  const size_t changed = slower + CountOf(report, Verdict::kFaster);
  std::string text =
      Cat("### Kernel times: ", Summary(report), "\n\nbase ", Cell(report.base), ", head ", Cell(report.head), ". ",
          slower == 0 ? "Nothing is slower." : "**Some kernels are slower.**", "\n\n");
  for (const std::string& remark : report.remarks) text += Cat("- note: ", Cell(remark), "\n");
  if (!report.remarks.empty()) text += "\n";
  if (changed > 0) {
    AppendTable(report, {Verdict::kSlower, Verdict::kFaster}, kMostChangedBytes, &text);
    text += "\n";
  }
  if (changed < report.runs.size()) {
    text += Cat("<details><summary>", report.runs.size() - changed, " without a change</summary>\n\n");
    AppendTable(report, {Verdict::kUnsure, Verdict::kNew, Verdict::kGone, Verdict::kSame}, kMostBytes - 1000, &text);
    text += "\n</details>\n\n";
  }
  text += absl::StrFormat(
      "Times with 95%% confidence intervals. A change is called if it is at least %.3g%% and significant at the level "
      "%.3g "
      "for all times together.\n",
      100 * report.options.threshold, report.options.false_alarms);
  return text;
}

}  // namespace telemetry::worker::compare

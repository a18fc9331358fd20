#include <string>
#include <string_view>

#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "proto/record/strings.h"
#include "worker/compare/report.h"

namespace telemetry::worker::compare {
namespace {

using record::Cat;

// Returns the text of an attribute or an element. XML has no form for control characters, U+FFFE and U+FFFF; they
// become spaces.
std::string Escape(std::string_view utf8) {
  const std::string text = absl::StrReplaceAll(record::AbslView(utf8), {{"\xEF\xBF\xBE", " "}, {"\xEF\xBF\xBF", " "}});
  std::string escaped;
  for (const char c : text) {
    switch (c) {
      case '&':
        escaped += "&amp;";
        break;
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      case '"':
        escaped += "&quot;";
        break;
      default:
        escaped += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
    }
  }
  return escaped;
}

struct Counts {
  size_t tests = 0;
  size_t failures = 0;
  size_t skipped = 0;
};

std::string CaseOf(const RunComparison& run, const TimeComparison& time, Counts* counts) {
  const Verdict verdict = ShownVerdict(run, time);
  std::string text = Cat("  <testcase classname=\"", Escape(run.key.kernel_name), "\" name=\"",
                         Escape(Cat(NameOf(run.key), " ", NameOf(time.kind))), "\">\n");
  const std::string message = Escape(Cat(FormatVerdict(run, time), "; base ", Format(time.base), ", head ",
                                         Format(time.head), ", ", Format(time.change)));
  ++counts->tests;
  if (verdict == Verdict::kSlower) {
    ++counts->failures;
    text += Cat("    <failure type=\"slower\" message=\"", message, "\"/>\n");
  } else if (verdict == Verdict::kSame || verdict == Verdict::kFaster) {
    text += Cat("    <system-out>", message, "</system-out>\n");
  } else {
    ++counts->skipped;
    text += Cat("    <skipped message=\"", message, "\"/>\n");
  }
  return text + "  </testcase>\n";
}

}  // namespace

std::string ToJUnit(const Report& report) {
  Counts counts;
  std::string cases;
  for (const RunComparison& run : report.runs) {
    for (const TimeComparison& time : run.times) cases += CaseOf(run, time, &counts);
  }
  return absl::StrFormat(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=\"%s\" tests=\"%d\" failures=\"%d\" errors=\"0\" "
      "skipped=\"%d\">\n%s</testsuite>\n",
      Escape(Cat("telemetry-worker compare ", report.base, " ", report.head)), counts.tests, counts.failures,
      counts.skipped, cases);
}

}  // namespace telemetry::worker::compare

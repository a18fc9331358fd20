#include "proto/record/sidecar/row.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace telemetry::record::sidecar {
namespace {

using ::testing::HasSubstr;

const std::string kHexId(64, 'a');

// Returns the fields of a valid row, of which a test changes one.
std::vector<std::string> HelionFields() {
  return {kHexId, "6.60", "7e2fba4013c19d17", "0", "ok", "0.031776", "0.04", "Config(num_warps=4)"};
}
std::vector<std::string> Pr2750Fields() {
  return {kHexId, kHexId, kHexId, "6.60", "1", "0", "started", "", "", "@helion.kernel()", "Config(num_warps=4)"};
}

std::string ErrorWith(size_t column, const std::string& value) {
  std::vector<std::string> fields = HelionFields();
  fields.at(column) = value;
  const absl::StatusOr<Row> row = ParseRow(Dialect::kHelion, fields);
  return row.ok() ? "ok" : std::string(row.status().message());
}

std::string Written(const Row& row) {
  std::string line;
  AppendRow(Dialect::kV11, row, &line);
  return line;
}

TEST(Row, FieldsAreRead) {
  const absl::StatusOr<Row> row = ParseRow(Dialect::kHelion, HelionFields());
  ASSERT_TRUE(row.ok()) << row.status();
  EXPECT_EQ(row->run_id, kHexId);
  EXPECT_EQ(row->timestamp_s, 6.6);
  EXPECT_EQ(row->config_id, 0x7e2fba4013c19d17u);
  EXPECT_EQ(row->config_index, std::nullopt);
  EXPECT_EQ(row->status, "ok");
  EXPECT_EQ(row->perf_ms, 0.031776);
  EXPECT_EQ(row->compile_time_s, 0.04);
  EXPECT_EQ(row->config_text, "Config(num_warps=4)");
}

TEST(Row, EmptyMeasurementsAreNone) {
  const absl::StatusOr<Row> row = ParseRow(Dialect::kPr2750, Pr2750Fields());
  ASSERT_TRUE(row.ok()) << row.status();
  EXPECT_EQ(row->perf_ms, std::nullopt);
  EXPECT_EQ(row->compile_time_s, std::nullopt);
  EXPECT_EQ(row->config_id, 0x7e2fba4013c19d17u) << "computed from the config";
}

TEST(Row, ErrorsNameTheColumn) {
  EXPECT_EQ(ErrorWith(0, ""), "run_id: not 64 lower-case hex digits");
  EXPECT_EQ(ErrorWith(0, std::string(64, 'A')), "run_id: not 64 lower-case hex digits");
  for (const char* wrong : {"", "x", "nan", "inf", "-inf", "1e999", " 1", "1 ", "0x1", "1,5", "+1"}) {
    EXPECT_EQ(ErrorWith(1, wrong), "timestamp_s: not a finite number") << wrong;
  }
  EXPECT_EQ(ErrorWith(2, "0000000000000000"), "config_id: not 16 lower-case hex digits, or zero");
  EXPECT_EQ(ErrorWith(3, "9223372036854775808"), "generation: not a 64-bit integer");
  EXPECT_EQ(ErrorWith(3, "1.0"), "generation: not a 64-bit integer");
  EXPECT_EQ(ErrorWith(4, ""), "status: empty");
  EXPECT_EQ(ErrorWith(4, "o\xffk"), "status: not UTF-8");
  EXPECT_EQ(ErrorWith(4, std::string("o\0k", 3)), "status: holds a NUL");
  EXPECT_EQ(ErrorWith(5, "nan"), "perf_ms: not a finite number");
  EXPECT_EQ(ErrorWith(6, "x"), "compile_time_s: not a finite number");
  EXPECT_EQ(ErrorWith(7, "Config(num_warps=8)"), "config: does not have the id in config_id");
  EXPECT_EQ(ParseRow(Dialect::kV11, HelionFields()).status().message(), "8 fields; a v1.1 row has 7");
}

TEST(Row, AnUnreadableConfigNeedsAnId) {
  EXPECT_EQ(ErrorWith(7, "Config(f=<function>)"), "ok");
  EXPECT_EQ(ErrorWith(7, "Config(f=<func"), "config: not a call of Config with literals");
  EXPECT_EQ(ErrorWith(7, ""), "config: not a call of Config with literals");
  std::vector<std::string> fields = Pr2750Fields();
  fields.back() = "Config(f=<function>)";
  EXPECT_EQ(ParseRow(Dialect::kPr2750, fields).status().message(), "config: not a call of Config with literals");
}

TEST(Row, IdsBesideARunIdMayBeMissing) {
  std::vector<std::string> fields = Pr2750Fields();
  fields[1] = fields[2] = "";
  EXPECT_TRUE(ParseRow(Dialect::kPr2750, fields).ok());
  fields.erase(fields.begin());
  fields.erase(fields.begin() + 8);
  EXPECT_EQ(ParseRow(Dialect::kPr2699, fields).status().message(), "kernel_id: not 64 lower-case hex digits");
}

TEST(Row, ConfigIndexCountsFromOne) {
  std::vector<std::string> fields = Pr2750Fields();
  for (const char* wrong : {"0", "-1", "", "1.0", "18446744073709551616"}) {
    fields[4] = wrong;
    EXPECT_EQ(ParseRow(Dialect::kPr2750, fields).status().message(), "config_index: not a count from 1") << wrong;
  }
}

// Printed by Python 3.11: "%.2f" and "%.6f".
TEST(Row, NumbersAreRoundedAsPythonRoundsThem) {
  struct Case {
    double value;
    std::string two;
    std::string six;
  };
  const Case cases[] = {
      {0.005, "0.01", "0.005000"},
      {0.015, "0.01", "0.015000"},
      {0.125, "0.12", "0.125000"},
      {2.675, "2.67", "2.675000"},
      {5e-7, "0.00", "0.000000"},
      {1.5e-6, "0.00", "0.000002"},
      {-0.001, "-0.00", "-0.001000"},
      {123456789.987654321, "123456789.99", "123456789.987654"},
      {1e22, "10000000000000000000000.00", "10000000000000000000000.000000"},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(Written({.timestamp_s = c.value, .status = "ok", .perf_ms = c.value, .compile_time_s = c.value}),
              c.two + ",,0,ok," + c.six + "," + c.two + ",\r\n");
  }
}

TEST(Row, TheLargestNumberFits) {
  EXPECT_THAT(Written({.timestamp_s = -1.7976931348623157e308, .status = "ok"}), HasSubstr("-179769313486231570"));
}

// Printed by Python 3.11's csv.writer.
TEST(Row, FieldsAreQuotedWherePythonQuotesThem) {
  const std::pair<std::string, std::string> cases[] = {
      {"a", "a"},
      {"a,b", "\"a,b\""},
      {"a\"b", "\"a\"\"b\""},
      {"a\nb", "\"a\nb\""},
      {"a\rb", "\"a\rb\""},
      {" a ", " a "},
      {"", ""},
      {"é", "é"},
      {"a;b", "a;b"},
      {"'a'", "'a'"},
      {"\"", "\"\"\"\""},
      {"\"\"", "\"\"\"\"\"\""},
  };
  for (const auto& [text, field] : cases) {
    EXPECT_EQ(CsvField(text), field);
    std::string line = "0.00,,0,";
    line.append(field).append(",,,").append(field).append("\r\n");
    EXPECT_EQ(Written({.status = text, .config_text = text}), line);
  }
}

TEST(Row, WidthsAreThoseOfTheHeaders) {
  for (const Dialect dialect :
       {Dialect::kV11, Dialect::kPr2699, Dialect::kPr2750, Dialect::kHelion, Dialect::kHelionSources}) {
    const std::string_view header = DialectHeader(dialect);
    EXPECT_EQ(DialectWidth(dialect), 1u + static_cast<size_t>(std::count(header.begin(), header.end(), ',')));
  }
}

}  // namespace
}  // namespace telemetry::record::sidecar

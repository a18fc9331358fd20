// Tests that a dataset of generated records with unusual values has the same outcomes and the same export bytes in a
// SQLite file and on a PostgreSQL server.

#include <gmock/gmock.h>
#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "server/batch/parsed_batch.h"
#include "server/export/export_dataset.h"
#include "server/storage/store.h"
#include "tests/environment.h"
#include "tests/server/export/sample_dataset.h"
#include "tests/server/storage/dataset_story.h"
#include "tests/server/storage/test_dataset.h"
#include "tests/temp_folder.h"

namespace telemetry::exporter {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;
using std::numeric_limits;
using storage::TestDataset;

constexpr int kRecordsPerBatch = 25;
constexpr char kRunDigits[] = "0af7";

// Texts are generated in ASCII and contain these marks. The serialised record contains bytes of the same length
// instead, which protobuf refuses to serialise as text: bytes that no UTF-8 contains, a surrogate, an overlong NUL, and
// a number above U+10FFFF.
const std::vector<std::pair<std::string, std::string>>& InvalidUtf8() {
  static const auto* const marks = new std::vector<std::pair<std::string, std::string>>{
      {"@!1", "\xff\xfe\xff"}, {"@!2", "\xed\xa0\x80"}, {"@!3", "\xc0\x80x"}, {"@!~4", "\xf4\x90\x80\x80"}};
  return *marks;
}

// Generates serialised records about a few runs, attempts and configs, so that records refer to each other, repeat and
// conflict.
class UnusualRecords {
 public:
  explicit UnusualRecords(unsigned seed) : random_(seed) {}

  std::string Make() {
    invalid_ = Below(6) == 0;
    v1::Record record;
    const auto* const kinds = v1::Record::descriptor()->oneof_decl(0);
    // Measurements, details and events are the most frequent kinds.
    const FieldDescriptor* kind = kinds->field(static_cast<int>(Below(static_cast<uint64_t>(kinds->field_count()))));
    if (Below(3) == 0) kind = v1::Record::descriptor()->FindFieldByName("measurement");
    Fill(*record.GetReflection()->MutableMessage(&record, kind));
    std::string bytes = record.SerializeAsString();
    for (const auto& [mark, invalid] : InvalidUtf8()) bytes = absl::StrReplaceAll(bytes, {{mark, invalid}});
    return bytes;
  }

 private:
  template <typename T>
  T Draw(const std::vector<T>& values) {
    return values[Below(values.size())];
  }

  uint64_t Below(uint64_t end) { return std::uniform_int_distribution<uint64_t>(0, end - 1)(random_); }

  // Returns random letters, which do not compress well.
  std::string Letters(uint64_t count) {
    std::string text;
    for (uint64_t i = 0; i < count; ++i) text += static_cast<char>('A' + Below(58));
    return text;
  }

  std::string Text() {
    if (invalid_ && Below(8) == 0)
      return Draw<std::string>({std::string("a\0b", 3), std::string(1, '\0'), "@!1", "x@!2", "@!3", "@!~4"});
    // Lengths around the limits of SQLite's tables (migrations/README.md), of PostgreSQL's index rows and pages.
    if (Below(12) == 0)
      return Letters(Draw<uint64_t>({255, 256, 511, 512, 513, 900, 901, 2704, 2705, 4096, 8200, 60000}));
    return Draw<std::string>({"",           " ",
                              "ok",         "'",
                              "\"",         "''; DROP TABLE runs; --",
                              "\\",         "\\N",
                              "\\.",        "\\x00",
                              "\n",         "\r\n",
                              "\t",         "a\vb\fc",
                              "{}",         "{\"a\",NULL}",
                              "NULL",       "null",
                              "%s",         "$1",
                              "?1",         "\x01\x1f\x7f",
                              "\u00e9",     "e\u0301",
                              "\u212b",     "\u00c5",
                              "\ufb01",     "fi",
                              "\u00df",     "\u1e9e",
                              "SS",         "\u0130",
                              "i",          "I",
                              "\ufeff",     "\ufffe",
                              "\uffff",     "\U0010ffff",
                              "\U0001f600", "\u200b",
                              "\u2028",     "\u202e",
                              "\u0085",     "\u00a0",
                              ",",          ";",
                              "=",          "a,b",
                              "\"a\"\"b\"", "started",
                              "error",      "0",
                              "-0",         "1e999",
                              "trailing ",  "A",
                              "a",          "~",
                              "Z"});
  }

  std::string JsonValue() {
    return Draw<std::string>({"1",
                              "-0.0",
                              "-0",
                              "NaN",
                              "Infinity",
                              "-Infinity",
                              "9223372036854775807",
                              "-9223372036854775808",
                              "123456789012345678901234567890",
                              "1e-324",
                              "1e400",
                              "5e-324",
                              "\"\"",
                              "\"\\u0000\"",
                              "\"\\ud800\"",
                              "\"\\ud83d\\ude00\"",
                              "\"\u00e9\"",
                              "\"e\u0301\"",
                              "\"\\n\\\"\\\\\"",
                              "null",
                              "true",
                              "[]",
                              "{}",
                              "[1, [2, {\"x\": null}]]",
                              "0.1",
                              "1e+16",
                              "1e16",
                              "1E5",
                              absl::StrCat("\"", std::string(3000, 'x'), "\"")});
  }

  std::string Json(std::string_view name) {
    if (invalid_ && Below(4) == 0) {
      return Draw<std::string>(
          {"{", "[1,]", "", "nul", "{\"a\": \"@!1\"}", std::string("{\"a\0\": 1}", 9), "\"\\x\"", "01"});
    }
    if (name == "record_keys_json") {
      return Draw<std::string>(
          {"[]", "[\"a\", \"b\"]", "[\"b\", \"a\"]", "[\"num_warps\"]", "[\"\u00e9\", \"e\u0301\"]", "[\"\\u0000\"]"});
    }
    std::string text = "{";
    const uint64_t members = Below(4);
    for (uint64_t i = 0; i < members; ++i) {
      absl::StrAppend(&text, i == 0 ? "\"" : ", \"",
                      Draw<std::string>({"a", "b", "", "\\u0000", "\u00e9", "e\u0301", "\\n"}), i, "\": ", JsonValue());
    }
    return text + "}";
  }

  std::string ConfigText() {
    if (invalid_ && Below(4) == 0) return Text();
    switch (Below(6)) {
      case 0:
        return absl::StrCat("Config(a='", Letters(Draw<uint64_t>({890, 895, 896, 897, 900, 2704, 9000})), "')");
      case 1: {
        std::string text = "Config(n0=0";
        for (uint64_t i = 1; i < 300; ++i) absl::StrAppend(&text, ", n", i, "=", i);
        return text + ")";
      }
      case 2:
        return absl::StrCat("Config(a=",
                            Draw<std::string>({"'\\n'",
                                               "'it\\'s'",
                                               "\"it's\"",
                                               "'a, b'",
                                               "'('",
                                               "[1, [2, 3]]",
                                               "(1,)",
                                               "{'x': 1}",
                                               "None",
                                               "-0.0",
                                               "nan",
                                               "inf",
                                               "9223372036854775807",
                                               "9223372036854775808",
                                               "-9223372036854775808",
                                               "1e-324",
                                               "'\u00e9'",
                                               "'e\u0301'",
                                               "''",
                                               "'\\x00'"}),
                            ")");
      case 3:
        return Draw<std::string>({"Config()", "not a call", "Config(a=1", "Config(a=1, a=1)", "Config(a =1)",
                                  "Config( )", "Config(a=1)\n", "config(a=1)", "\u00e9", "Config(,)", "Config(1, 2)",
                                  "helion.Config(a=1)"});
      default:
        return absl::StrCat("Config(num_warps=", Below(4), ", s='", Draw<std::string>({"a", "b", "c"}), "')");
    }
  }

  double Double(bool may_be_negative) {
    if (Below(4) == 0) {
      const double any = std::bit_cast<double>(std::uniform_int_distribution<uint64_t>()(random_));
      if (std::isfinite(any)) return may_be_negative ? any : std::abs(any);
    }
    if (invalid_ && Below(3) == 0) {
      return Draw<double>({numeric_limits<double>::quiet_NaN(), numeric_limits<double>::infinity(),
                           -numeric_limits<double>::infinity(), -1.0, -numeric_limits<double>::denorm_min()});
    }
    if (may_be_negative && Below(3) == 0) {
      return Draw<double>({-0.0, -numeric_limits<double>::max(), -numeric_limits<double>::min(), -1e-310,
                           -numeric_limits<double>::denorm_min(), -2 * numeric_limits<double>::denorm_min(), -1e-7,
                           -0.5});
    }
    return Draw<double>({0.0, -0.0, numeric_limits<double>::max(), numeric_limits<double>::min(), 1e-310,
                         numeric_limits<double>::denorm_min(), 0.1, 1e22, 1e-7, 5e-7, 123456789.123456789,
                         9007199254740993.0, 9223372036854775807.0, 0.03014400042593479, 1.0});
  }

  int64_t Signed() {
    return Draw<int64_t>({numeric_limits<int64_t>::min(), numeric_limits<int64_t>::max(),
                          numeric_limits<int64_t>::min() + 1, -1, 0, 1, int64_t{1} << 53, (int64_t{1} << 53) + 1,
                          int64_t{1} << 32, -(int64_t{1} << 31) - 1});
  }

  uint64_t Unsigned() {
    if (invalid_ && Below(3) == 0) return Draw<uint64_t>({uint64_t{1} << 63, numeric_limits<uint64_t>::max()});
    return Draw<uint64_t>({0, 1, 64, uint64_t{1} << 32, (uint64_t{1} << 53) + 1, numeric_limits<int64_t>::max()});
  }

  uint64_t Seq() {
    if (invalid_ && Below(4) == 0) return Draw<uint64_t>({0, uint64_t{1} << 63, numeric_limits<uint64_t>::max()});
    if (Below(4) == 0) {
      return Draw<uint64_t>({(uint64_t{1} << 48) - 1, uint64_t{1} << 48, numeric_limits<int64_t>::max(),
                             numeric_limits<int64_t>::max() - 1, uint64_t{1} << 31, uint64_t{1} << 32});
    }
    return 1 + Below(60);
  }

  uint64_t ConfigId() {
    if (invalid_ && Below(8) == 0) return 0;
    if (Below(4) == 0) {
      return Draw<uint64_t>(
          {1, uint64_t{1} << 63, (uint64_t{1} << 63) - 1, (uint64_t{1} << 63) + 1, numeric_limits<uint64_t>::max()});
    }
    return 2 + Below(60);
  }

  std::string HexId() {
    if (invalid_ && Below(8) == 0)
      return Draw<std::string>(
          {"", std::string(63, 'a'), std::string(64, 'A'), std::string(64, '\0'), std::string(64, 'g')});
    return std::string(64, kRunDigits[Below(4)]);
  }

  std::string Bytes(size_t size) {
    if (invalid_ && Below(8) == 0) return std::string(Draw<size_t>({0, 15, 17, 31, 33}), '\xff');
    return std::string(size, Draw<char>({'\0', '\xff', '\x80', '\'', '\\', 'a'}));
  }

  std::string DrawText(const Message& message, const FieldDescriptor& field) {
    const std::string& name = field.name();
    if (name == "run_id" || name == "kernel_id") return HexId();
    if (absl::EndsWith(name, "_json")) return Json(name);
    if (name == "source_hash")
      return invalid_ ? Text() : Draw<std::string>({"00", "ffff", std::string(64, '0'), "00fe"});
    if (name == "kind") return invalid_ ? Text() : Draw<std::string>({"device", "wrapper"});
    if (name == "text" && message.GetDescriptor() == v1::Config::descriptor()) return ConfigText();
    std::string text = Text();
    const bool required = name == "text" || name == "status" || (name == "name" && !invalid_);
    return required && text.empty() && !invalid_ ? "x" : text;
  }

  std::string DrawBytes(const FieldDescriptor& field) {
    if (field.name() == "raw") return absl::StrCat(Bytes(3), Text(), std::string(1, '\0'));
    return Bytes(absl::EndsWith(field.name(), "sha256") || field.name() == "sample_id" ? 32 : 16);
  }

  // Sets a field, or appends an element to it.
  void Set(Message& message, const FieldDescriptor& field) {
    const Reflection& reflection = *message.GetReflection();
    const auto set = [&](auto setter, auto adder, const auto& value) {
      (reflection.*(field.is_repeated() ? adder : setter))(&message, &field, value);
    };
    switch (field.cpp_type()) {
      case FieldDescriptor::CPPTYPE_DOUBLE: {
        const std::string& name = field.name();
        const bool signed_value =
            name == "timestamp_s" || name == "perf_ms" || name == "compile_time_s" || name == "exact_perf_ms";
        const double value =
            name == "occupancy" && !invalid_ ? Draw<double>({0.0, -0.0, 1.0, 0.1, 5e-324}) : Double(signed_value);
        return set(&Reflection::SetDouble, &Reflection::AddDouble, value);
      }
      case FieldDescriptor::CPPTYPE_INT64:
        return set(&Reflection::SetInt64, &Reflection::AddInt64,
                   field.name() == "schema_version" ? static_cast<int64_t>(Below(invalid_ ? 3 : 2)) : Signed());
      case FieldDescriptor::CPPTYPE_UINT64:
        return set(&Reflection::SetUInt64, &Reflection::AddUInt64,
                   field.name() == "config_id" ? ConfigId()
                   : field.name() == "seq"     ? Seq()
                                               : Unsigned());
      case FieldDescriptor::CPPTYPE_BOOL:
        return set(&Reflection::SetBool, &Reflection::AddBool, Below(2) == 0);
      case FieldDescriptor::CPPTYPE_ENUM:
        return set(&Reflection::SetEnumValue, &Reflection::AddEnumValue,
                   static_cast<int>(invalid_ ? Below(100) : Below(4)));
      case FieldDescriptor::CPPTYPE_STRING:
        if (field.is_repeated()) {
          return reflection.AddString(
              &message, &field,
              field.type() == FieldDescriptor::TYPE_BYTES ? DrawBytes(field) : DrawText(message, field));
        }
        return reflection.SetString(
            &message, &field,
            field.type() == FieldDescriptor::TYPE_BYTES ? DrawBytes(field) : DrawText(message, field));
      case FieldDescriptor::CPPTYPE_MESSAGE:
        return Fill(field.is_repeated() ? *reflection.AddMessage(&message, &field)
                                        : *reflection.MutableMessage(&message, &field));
      default:
        ADD_FAILURE() << "no values for the type of " << field.full_name();
    }
  }

  // Sets every field that a record needs and about half of the others.
  void Fill(Message& message) {
    const google::protobuf::Descriptor& type = *message.GetDescriptor();
    for (int i = 0; i < type.field_count(); ++i) {
      const FieldDescriptor& field = *type.field(i);
      const std::string& name = field.name();
      const bool needed = name == "run_id" || name == "attempt_id" || name == "config_id" || name == "seq" ||
                          name == "text" || name == "status" || name == "name" || name == "source_hash" ||
                          name == "kind";
      if (!needed && Below(2) == 0) continue;
      // An attempt lists others only seldom, since their rows leave the dataset.
      if (name == "supersedes" && Below(10) != 0) continue;
      const uint64_t count = field.is_repeated() ? Below(4) : 1;
      for (uint64_t n = 0; n < count; ++n) Set(message, field);
    }
  }

  std::mt19937 random_;
  bool invalid_ = false;  // true: the record may contain values that are refused
};

std::string ToText(const storage::BatchOutcome& outcome) {
  std::string text =
      absl::StrCat(outcome.status.ToString(), " up to ", outcome.committed_seq, " repeated ", outcome.repeated, " new ",
                   outcome.new_rows, " known ", outcome.known_rows, " reject bytes ", outcome.reject_bytes);
  for (const storage::RefusedRecord& refused : outcome.refused) {
    absl::StrAppend(&text, "\n", refused.seq, ": ", refused.reason, " ", refused.message);
  }
  return text;
}

// Returns the files of an export of one run, or of all runs if `run_id` is empty, by name.
std::map<std::string, std::string> Export(const TestDataset& dataset, render::Layout layout, bool details,
                                          const std::string& run_id) {
  const TempFolder folder;
  ExportOptions options;
  options.base = folder.File("data");
  options.layout = layout;
  options.details = details;
  options.allow_empty = true;
  if (!run_id.empty()) options.filter.set_run_id(run_id);
  const absl::StatusOr<ExportResult> result = ExportDataset(FromDatabase(dataset.db()), options);
  EXPECT_TRUE(result.ok()) << result.status();
  std::map<std::string, std::string> files;
  for (const std::string& name : folder.Names()) files[name] = ReadFile(folder.File(name));
  return files;
}

// Returns the text from the first byte that differs, with some bytes before it.
std::string From(const std::string& text, const std::string& other) {
  const size_t at =
      static_cast<size_t>(std::mismatch(text.begin(), text.end(), other.begin(), other.end()).first - text.begin());
  return absl::StrCat("at ", at, ": ", text.substr(at < 200 ? 0 : at - 200, 400));
}

class UnusualValuesTest : public testing::Test {
 protected:
  // Sends generated records to both datasets.
  void Send(int records) {
    UnusualRecords generator(TestSeed());
    const std::string producer(16, 'p');
    const std::unique_ptr<storage::StoreWriter> file_writer = *file_->OpenWriter();
    const std::unique_ptr<storage::StoreWriter> server_writer = *server_->OpenWriter();
    for (storage::StoreWriter* const writer : {file_writer.get(), server_writer.get()}) {
      ASSERT_TRUE(writer->OpenProducer(producer, 1, "test").ok());
    }
    uint64_t next_seq = 1;
    for (int sent = 0; sent < records; sent += kRecordsPerBatch) {
      batch::ParsedBatch parsed(producer, 1, next_seq, {.records = kRecordsPerBatch});
      for (int i = 0; i < kRecordsPerBatch; ++i) parsed.Add(generator.Make(), {});
      const storage::ProducerBatch& batch = parsed.mutable_batch();
      const auto expected = file_writer->CommitBatches({batch});
      const auto outcomes = server_writer->CommitBatches({batch});
      ASSERT_TRUE(expected.ok()) << expected.status();
      ASSERT_TRUE(outcomes.ok()) << outcomes.status();
      ASSERT_EQ(ToText(outcomes->front()), ToText(expected->front()));
      next_seq = expected->front().committed_seq + 1;
    }
  }

  void ExpectSameBytes(render::Layout layout, bool details, const std::string& run_id) {
    const auto expected = Export(*file_, layout, details, run_id);
    const auto exported = Export(*server_, layout, details, run_id);
    EXPECT_GE(expected.size(), 3u);
    ASSERT_EQ(exported.size(), expected.size());
    for (const auto& [name, bytes] : expected) {
      const auto found = exported.find(name);
      ASSERT_NE(found, exported.end()) << name;
      if (found->second == bytes) continue;
      ADD_FAILURE() << render::LayoutName(layout) << " " << name << " differs.\nSQLite " << From(bytes, found->second)
                    << "\nPostgreSQL " << From(found->second, bytes);
    }
  }

  const std::unique_ptr<TestDataset> file_ = storage::NewSqliteDataset({});
  const std::unique_ptr<TestDataset> server_ = storage::NewPostgresqlDataset();
};

// Both read this number as -0.0 (migrations/README.md).
TEST_F(UnusualValuesTest, TheNumberThatStandsForNegativeZeroCanBeSentAgain) {
  const double number = -numeric_limits<double>::denorm_min();
  v1::Record row = storage::Row('x', 1, number);
  row.mutable_measurement()->set_timestamp_s(number);
  row.mutable_measurement()->set_compile_time_s(number);
  v1::Record detail = storage::DetailRecord('x', 1);
  detail.mutable_measurement_detail()->set_exact_perf_ms(number);
  const std::vector<v1::Record> records = {storage::AttemptRecord('x', 'a'), storage::ConfigRecord(7, "Config()"), row,
                                           detail};
  for (TestDataset* const dataset : {file_.get(), server_.get()}) {
    const std::unique_ptr<storage::StoreWriter> writer = *dataset->OpenWriter();
    for (const char producer : std::string("pq")) {
      ASSERT_TRUE(writer->OpenProducer(std::string(16, producer), 1, "test").ok());
      storage::ProducerBatch batch = {.producer_id = std::string(16, producer), .epoch = 1, .first_seq = 1};
      storage::AddRecords(records, &batch);
      const auto outcomes = writer->CommitBatches({batch});
      ASSERT_TRUE(outcomes.ok()) << outcomes.status();
      EXPECT_TRUE(outcomes->front().refused.empty())
          << dataset->db() << ": " << outcomes->front().refused.front().message;
    }
  }
  ExpectSameBytes(render::Layout::kKeyed, true, "");
}

constexpr int kRecordsOfAllKinds = 5000;

TEST_F(UnusualValuesTest, BothBackendsExportTheSameBytes) {
  const auto records = static_cast<int>(NumberFromEnvironment("TELEMETRY_RECORDS", 500));
  Send(records);
  if (HasFatalFailure()) return;
  for (const char* const table :
       {"runs", "attempts", "configs", "config_arguments", "run_configs", "key_lists", "statuses", "measurements",
        "source_hashes", "measurement_details", "attempt_events", "ir_graphs", "ir_nodes", "ir_edges", "rejects"}) {
    const std::string count = absl::StrCat("SELECT count(*) FROM ", table);
    EXPECT_EQ(server_->Query(count), file_->Query(count)) << table;
    // A few records may contain none of a kind that is accepted.
    if (records >= kRecordsOfAllKinds) {
      EXPECT_NE(file_->Query(count), "0") << "no record of a kind was accepted: " << table;
    }
  }
  EXPECT_EQ(
      server_->Query("SELECT string_agg(encode(raw, 'hex') || ' ' || encode(content_sha256, 'hex') || message, ';' "
                     "ORDER BY reject) FROM rejects"),
      file_->Query(
          "SELECT group_concat(line, ';') FROM (SELECT lower(hex(raw)) || ' ' || lower(hex(content_sha256)) || "
          "message AS line FROM rejects ORDER BY reject)"));
  for (const render::Layout layout : {render::Layout::kHelion, render::Layout::kPr2750, render::Layout::kPr2699,
                                      render::Layout::kV11, render::Layout::kKeyed}) {
    for (const bool details : {false, true}) {
      // This layout has no column for the run.
      const bool one_run = layout == render::Layout::kPr2699;
      for (const char digit : std::string(one_run ? kRunDigits : "*")) {
        ExpectSameBytes(layout, details, one_run ? std::string(64, digit) : "");
      }
    }
  }
}

}  // namespace
}  // namespace telemetry::exporter

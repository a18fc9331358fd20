#include "proto/record/sidecar/csv_parser.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "tests/proto/record/sidecar/testdata.h"

namespace telemetry::record::sidecar {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::ElementsAreArray;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

using Item = CsvParser::Item;
using Kind = CsvParser::Kind;

const std::string kRunId = std::string(60, '0') + "a1b2";
const std::string kKernelId = std::string(60, '1') + "c3d4";
const std::string kSampleId = std::string(60, '2') + "e5f6";
constexpr char kConfig[] = "Config(block_sizes=[32, 16], num_warps=4)";

std::string HeaderLine(Dialect dialect) { return std::string(DialectHeader(dialect)) + "\r\n"; }

// Returns one row of the dialect with its line end. Rows with different times differ.
std::string RowLine(Dialect dialect, double timestamp_s) {
  Row row = {.run_id = kRunId,
             .kernel_id = kKernelId,
             .sample_id = kSampleId,
             .timestamp_s = timestamp_s,
             .config_index = 1,
             .config_id = 0x124ac513101e6336,
             .generation = 0,
             .status = "ok",
             .perf_ms = 0.25,
             .compile_time_s = 0.5,
             .decorator = std::string("@helion.kernel(config=helion.") + kConfig + ", static_shapes=True)",
             .config_text = kConfig,
             .source_hash = std::string(64, '7')};
  std::string line;
  AppendRow(dialect, row, &line);
  return line;
}

std::string WithoutLineEnd(const std::string& line) { return line.substr(0, line.size() - 2); }

// Returns a short description of an item: "row pr2750 1.50", "header helion", "bad <bytes>".
std::string Describe(const Item& item) {
  switch (item.kind) {
    case Kind::kHeader:
      return "header " + std::string(DialectName(item.dialect));
    case Kind::kRow: {
      std::string line;
      AppendRow(item.dialect, item.row, &line);
      return "row " + std::string(DialectName(item.dialect)) + " " + std::to_string(item.row.timestamp_s).substr(0, 4);
    }
    case Kind::kBad:
      return "bad " + item.raw;
  }
  return "";
}

std::vector<std::string> DescribeAll(const std::vector<Item>& items) {
  std::vector<std::string> result;
  result.reserve(items.size());
  for (const Item& item : items) result.push_back(Describe(item));
  return result;
}

std::vector<Item> Read(std::string_view bytes, std::optional<Dialect> dialect = std::nullopt) {
  CsvParser csv(dialect);
  std::vector<Item> items;
  csv.Feed(bytes, &items);
  csv.Finish(&items);
  return items;
}

std::vector<std::string> ReadAndDescribe(std::string_view bytes) { return DescribeAll(Read(bytes)); }

// Returns all contents of an item, to compare two readings.
std::string Whole(const Item& item) {
  std::string row;
  AppendRow(item.dialect, item.row, &row);
  return Describe(item) + "|" + item.error + "|" + std::to_string(item.line) + "|" + std::to_string(item.offset) + row;
}

std::vector<std::string> WholeAll(const std::vector<Item>& items) {
  std::vector<std::string> result;
  result.reserve(items.size());
  for (const Item& item : items) result.push_back(Whole(item));
  return result;
}

constexpr Dialect kAllDialects[] = {Dialect::kV11, Dialect::kPr2699, Dialect::kPr2750, Dialect::kHelion,
                                    Dialect::kHelionSources};
constexpr Dialect kConfigDialects[] = {Dialect::kV11, Dialect::kPr2699, Dialect::kPr2750, Dialect::kHelion};

class EveryDialect : public ::testing::TestWithParam<Dialect> {
 protected:
  std::string Name() const { return std::string(DialectName(GetParam())); }
  std::string Row(double timestamp_s) const { return RowLine(GetParam(), timestamp_s); }
  std::string TornRow(double timestamp_s, size_t bytes) const { return Row(timestamp_s).substr(0, bytes); }
};

std::string TestName(const ::testing::TestParamInfo<Dialect>& info) {
  std::string name;
  for (const char c : DialectName(info.param)) name += std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
  return name;
}

INSTANTIATE_TEST_SUITE_P(Csv, EveryDialect, ::testing::ValuesIn(kAllDialects), TestName);

// The dialects whose rows begin with an id; rows of v1.1 begin with a number.
class EveryDialectWithIds : public EveryDialect {};

INSTANTIATE_TEST_SUITE_P(Csv, EveryDialectWithIds,
                         ::testing::ValuesIn(std::begin(kAllDialects) + 1, std::end(kAllDialects)), TestName);

TEST_P(EveryDialect, HeaderAndRows) {
  EXPECT_THAT(ReadAndDescribe(HeaderLine(GetParam()) + Row(1) + Row(2)),
              ElementsAre("header " + Name(), "row " + Name() + " 1.00", "row " + Name() + " 2.00"));
}

TEST_P(EveryDialect, RowsAreToldWithoutAHeader) {
  EXPECT_THAT(ReadAndDescribe(Row(1)), ElementsAre("row " + Name() + " 1.00"));
}

TEST_P(EveryDialect, LineFeedsWillDo) {
  EXPECT_THAT(ReadAndDescribe(std::string(DialectHeader(GetParam())) + "\n" + WithoutLineEnd(Row(1)) + "\n"),
              ElementsAre("header " + Name(), "row " + Name() + " 1.00"));
}

TEST_P(EveryDialect, TheLastRowNeedsNoLineEnd) {
  EXPECT_THAT(ReadAndDescribe(WithoutLineEnd(Row(1))), ElementsAre("row " + Name() + " 1.00"));
}

TEST_P(EveryDialect, EmptyLinesAreSkipped) {
  EXPECT_THAT(ReadAndDescribe("\r\n\n" + Row(1) + "\r\n\r\n" + Row(2)), SizeIs(2));
}

TEST_P(EveryDialect, AByteOrderMarkIsSkipped) {
  EXPECT_THAT(ReadAndDescribe("\xEF\xBB\xBF" + HeaderLine(GetParam()) + Row(1)),
              ElementsAre("header " + Name(), "row " + Name() + " 1.00"));
}

// Tears a line at every byte, with a line end after the torn part. Checks that all other rows survive and that none is
// invented.
TEST_P(EveryDialect, ATornLineHarmsNoOther) {
  const std::string whole = WithoutLineEnd(Row(5));
  for (size_t length = 1; length < whole.size(); ++length) {
    SCOPED_TRACE(whole.substr(0, length));
    const bool hash_is_shorter = GetParam() == Dialect::kHelionSources && length > whole.size() - 57;
    if (hash_is_shorter) continue;  // a shorter hash is indistinguishable from a complete one
    EXPECT_THAT(ReadAndDescribe(HeaderLine(GetParam()) + Row(1) + whole.substr(0, length) + "\r\n" + Row(2) + Row(3)),
                ElementsAre("header " + Name(), "row " + Name() + " 1.00", "bad " + whole.substr(0, length),
                            "row " + Name() + " 2.00", "row " + Name() + " 3.00"));
  }
}

// Tears a line at every byte, with the next row directly after the torn part. Checks that only bytes of the torn row
// are lost.
TEST_P(EveryDialectWithIds, ATornLineDoesNotTakeTheNextRowWithIt) {
  const std::string whole = WithoutLineEnd(Row(5));
  for (size_t length = 1; length < whole.size(); ++length) {
    SCOPED_TRACE(whole.substr(0, length));
    const bool hash_is_shorter = GetParam() == Dialect::kHelionSources && length > whole.size() - 57;
    if (hash_is_shorter) continue;
    EXPECT_THAT(ReadAndDescribe(HeaderLine(GetParam()) + Row(1) + whole.substr(0, length) + Row(2) + Row(3)),
                ElementsAre("header " + Name(), "row " + Name() + " 1.00", "bad " + whole.substr(0, length),
                            "row " + Name() + " 2.00", "row " + Name() + " 3.00"));
  }
}

// A v1.1 row begins with a number, so a torn row before it may make it unreadable but must not change it.
TEST(CsvParser, ATornV11RowMaySpoilTheNextButNeverChangesIt) {
  const std::string whole = WithoutLineEnd(RowLine(Dialect::kV11, 5));
  // A row torn within its first digits would look like a later time: "5" before "2.00" is "52.00".
  for (size_t length = 2; length < whole.size(); ++length) {
    SCOPED_TRACE(whole.substr(0, length));
    const auto items = ReadAndDescribe(whole.substr(0, length) + RowLine(Dialect::kV11, 2) + RowLine(Dialect::kV11, 3));
    EXPECT_EQ(items.back(), "row v1.1 3.00");
    for (const std::string& item : items) {
      EXPECT_TRUE(item.starts_with("bad ") || item == "row v1.1 2.00" || item == "row v1.1 3.00") << item;
    }
  }
}

TEST_P(EveryDialect, RowsThatRanTogetherAreTwoRows) {
  EXPECT_THAT(ReadAndDescribe(WithoutLineEnd(Row(1)) + WithoutLineEnd(Row(2)) + Row(3)),
              ElementsAre("row " + Name() + " 1.00", "row " + Name() + " 2.00", "row " + Name() + " 3.00"));
}

TEST_P(EveryDialect, AHoleOfNulsHarmsNoRow) {
  const std::string hole(1000, '\0');
  EXPECT_THAT(ReadAndDescribe(Row(1) + hole + Row(2)),
              ElementsAre("row " + Name() + " 1.00", "bad " + hole, "row " + Name() + " 2.00"));
}

TEST_P(EveryDialect, AHeaderInMidLineIsFound) {
  EXPECT_THAT(ReadAndDescribe(Row(1) + "torn" + HeaderLine(GetParam()) + Row(2)),
              ElementsAre("row " + Name() + " 1.00", "bad torn", "header " + Name(), "row " + Name() + " 2.00"));
}

TEST(CsvParser, TheWidthTellsTheDialectWhateverTheHeaderSays) {
  for (const Dialect header : kAllDialects) {
    for (const Dialect row : kConfigDialects) {
      EXPECT_THAT(
          ReadAndDescribe(HeaderLine(header) + RowLine(row, 1)),
          ElementsAre("header " + std::string(DialectName(header)), "row " + std::string(DialectName(row)) + " 1.00"));
    }
  }
}

TEST(CsvParser, AHeaderInMidFileIsAnItemOfItsOwn) {
  EXPECT_THAT(ReadAndDescribe(HeaderLine(Dialect::kV11) + RowLine(Dialect::kV11, 1) + HeaderLine(Dialect::kHelion) +
                              RowLine(Dialect::kHelion, 2)),
              ElementsAre("header v1.1", "row v1.1 1.00", "header helion", "row helion 2.00"));
}

// A helion row that is torn after perf_ms has the same width as a row of a sources file.
TEST(CsvParser, ATornHelionRowIsNoSourceHash) {
  const std::string torn = kRunId + ",1.00,124ac513101e6336,0,ok,12345678";
  EXPECT_THAT(ReadAndDescribe(HeaderLine(Dialect::kHelion) + torn + "\r\n"),
              ElementsAre("header helion", "bad " + torn));
  EXPECT_THAT(ReadAndDescribe(HeaderLine(Dialect::kHelionSources) + torn + "\r\n"),
              ElementsAre("header helion-sources", "row helion-sources 1.00"));
}

TEST(CsvParser, AHashThatMayBeCutOffIsNoHash) {
  const std::string row = WithoutLineEnd(RowLine(Dialect::kHelionSources, 1));
  const std::string cut = row.substr(0, row.size() - 3);
  EXPECT_THAT(ReadAndDescribe(cut), ElementsAre("bad " + cut));
}

TEST(CsvParser, AQuotedNewlineBelongsToItsRow) {
  const std::string config = "Config(note='''two\nlines''', num_warps=4)";
  const std::string line = "1.00,1,0,ok,,,\"" + config + "\"\r\n";
  const std::vector<Item> items = Read(HeaderLine(Dialect::kV11) + line + RowLine(Dialect::kV11, 2));
  ASSERT_THAT(DescribeAll(items), ElementsAre("header v1.1", "row v1.1 1.00", "row v1.1 2.00"));
  EXPECT_EQ(items[1].row.config_text, config);
  EXPECT_EQ(items[2].line, 4u);
}

TEST(CsvParser, AQuoteThatNeverClosesEndsBeforeTheNextWholeRow) {
  const std::string torn = kRunId + ",1.00,124ac513101e6336,0,ok,0.25,,\"Config(block_sizes=[32";
  CsvParser csv;
  std::vector<Item> items;
  csv.Feed(torn + "\r\n", &items);
  EXPECT_THAT(items, IsEmpty()) << "the quoted field may go on";
  EXPECT_EQ(csv.pending_bytes(), torn.size() + 2);
  csv.Feed("neither\r\n", &items);
  EXPECT_THAT(items, IsEmpty());
  csv.Feed(RowLine(Dialect::kHelion, 2), &items);
  EXPECT_THAT(DescribeAll(items), ElementsAre("bad " + torn, "bad neither", "row helion 2.00"));
  EXPECT_EQ(csv.pending_bytes(), 0u);
}

TEST(CsvParser, AQuoteThatNeverClosesEndsBeforeAHeader) {
  EXPECT_THAT(ReadAndDescribe("1.00,1,0,ok,,,\"Config(\r\n" + HeaderLine(Dialect::kHelion)),
              ElementsAre("bad 1.00,1,0,ok,,,\"Config(", "header helion"));
}

TEST(CsvParser, AQuoteThatNeverClosesEndsWithTheFile) {
  EXPECT_THAT(ReadAndDescribe("1.00,1,0,ok,,,\"Config(\r\nx\r\ny"),
              ElementsAre("bad 1.00,1,0,ok,,,\"Config(", "bad x", "bad y"));
}

TEST(CsvParser, WholeRowsBeforeATornOneInItsLineSurvive) {
  const std::string torn = RowLine(Dialect::kHelion, 2).substr(0, 130);
  EXPECT_THAT(ReadAndDescribe(WithoutLineEnd(RowLine(Dialect::kHelion, 1)) + torn + RowLine(Dialect::kHelion, 3)),
              ElementsAre("row helion 1.00", "bad " + torn, "row helion 3.00"));
}

TEST(CsvParser, RowsOfTwoDialectsThatRanTogetherAreFound) {
  for (const Dialect first : kConfigDialects) {
    for (const Dialect second : kConfigDialects) {
      EXPECT_THAT(ReadAndDescribe(WithoutLineEnd(RowLine(first, 1)) + RowLine(second, 2)),
                  ElementsAre("row " + std::string(DialectName(first)) + " 1.00",
                              "row " + std::string(DialectName(second)) + " 2.00"));
    }
  }
}

TEST(CsvParser, AConfigWithoutQuotesEndsWhereTheNextRowBegins) {
  const std::string first = kRunId + ",1.00,7e2fba4013c19d17,0,ok,0.250000,,Config(num_warps=4)";
  EXPECT_THAT(ReadAndDescribe(first + RowLine(Dialect::kHelion, 2)), ElementsAre("row helion 1.00", "row helion 2.00"));
}

TEST(CsvParser, AConfigThatItsIdDoesNotNameIsBad) {
  const std::string wrong = kRunId + ",1.00,7e2fba4013c19d18,0,ok,0.250000,,Config(num_warps=4)";
  const std::vector<Item> items = Read(wrong + RowLine(Dialect::kHelion, 2));
  ASSERT_THAT(DescribeAll(items), ElementsAre("bad " + wrong, "row helion 2.00"));
  EXPECT_THAT(items[0].error, HasSubstr("config: does not have the id in config_id"));
}

TEST(CsvParser, BadItemsSayWhereTheyAreAndWhy) {
  const std::string header = HeaderLine(Dialect::kHelion);
  const std::vector<Item> items = Read(header + "\r\nnonsense\r\n" + RowLine(Dialect::kHelion, 2));
  ASSERT_THAT(items, SizeIs(3));
  EXPECT_THAT(items[1],
              AllOf(Field(&Item::kind, Kind::kBad), Field(&Item::raw, "nonsense"), Field(&Item::line, 3u),
                    Field(&Item::offset, header.size() + 2), Field(&Item::error, "1 fields; a helion row has 8")));
  EXPECT_EQ(items[2].line, 4u);
}

TEST(CsvParser, ALineOfFourMebibytesIsBadAndTheNextIsNot) {
  const std::string line(CsvParser::kMostLineBytes + 10, 'x');
  const std::vector<Item> items = Read(line + "\r\n" + RowLine(Dialect::kHelion, 2));
  ASSERT_THAT(items, SizeIs(3));
  EXPECT_EQ(items[0].raw + items[1].raw, line);
  EXPECT_EQ(Describe(items[2]), "row helion 2.00");
  EXPECT_EQ(items[2].line, 2u);
}

TEST(CsvParser, AnOpenQuoteDoesNotHoldMoreThanFourMebibytes) {
  CsvParser csv;
  std::vector<Item> items;
  csv.Feed("1.00,1,0,ok,,,\"Config(\r\n", &items);
  const std::string line = std::string(1023, 'x') + "\n";
  for (size_t fed = 0; fed < CsvParser::kMostLineBytes; fed += line.size()) csv.Feed(line, &items);
  EXPECT_LT(csv.pending_bytes(), line.size());
  EXPECT_EQ(items.front().raw, "1.00,1,0,ok,,,\"Config(");
  EXPECT_THAT(items, SizeIs(1 + CsvParser::kMostLineBytes / line.size()));
}

// Checks that the division of the bytes into calls does not change the items.
TEST(CsvParser, ChunksChangeNothing) {
  const unsigned seed = std::random_device{}();
  RecordProperty("seed", std::to_string(seed));
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  for (const std::string& path : SampleFiles(".csv")) {
    std::string bytes = ReadFile(path);
    for (int round = 0; round < 8; ++round) {
      if (round > 0) {  // damage it: lose some bytes, and make one a quote
        bytes.erase(random() % bytes.size(), random() % 500);
        bytes[random() % bytes.size()] = "\"\n,\0"[random() % 4];
      }
      const std::vector<std::string> at_once = WholeAll(Read(bytes));
      CsvParser csv;
      std::vector<Item> items;
      for (size_t at = 0; at < bytes.size();) {
        const size_t length = 1 + random() % (round % 2 == 0 ? 3 : 3000);
        csv.Feed(std::string_view(bytes).substr(at, length), &items);
        at += length;
      }
      csv.Finish(&items);
      ASSERT_THAT(WholeAll(items), ElementsAreArray(at_once)) << path << " round " << round;
    }
  }
}

// Checks that every byte except line ends is in some item: an item's bytes extend from its offset to the next item's
// offset.
TEST(CsvParser, NothingIsDroppedInSilence) {
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  for (const std::string& path : SampleFiles(".csv")) {
    std::string bytes = ReadFile(path);
    for (int i = 0; i < 20; ++i) bytes.erase(random() % bytes.size(), random() % 300);
    std::vector<Item> items = Read(bytes);
    items.emplace_back().offset = bytes.size();
    EXPECT_EQ(bytes.substr(0, items[0].offset).find_first_not_of("\r\n"), std::string::npos);
    for (size_t i = 0; i + 1 < items.size(); ++i) {
      std::string covered = bytes.substr(items[i].offset, items[i + 1].offset - items[i].offset);
      covered.resize(covered.find_last_not_of("\r\n") + 1);
      if (items[i].kind == Kind::kBad) {
        EXPECT_EQ(items[i].raw.substr(0, items[i].raw.find_last_not_of("\r\n") + 1), covered);
      } else {
        const std::vector<Item> again = Read(covered, items[i].dialect);
        ASSERT_THAT(again, SizeIs(1)) << covered;
        EXPECT_EQ(Describe(again[0]), Describe(items[i]));
      }
    }
  }
}

}  // namespace
}  // namespace telemetry::record::sidecar

#include "server/web/calls/csv_stream.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>
#include <functional>
#include <memory>
#include <string>

namespace telemetry::web::calls {
namespace {

using ::testing::HasSubstr;

// A stream whose pages are read when the test says so.
class CsvStory {
 public:
  explicit CsvStory(const std::string& cursor)
      : stream_(std::make_shared<CsvStream>("head\r\n", cursor, [this](auto read) {
          if (has_room) reads_.push_back(std::move(read));
          return has_room;
        })) {}

  // Takes the text that is ready.
  std::string Take() {
    std::string text;
    goes_on = stream_->Take(&text, [this] { ++wakes; });
    return text;
  }
  // Reads the next page that the stream asked for.
  void Read(const CsvStream::ReadPage& page) {
    ASSERT_FALSE(reads_.empty());
    reads_.front()(page);
    reads_.pop_front();
  }
  CsvStream& stream() { return *stream_; }
  size_t asked() const { return reads_.size(); }

  bool has_room = true;
  bool goes_on = true;
  int wakes = 0;

 private:
  std::deque<std::function<void(const CsvStream::ReadPage&)>> reads_;
  std::shared_ptr<CsvStream> stream_;
};

CsvStream::ReadPage Page(const std::string& text, const std::string& next) {
  return [text, next](std::string* cursor, std::string* csv) {
    *csv = text;
    *cursor = next;
    return absl::OkStatus();
  };
}

TEST(CsvStream, OfOnePage) {
  CsvStory story("");
  EXPECT_EQ(story.Take(), "head\r\n");
  EXPECT_FALSE(story.goes_on);
  EXPECT_EQ(story.asked(), 0U);
}

TEST(CsvStream, ReadsAPageWhenTheLastOneWasTaken) {
  CsvStory story("2");
  EXPECT_EQ(story.Take(), "head\r\n");
  EXPECT_TRUE(story.goes_on);
  EXPECT_EQ(story.asked(), 0U) << "the client has not read the first page yet";
  EXPECT_EQ(story.Take(), "");
  EXPECT_EQ(story.Take(), "") << "asks once";
  ASSERT_EQ(story.asked(), 1U);
  story.Read(Page("second\r\n", "3"));
  EXPECT_EQ(story.wakes, 1);
  EXPECT_EQ(story.Take(), "second\r\n");
  EXPECT_EQ(story.Take(), "");
  story.Read(Page("third\r\n", ""));
  EXPECT_EQ(story.Take(), "third\r\n");
  EXPECT_FALSE(story.goes_on);
}

TEST(CsvStream, SaysThatItIsIncomplete) {
  CsvStory story("2");
  story.Take();
  story.Take();
  story.Read([](std::string*, std::string*) { return absl::UnavailableError("the disk is gone"); });
  EXPECT_THAT(story.Take(), HasSubstr("incomplete"));
  EXPECT_FALSE(story.goes_on);
}

TEST(CsvStream, EndsWithoutRoomForMoreWork) {
  CsvStory story("2");
  story.Take();
  story.has_room = false;
  EXPECT_THAT(story.Take(), HasSubstr("incomplete"));
  EXPECT_FALSE(story.goes_on);
}

TEST(CsvStream, ReadsNothingForAClientThatLeft) {
  CsvStory story("2");
  story.Take();
  story.Take();
  story.stream().Close();
  story.Read([](std::string*, std::string*) {
    ADD_FAILURE() << "read a page";
    return absl::OkStatus();
  });
  EXPECT_EQ(story.wakes, 0);
}

}  // namespace
}  // namespace telemetry::web::calls

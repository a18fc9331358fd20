// Tests streams such as server-sent events, with real sockets.

#include "server/http/stream_sender.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/server/http/http_story.h"
#include "tests/server/http/test_stream.h"

namespace telemetry::http {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

class StreamSenderTest : public ::testing::Test {
 protected:
  // Starts a server that answers with stream_.
  HttpStory& Start(const Limits& limits = {}) {
    return story_.emplace(ServerOptions{.limits = limits}, [this](const Request&, const Handler::Respond& respond) {
      respond({.content_type = "text/event-stream", .stream = stream_});
    });
  }
  // Requests the stream and reads the head of the response.
  static HttpClient Open(const HttpStory& story) {
    HttpClient client = story.Connect();
    client.Send(Get("/events"));
    EXPECT_THAT(client.ReadUntil("\r\n\r\n"), HasSubstr("\r\nTransfer-Encoding: chunked\r\n"));
    return client;
  }

  const std::shared_ptr<TestStream> stream_ = std::make_shared<TestStream>();
  std::optional<HttpStory> story_;
};

TEST_F(StreamSenderTest, SendsEachTextWhenItIsReady) {
  HttpClient client = Open(Start());
  stream_->Add("data: 1\n\n");
  EXPECT_EQ(client.ReadUntil("\n\n\r\n"), "9\r\ndata: 1\n\n\r\n");
  stream_->Add("data: 10\n\n");
  EXPECT_EQ(client.ReadUntil("\n\n\r\n"), "a\r\ndata: 10\n\n\r\n");
  stream_->Wake();
  stream_->Add("data: 2\n\n", /*is_last=*/true);
  EXPECT_EQ(client.ReadAll(), "9\r\ndata: 2\n\n\r\n0\r\n\r\n");
  EXPECT_FALSE(stream_->is_closed());
}

TEST_F(StreamSenderTest, EndsWithoutText) {
  HttpClient client = Open(Start());
  stream_->Add("", /*is_last=*/true);
  EXPECT_EQ(client.ReadAll(), "0\r\n\r\n");
}

TEST_F(StreamSenderTest, ClosesTheStreamWhenTheClientLeaves) {
  {
    HttpClient client = Open(Start());
    stream_->Add("data: 1\n\n");
    client.ReadUntil("\n\n\r\n");
  }
  stream_->AwaitClose();
  stream_->Add("data: 2\n\n");
}

TEST_F(StreamSenderTest, ClosesTheStreamOfAClientThatDoesNotRead) {
  const HttpClient client = Open(Start({.send_timeout = absl::Milliseconds(50)}));
  stream_->Add(std::string(32 << 20, 'x'));
  stream_->AwaitClose();
}

TEST_F(StreamSenderTest, ClosesTheStreamAtTheEndOfTheServer) {
  HttpClient client = Open(Start());
  story_->server().Stop();
  stream_->AwaitClose();
  EXPECT_THAT(client.ReadAll(), IsEmpty());
  stream_->Add("data: 1\n\n");
  story_->Destroy();
  stream_->Add("data: 2\n\n");
}

TEST_F(StreamSenderTest, MayBeWokenAtAnyTime) {
  HttpClient client = Open(Start());
  std::string expected;
  for (int i = 0; i < 20; ++i) {
    const std::string text(1 << 20, static_cast<char>('a' + i));
    for (int k = 0; k < 100; ++k) stream_->Wake();
    stream_->Add(text);
    for (int k = 0; k < 100; ++k) stream_->Wake();
    expected += text;
  }
  stream_->Add("", /*is_last=*/true);
  std::string received;
  for (std::string size = client.ReadUntil("\r\n"); size != "0\r\n"; size = client.ReadUntil("\r\n")) {
    std::string piece = client.ReadUntil("\r\n");
    ASSERT_EQ(piece.size(), std::stoul(size, nullptr, 16) + 2);
    received.append(piece, 0, piece.size() - 2);
  }
  EXPECT_EQ(received, expected);
}

TEST_F(StreamSenderTest, IsClosedAfterAHead) {
  EXPECT_THAT(Start().Exchange("HEAD / HTTP/1.1\r\nHost: localhost\r\n\r\n"), EndsWith("\r\n\r\n"));
  stream_->AwaitClose();
}

TEST_F(StreamSenderTest, SendsNoChunksToAnOldClient) {
  stream_->Add("data: 1\n\n");
  stream_->Add("data: 2\n\n", /*is_last=*/true);
  EXPECT_THAT(Start().Exchange("GET / HTTP/1.0\r\nHost: localhost\r\n\r\n"),
              AllOf(EndsWith("\r\n\r\ndata: 1\n\ndata: 2\n\n"), Not(HasSubstr("Transfer-Encoding"))));
}

}  // namespace
}  // namespace telemetry::http

// Tests the limits of a server with many and with slow clients, and its end.

#include "server/http/http_server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <fstream>
#include <list>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/synchronization/notification.h"
#include "tests/server/http/http_story.h"

namespace telemetry::http {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

// Larger than the buffers of a socket.
constexpr size_t kLargeBytes = size_t{32} << 20;

void AnswerLarge(const Request& /*request*/, const Handler::Respond& respond) {
  respond(TextResponse(std::string(kLargeBytes, 'x')));
}

// Requests a page and returns the response's first line and size; a large page would make messages unreadable.
std::pair<std::string, size_t> Fetch(HttpClient& client) {
  client.Send(Get("/"));
  const std::string response = client.ReadResponse();
  return {response.substr(0, response.find('\r')), response.size()};
}

TEST(HttpServer, EndsRequestsThatTakeTooLong) {
  const HttpStory story({.limits = {.request_timeout = absl::Milliseconds(50)}});
  EXPECT_THAT(story.Exchange(""), IsEmpty());
  EXPECT_THAT(story.Exchange("GET / HTTP/1.1\r\n"), IsEmpty());
  EXPECT_THAT(story.Exchange("POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n"), IsEmpty());

  // A byte now and then does not help.
  HttpClient slow = story.Connect();
  slow.Send("GET / HTTP/1.1\r\nX: ");
  pollfd polled = {.fd = slow.fd(), .events = POLLIN};
  while (poll(&polled, 1, 1) == 0) slow.Send("x");
  EXPECT_THAT(slow.ReadAll(), IsEmpty());
}

TEST(HttpServer, EndsIdleConnections) {
  const HttpStory story({.limits = {.idle_timeout = absl::Milliseconds(50)}});
  EXPECT_THAT(story.Exchange(Get("/")), EndsWith("hello"));
}

TEST(HttpServer, EndsEachConnectionWithItsResponseIfThereIsNoIdleTime) {
  const HttpStory story({.limits = {.idle_timeout = absl::ZeroDuration()}});
  EXPECT_THAT(story.Exchange(Get("/")), AllOf(HasSubstr("Connection: close\r\n"), EndsWith("hello")));
}

TEST(HttpServer, EndsConnectionsThatStayAfterTheLastResponse) {
  const HttpStory story(
      {.limits = {.connections = {.in_total = 1, .per_network = 1}, .close_timeout = absl::Milliseconds(50)}});
  HttpClient client = story.Connect();
  client.Send(Get("/", "Host: localhost\r\nConnection: close\r\n"));
  EXPECT_THAT(client.ReadAll(), EndsWith("hello"));
  // The connection of the first client is still open on its side. The server resets others until it has ended it.
  while (story.Exchange(Get("/", "Host: localhost\r\nConnection: close\r\n")).empty()) continue;
}

TEST(HttpServer, RefusesResponsesThatExceedTheWaitingBytes) {
  const HttpStory story({.limits = {.waiting_bytes = 1 << 20}}, AnswerLarge);
  HttpClient slow = story.Connect();
  slow.Send(Get("/"));
  slow.AwaitBytes();
  HttpClient other = story.Connect(2);
  other.Send(Get("/"));
  EXPECT_THAT(other.ReadUntil("\r\n\r\n"), AllOf(StartsWith("HTTP/1.1 503"), HasSubstr("\r\nRetry-After: 1\r\n")));
  EXPECT_THAT(other.ReadUntil("}}\n"), HasSubstr("the server is busy"));

  EXPECT_GT(slow.ReadResponse().size(), kLargeBytes);
  std::pair<std::string, size_t> response;
  while (response.first != "HTTP/1.1 200 OK") response = Fetch(other);
  EXPECT_GT(response.second, kLargeBytes);
}

TEST(HttpServer, LeavesBytesToOtherNetworks) {
  const HttpStory story({.limits = {.waiting_bytes = 5 * kLargeBytes / 2}}, AnswerLarge);
  HttpClient slow = story.Connect();
  slow.Send(Get("/"));
  slow.AwaitBytes();
  HttpClient neighbour = story.Connect();
  EXPECT_EQ(Fetch(neighbour).first, "HTTP/1.1 503 Service Unavailable");
  HttpClient other = story.Connect(2);
  EXPECT_EQ(Fetch(other).first, "HTTP/1.1 200 OK");
}

TEST(HttpServer, CutsOffAClientThatDoesNotRead) {
  const HttpStory story({.limits = {.waiting_bytes = 1 << 20, .send_timeout = absl::Milliseconds(50)}}, AnswerLarge);
  HttpClient slow = story.Connect();
  slow.Send(Get("/"));
  slow.AwaitBytes();
  // Its bytes are released: another client is served, after responses of 503.
  HttpClient other = story.Connect(2);
  while (Fetch(other).first != "HTTP/1.1 200 OK") continue;
  EXPECT_LT(slow.ReadAll().size(), kLargeBytes);
}

TEST(HttpServer, OutlivesClientsThatGoAway) {
  const HttpStory story({}, AnswerLarge);
  for (int i = 0; i < 3; ++i) {
    const HttpClient client = story.Connect();
    client.Send(Get("/"));
    client.AwaitBytes();
  }
  HttpClient client = story.Connect(2);
  while (Fetch(client).first != "HTTP/1.1 200 OK") continue;
}

size_t ResidentBytes() {
  size_t total_pages = 0;
  size_t resident_pages = 0;
  std::ifstream("/proc/self/statm") >> total_pages >> resident_pages;
  return resident_pages * static_cast<size_t>(sysconf(_SC_PAGESIZE));
}

// Returns true if the process may open this many files.
bool AllowFiles(rlim_t count) {
  rlimit limit = {};
  getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = limit.rlim_max;
  return limit.rlim_max >= count && setrlimit(RLIMIT_NOFILE, &limit) == 0;
}

TEST(HttpServer, ServesAmongTenThousandConnections) {
  constexpr int kConnections = 10'000;
  if (!AllowFiles(kConnections + 1'000)) GTEST_SKIP() << "the limit of open files is too low: ulimit -Hn 11000";
  const HttpStory story;
  const size_t before = ResidentBytes();
  std::list<HttpClient> crowd;
  for (int i = 0; i < kConnections; ++i) crowd.emplace_back(story.port()).Send("GET / HTTP/1.1\r\nX: ");
  EXPECT_THAT(story.Exchange(Get("/", "Host: localhost\r\nConnection: close\r\n"), 2), EndsWith("hello"));
  EXPECT_LT(ResidentBytes() - before, size_t{32} << 20);
}

TEST(HttpServer, LimitsTheConnectionsOfANetwork) {
  const HttpStory story({.limits = {.connections = {.in_total = 8, .per_network = 2}}});
  std::list<HttpClient> slow;
  for (int i = 0; i < 2; ++i) slow.emplace_back(story.port()).Send("GET ");
  EXPECT_THAT(story.Exchange(Get("/")), IsEmpty());
  slow.front().Send("/ HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
  EXPECT_THAT(slow.front().ReadAll(), EndsWith("hello"));
}

TEST(HttpServer, MayEndBeforeAHandlerResponds) {
  absl::Notification has_request;
  Handler::Respond held;
  HttpStory story({}, [&](const Request& /*request*/, const Handler::Respond& respond) {
    held = respond;
    has_request.Notify();
  });
  HttpClient client = story.Connect();
  client.Send(Get("/"));
  has_request.WaitForNotification();
  story.server().Stop();
  EXPECT_THAT(client.ReadAll(), IsEmpty());
  held(TextResponse("late"));
  story.server().Stop();
  story.Destroy();
  held(TextResponse("very late"));
  held = nullptr;
}

TEST(HttpServer, EndsItsConnections) {
  HttpStory story({}, AnswerLarge);
  HttpClient waiting = story.Connect();
  waiting.Send("GET / HT");
  HttpClient reading = story.Connect();
  reading.Send(Get("/"));
  reading.AwaitBytes();
  story.server().Stop();
  EXPECT_THAT(waiting.ReadAll(), IsEmpty());
  EXPECT_LT(reading.ReadAll().size(), kLargeBytes);
}

// Returns a connection to ::1, or nullopt if the machine has no IPv6.
std::optional<net::Socket> ConnectByIpv6(int port) {
  net::Socket socket(::socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const sockaddr_in6 to = {
      .sin6_family = AF_INET6, .sin6_port = htons(static_cast<uint16_t>(port)), .sin6_addr = IN6ADDR_LOOPBACK_INIT};
  if (connect(socket.fd(), reinterpret_cast<const sockaddr*>(&to), sizeof(to)) != 0) return std::nullopt;
  return socket;
}

TEST(HttpServer, TellsTheNetworkOfEachClient) {
  const HttpStory story({.address = "[::]:0"}, [](const Request& request, const Handler::Respond& respond) {
    respond(TextResponse(request.network));
  });
  HttpClient v4 = story.Connect(3);
  v4.Send(Get("/"));
  EXPECT_THAT(v4.ReadResponse(), EndsWith("\r\n127.0.0.3"));
  std::optional<net::Socket> socket = ConnectByIpv6(story.port());
  if (!socket.has_value()) GTEST_SKIP() << "the machine has no IPv6";
  HttpClient v6(*std::move(socket));
  v6.Send(Get("/", "Host: [::1]:80\r\n"));
  EXPECT_THAT(v6.ReadResponse(), EndsWith("\r\n::/64"));
}

TEST(HttpServer, NamesAPortInUse) {
  const HttpStory story;
  const auto second = HttpServer::Open({.address = absl::StrCat("127.0.0.1:", story.port())});
  EXPECT_TRUE(absl::IsUnavailable(second.status())) << second.status();
  EXPECT_THAT(std::string(second.status().message()), HasSubstr(absl::StrCat("127.0.0.1:", story.port())));
}

}  // namespace
}  // namespace telemetry::http

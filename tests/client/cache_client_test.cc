#include "client/cache_client.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "tests/client/fake_cache.h"
#include "tests/temp_folder.h"

namespace telemetry::client {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

v1::GetCacheRequest KeyRequest(const std::string& key) {
  v1::GetCacheRequest request;
  request.set_namespace_("test");
  request.set_key(key);
  return request;
}

v1::CacheEntry Entry(const std::string& key, const std::string& value) {
  v1::CacheEntry entry;
  entry.set_namespace_("test");
  entry.set_key(key);
  entry.set_value(value);
  return entry;
}

class CacheClientTest : public testing::Test {
 protected:
  // Returns the keys that a list with this limit takes.
  std::vector<std::string> Keys(size_t limit) {
    std::vector<std::string> keys;
    const absl::Status status = client_.ListAll({}, limit, [&keys](const v1::CacheEntry& entry) {
      keys.push_back(entry.key());
      return absl::OkStatus();
    });
    EXPECT_TRUE(status.ok()) << status;
    return keys;
  }

  TempFolder folder_;
  FakeCache cache_{folder_.path()};
  CacheClient client_{{.collector = cache_.address(), .deadline = absl::Seconds(30)}};
};

TEST_F(CacheClientTest, PutsAndGetsLargeValues) {
  const std::string value(1 << 20, '\0');
  ASSERT_TRUE(client_.Put(Entry("k", value)).ok());
  const absl::StatusOr<v1::CacheEntry> entry = client_.Get(KeyRequest("k"));
  ASSERT_TRUE(entry.ok()) << entry.status();
  EXPECT_EQ(entry->value(), value);
  EXPECT_EQ(entry->sender(), "token a");
}

TEST_F(CacheClientTest, AKeyWithoutEntryIsNoReasonToGiveUp) {
  const absl::Status status = client_.Get(KeyRequest("k")).status();
  EXPECT_TRUE(absl::IsNotFound(status)) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr(cache_.address()));
  EXPECT_FALSE(client_.is_absent());
  cache_.RefusePuts({grpc::StatusCode::PERMISSION_DENIED, "no"});
  EXPECT_TRUE(absl::IsPermissionDenied(client_.Put(Entry("k", "v")).status()));
  EXPECT_FALSE(client_.is_absent());
}

TEST_F(CacheClientTest, ListsAllPagesUpToTheLimit) {
  for (const char* key : {"1", "2", "3", "4", "5"}) ASSERT_TRUE(client_.Put(Entry(key, "v")).ok());
  EXPECT_THAT(Keys(100), ElementsAre("5", "4", "3", "2", "1"));
  EXPECT_THAT(Keys(4), ElementsAre("5", "4", "3", "2"));
}

TEST_F(CacheClientTest, ASilentCollectorCostsOneDeadline) {
  cache_.Hang();
  CacheClient client({.collector = cache_.address(), .deadline = absl::Milliseconds(100)});
  EXPECT_TRUE(absl::IsDeadlineExceeded(client.Get(KeyRequest("k")).status()));
  EXPECT_TRUE(client.is_absent());
  const int calls = cache_.calls();
  for (int i = 0; i < 100; ++i) {
    EXPECT_TRUE(absl::IsUnavailable(client.Get(KeyRequest("k")).status()));
    EXPECT_TRUE(absl::IsUnavailable(client.Put(Entry("k", "v")).status()));
  }
  EXPECT_EQ(cache_.calls(), calls);
}

TEST(AbsentCacheTest, ACollectorThatIsDownIsNamedAndAskedOnce) {
  const TempFolder folder;
  const std::string nowhere = "unix:" + folder.path() + "/cache.sock";
  CacheClient client({.collector = nowhere});
  const absl::Status status = client.Get(KeyRequest("k")).status();
  EXPECT_TRUE(absl::IsUnavailable(status)) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr(nowhere));
  const FakeCache late(folder.path());
  EXPECT_TRUE(absl::IsUnavailable(client.Get(KeyRequest("k")).status()));
}

TEST(AbsentCacheTest, APortThatAcceptsAndSaysNothingCostsOneDeadline) {
  const int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address = {.sin_family = AF_INET, .sin_port = 0, .sin_addr = {htonl(INADDR_LOOPBACK)}, .sin_zero = {}};
  socklen_t size = sizeof(address);
  ASSERT_EQ(bind(listener, reinterpret_cast<sockaddr*>(&address), size), 0);
  ASSERT_EQ(listen(listener, 8), 0);
  ASSERT_EQ(getsockname(listener, reinterpret_cast<sockaddr*>(&address), &size), 0);
  CacheClient client({.collector = absl::StrCat("127.0.0.1:", ntohs(address.sin_port))});
  const absl::Time begin = absl::Now();
  for (int i = 0; i < 20; ++i) EXPECT_FALSE(client.Get(KeyRequest("k")).ok());
  EXPECT_LT(absl::Now() - begin, absl::Seconds(10));  // one deadline of a second, on a machine that may be busy
  EXPECT_TRUE(client.is_absent());
  close(listener);
}

}  // namespace
}  // namespace telemetry::client

// Attacks on the cache that tuners share.

#include <grpcpp/client_context.h>
#include <grpcpp/create_channel.h>

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "telemetry/v1/cache.grpc.pb.h"
#include "tests/faults/attacks/attack.h"
#include "tests/faults/attacks/raw_http2.h"

namespace telemetry::faults {
namespace {

constexpr char kGet[] = "/telemetry.v1.CacheService/Get";

std::unique_ptr<v1::CacheService::Stub> ConnectToCache(const Target& target) {
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  return v1::CacheService::NewStub(
      grpc::CreateCustomChannel(target.address(), grpc::InsecureChannelCredentials(), arguments));
}

v1::PutCacheRequest MakePut(uint64_t key, size_t value_bytes) {
  v1::PutCacheRequest request;
  request.mutable_entry()->set_namespace_("attack");
  request.mutable_entry()->set_key(absl::StrCat(key));
  request.mutable_entry()->set_value(std::string(value_bytes, 'v'));
  return request;
}

// Puts entries of the largest size and tiny ones, each under a key of its own, and ignores refusals.
void FloodWithPuts(const Target& target) {
  std::atomic<uint64_t> keys = 0;
  ForEver(32, [&](int i) {
    const auto stub = ConnectToCache(target);
    for (int round = 0; round < 100; ++round) {
      grpc::ClientContext context;
      v1::PutCacheResponse response;
      const v1::PutCacheRequest request = MakePut(++keys, i % 2 == 0 ? size_t{1} << 20 : 0);
      if (stub->Put(&context, request, &response).ok()) target.tally.Add();
    }
  });
}

// Gets a large value on many calls and does not read the answers.
void LeaveAnswersUnread(const Target& target) {
  {
    const auto stub = ConnectToCache(target);
    grpc::ClientContext context;
    v1::PutCacheResponse response;
    stub->Put(&context, MakePut(0, size_t{1} << 20), &response);
  }
  v1::GetCacheRequest get;
  get.set_namespace_("attack");
  get.set_key("0");
  const std::string request = http2::GrpcMessage(get.SerializeAsString());
  ForEver(64, [&](int /*i*/) {
    constexpr uint32_t kWindow = 1000;
    RawConnection connection(target.port, target.host);
    connection.SendPreface(kWindow);
    for (uint32_t stream = 1; stream < 32; stream += 2) {
      connection.StartCall(stream, kGet);
      if (connection.SendData(stream, request)) target.tally.Add();
    }
    connection.AwaitEnd(1, absl::Seconds(5));
  });
}

}  // namespace

std::vector<Attack> CacheAttacks() {
  return {{"cache_puts", "puts", FloodWithPuts}, {"unread_cache_answers", "calls", LeaveAnswersUnread}};
}

}  // namespace telemetry::faults

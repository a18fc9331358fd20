#include "tests/client/fake_cache.h"

#include <chrono>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "grpcpp/security/server_credentials.h"
#include "grpcpp/server_builder.h"

namespace telemetry::client {

FakeCache::FakeCache(const std::string& folder) : address_("unix:" + folder + "/cache.sock") {
  grpc::ServerBuilder builder;
  builder.AddListeningPort(address_, grpc::InsecureServerCredentials());
  builder.RegisterService(this);
  server_ = builder.BuildAndStart();
}

FakeCache::~FakeCache() {
  ending_.Notify();
  server_->Shutdown(std::chrono::system_clock::now());
}

void FakeCache::Hang() {
  const absl::MutexLock lock(&mutex_);
  hangs_ = true;
}

void FakeCache::RefusePuts(const grpc::Status& status) {
  const absl::MutexLock lock(&mutex_);
  put_status_ = status;
}

int FakeCache::calls() const {
  const absl::MutexLock lock(&mutex_);
  return calls_;
}

std::vector<v1::CacheEntry> FakeCache::entries() const {
  const absl::MutexLock lock(&mutex_);
  return entries_;
}

void FakeCache::BeginCall() {
  bool hangs = false;
  {
    const absl::MutexLock lock(&mutex_);
    ++calls_;
    hangs = hangs_;
  }
  if (hangs) ending_.WaitForNotification();
}

grpc::Status FakeCache::Get(grpc::ServerContext* /*context*/, const v1::GetCacheRequest* request,
                            v1::CacheEntry* response) {
  BeginCall();
  const absl::MutexLock lock(&mutex_);
  for (auto entry = entries_.rbegin(); entry != entries_.rend(); ++entry) {
    if (entry->namespace_() != request->namespace_() || entry->key() != request->key()) continue;
    *response = *entry;
    return grpc::Status::OK;
  }
  return {grpc::StatusCode::NOT_FOUND, "no such entry in the cache"};
}

grpc::Status FakeCache::Put(grpc::ServerContext* /*context*/, const v1::PutCacheRequest* request,
                            v1::PutCacheResponse* /*response*/) {
  BeginCall();
  const absl::MutexLock lock(&mutex_);
  if (!put_status_.ok()) return put_status_;
  entries_.push_back(request->entry());
  entries_.back().set_sender("token a");
  entries_.back().set_stored_unix_us(static_cast<int64_t>(entries_.size()));
  return grpc::Status::OK;
}

grpc::Status FakeCache::List(grpc::ServerContext* /*context*/, const v1::ListCacheRequest* request,
                             v1::ListCacheResponse* response) {
  BeginCall();
  const absl::MutexLock lock(&mutex_);
  // A page has at most two entries. The token is the number of entries before the page's.
  constexpr int kPage = 2;
  size_t left = entries_.size();
  if (!request->page_token().empty() && !absl::SimpleAtoi(request->page_token(), &left)) {
    return {grpc::StatusCode::INVALID_ARGUMENT, "page_token was not issued by this service"};
  }
  for (; left > 0 && response->entries_size() < kPage; --left) {
    *response->add_entries() = entries_[left - 1];
    if (!request->values()) response->mutable_entries()->rbegin()->clear_value();
  }
  if (left > 0) response->set_next_page_token(absl::StrCat(left));
  return grpc::Status::OK;
}

}  // namespace telemetry::client

#include "server/http/tls_context.h"

#include <algorithm>

#include "absl/time/clock.h"
#include "proto/base/steady.h"
#include "proto/log/log.h"

namespace telemetry::http {
namespace {

// A change this soon after another one may leave the file's times as they are.
constexpr absl::Duration kClockStep = absl::Seconds(1);

bool IsNew(const std::optional<access::FileStamp>& stamp) {
  return stamp.has_value() && absl::Now() - stamp->changed < kClockStep;
}

}  // namespace

absl::StatusOr<access::SslContext> TlsContext::Get() {
  const Stamps stamps = ReadStamps();
  if (context_ != nullptr && stamps == stamps_) return context_;
  stamps_ = stamps;
  if (std::any_of(stamps.begin(), stamps.end(), IsNew)) stamps_.reset();
  absl::StatusOr<access::SslContext> fresh = access::MakeSslContext(files_);
  if (fresh.ok()) {
    context_ = *std::move(fresh);
  } else if (context_ == nullptr) {
    return fresh.status();
  } else if (uint64_t left_out = 0; failure_lines_.Take(SteadyNow(), &left_out)) {
    log::Warn("cannot use the new TLS files; the last ones stay in use", {{"reason", fresh.status().ToString()}});
  }
  return context_;
}

TlsContext::Stamps TlsContext::ReadStamps() const {
  return {access::ReadFileStamp(files_.cert), access::ReadFileStamp(files_.key),
          access::ReadFileStamp(files_.client_ca)};
}

}  // namespace telemetry::http

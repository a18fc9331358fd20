#include "server/http/tls_context.h"

#include <utility>

#include "proto/log/log.h"

namespace telemetry::http {

absl::StatusOr<access::SslContext> TlsContext::Get() {
  if (SteadyNow() < next_read_) return context_;
  absl::StatusOr<access::SslContext> fresh = access::MakeSslContext(files_);
  if (fresh.ok()) {
    context_ = *std::move(fresh);
  } else if (context_ == nullptr) {
    return fresh.status();
  } else {
    log::Warn("cannot use the new TLS files; the last ones stay in use", {{"reason", fresh.status().ToString()}});
  }
  next_read_ = SteadyAfter(absl::Seconds(1));
  return context_;
}

}  // namespace telemetry::http

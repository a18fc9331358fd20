#include "server/models/model_service.h"

#include <memory>
#include <utility>

#include "server/dataset/read_call.h"
#include "server/models/change_call.h"
#include "server/models/model_limits.h"
#include "telemetry/v1/models.pb.h"

namespace telemetry::models {
namespace {

// The most bytes of responses that clients have not read.
constexpr uint64_t kUnreadBytes = uint64_t{8} << 20;

}  // namespace

template <typename Request, typename Response>
void ModelService::AddRead(const char* method,
                           absl::StatusOr<Response> (storage::StoreReader::*read)(const Request& request)) {
  using Call = dataset::ReadCall<Request, Response>;
  AddMethod(method, call::CallKind::kOther, [this, read](call::AdmittedCall call) {
    return std::make_shared<Call>(
        typename Call::Context{
            .pool = pool_,
            .readers = readers_,
            .gate = gate_,
            .timeouts = {.request = options_.request_timeout, .unread = options_.unread_timeout},
            .retry_delay = options_.retry_delay,
            .most_request_bytes = kMaxRequestBytes,
            .check = [](const Request& request) { return CheckRequest(request); },
            .read = [read](storage::StoreReader& reader, const Request& request) { return (reader.*read)(request); }},
        std::move(call));
  });
}

ModelService::ModelService(writer::WriterLoop& writer, dataset::ReaderPool& readers, access::Gate& gate,
                           call::RunningCalls& calls, const Options& options)
    : call::RawService(calls),
      readers_(readers),
      gate_(gate),
      options_(options),
      admission_(options.puts),
      pool_({.threads = kMostReaders, .held_bytes = kUnreadBytes}) {
  AddRead("/telemetry.v1.ModelService/List", &storage::StoreReader::ListModels);
  AddRead("/telemetry.v1.ModelService/Read", &storage::StoreReader::ReadModel);
  const auto add_change = [this, &writer](const char* method, ChangeCall::Kind kind) {
    AddMethod(method, call::CallKind::kOther, [this, &writer, kind](call::AdmittedCall call) {
      return std::make_shared<ChangeCall>(
          std::move(call),
          ChangeCall::Context{.kind = kind,
                              .gate = gate_,
                              .timeouts = {.request = options_.request_timeout, .unread = options_.unread_timeout},
                              .writer = writer,
                              .admission = admission_,
                              .most_model_bytes = options_.most_model_bytes});
    });
  };
  add_change(ChangeCall::kPut, ChangeCall::Kind::kPut);
  add_change(ChangeCall::kRemove, ChangeCall::Kind::kRemove);
}

}  // namespace telemetry::models

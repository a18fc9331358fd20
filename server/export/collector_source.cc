#include <grpcpp/grpcpp.h>

#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "server/export/dataset_source.h"
#include "telemetry/v1/dataset.grpc.pb.h"

namespace telemetry::exporter {
namespace {

std::shared_ptr<grpc::Channel> Connect(const std::string& address, const access::Connection& connection) {
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(64 << 20);  // a record may have 8 MiB, and an item contains several
  // Detects the failure of the collector's machine during a stream, which TCP alone does not.
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS, 60'000);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, 20'000);
  return grpc::CreateCustomChannel(address, connection.channel_credentials(), arguments);
}

absl::Status Named(const absl::Status& status, const std::string& address) {
  if (status.ok()) return status;
  return {status.code(), absl::StrCat("collector ", address, ": ", status.message())};
}

absl::Status Receive(const access::Connection& connection, const std::string& address, const v1::ExportRequest& request,
                     const std::stop_token& stop, const ItemSink& sink) {
  const std::unique_ptr<v1::DatasetService::Stub> stub = v1::DatasetService::NewStub(Connect(address, connection));
  grpc::ClientContext context;
  connection.Authorize(&context);
  // Registered before the call below, which already waits for a connection.
  const std::stop_callback cancel(stop, [&context] { context.TryCancel(); });
  std::unique_ptr<grpc::ClientReader<v1::ExportItem>> items = stub->Export(&context, request);
  absl::Status sink_status;
  v1::ExportItem item;
  while (sink_status.ok() && items->Read(&item)) sink_status = sink(std::move(item));
  if (!sink_status.ok()) context.TryCancel();
  const absl::Status stream_status = connection.CallStatus(items->Finish());
  return sink_status.ok() ? Named(stream_status, address) : sink_status;
}

}  // namespace

DatasetSource FromCollector(std::string address, access::Credentials credentials, std::stop_token stop) {
  return [address = std::move(address), credentials = std::move(credentials), stop = std::move(stop)](
             const v1::ExportRequest& request, const ItemSink& sink) {
    const absl::StatusOr<access::Connection> connection = access::Connection::Prepare(credentials, address);
    return connection.ok() ? Receive(*connection, address, request, stop, sink) : connection.status();
  };
}

}  // namespace telemetry::exporter

#pragma once

#include <grpcpp/channel.h>
#include <grpcpp/server.h>

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/collector/admission.h"
#include "server/collector/dataset_service.h"
#include "server/collector/ingest_service.h"
#include "server/collector/limits.h"
#include "server/collector/stream_registry.h"
#include "server/collector/writer_loop.h"
#include "server/storage/sqlite_store.h"

namespace telemetry::collector {

struct ServerOptions {
  std::string db;
  // HOST:PORT, where port 0 takes a free one; empty: no port, only in-process channels.
  std::string listen;
  Limits limits;
  storage::WriterOptions writer;
  // Called from the writer's thread when the dataset fails; nothing is acknowledged any more. The process should end.
  WriterLoop::OnFatal on_fatal;
};

// A running collector: the services, the writer's thread and the port.
class CollectorServer {
 public:
  // Opens the dataset and serves. Errors as storage::OpenSqliteWriter; UNAVAILABLE: the port is taken or no address.
  static absl::StatusOr<std::unique_ptr<CollectorServer>> Start(const ServerOptions& options);
  // As Drain, without patience.
  ~CollectorServer();

  // The port; 0 where there is none.
  int port() const { return port_; }
  // A channel without a network.
  std::shared_ptr<grpc::Channel> InProcessChannel();

  // Stops reading, commits what was read, sends the last Acks and closes the streams with UNAVAILABLE. Calls that are
  // not over after `patience` are cut off. Everything acknowledged is durable.
  void Drain(absl::Duration patience);

 private:
  CollectorServer(const ServerOptions& options, std::unique_ptr<storage::StoreWriter> writer);
  absl::Status Listen(const std::string& address);
  void SetHealth(bool serving);

  const Limits limits_;
  Admission admission_;
  StreamRegistry streams_;
  WriterLoop writer_;
  IngestService ingest_;
  DatasetService dataset_;
  std::unique_ptr<grpc::Server> server_;
  int port_ = 0;
};

}  // namespace telemetry::collector

#pragma once

#include <grpcpp/channel.h>
#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "proto/base/periodic.h"
#include "server/access/gate.h"
#include "server/access/server_credentials.h"
#include "server/access/token_watch.h"
#include "server/cache/cache_service.h"
#include "server/call/call_queue.h"
#include "server/call/limits.h"
#include "server/call/running_calls.h"
#include "server/collector/health_service.h"
#include "server/collector/metrics_port.h"
#include "server/collector/serving_health.h"
#include "server/dataset/dataset_service.h"
#include "server/dataset/deletion_service.h"
#include "server/dataset/reader_pool.h"
#include "server/ingest/admission.h"
#include "server/ingest/ingest_service.h"
#include "server/ingest/producer_rates.h"
#include "server/ingest/stream_registry.h"
#include "server/models/model_service.h"
#include "server/net/acceptor.h"
#include "server/storage/sqlite/sqlite_store.h"
#include "server/writer/disk_guard.h"
#include "server/writer/metrics.h"
#include "server/writer/retention.h"
#include "server/writer/writer_loop.h"

namespace telemetry::collector {

// The dataset, the ports, the credentials and the limits of a server.
struct ServerOptions {
  std::string db;  // a SQLite file, or the URL of a PostgreSQL database
  // HOST:PORT; port 0 selects a free port. Empty: no port, only in-process channels.
  std::string listen;
  // The certificate and key of the ports. Unset: plaintext.
  access::TlsFiles tls;
  // HOST:PORT of the metrics, as `listen`. Empty: no metrics. A loopback address is served without TLS and tokens.
  std::string metrics_listen;
  // The file of the tokens that calls need, both on the ports and in-process. Empty: every caller may do everything
  // except delete.
  std::string tokens;
  // The clock that measures how long the token file has been unreadable.
  access::TokenWatch::Clock token_clock = &SteadyNow;
  call::Limits limits;
  writer::RetentionOptions retention;
  storage::sqlite::WriterOptions writer;
  // Returns the number of free bytes on the dataset's disk.
  decltype(writer::DiskGuardOptions::free_bytes) free_disk_bytes = &writer::FreeDiskBytes;
  // Called from the writer thread when the dataset fails. After that nothing is acknowledged; the process should exit.
  writer::WriterLoop::OnFatal on_fatal;
  // Called from an acceptor's thread when a port's listening socket is lost and cannot be opened again. The process
  // should exit.
  std::function<void(const absl::Status&)> on_lost_port;
};

// A running collector: the services, the writer thread and the ports.
class CollectorServer {
 public:
  // Opens the dataset and starts serving. Errors: those of storage::OpenWriter, access::ReadTokens and
  // access::MakeServerCredentials; UNAVAILABLE if a port is in use or an address is invalid.
  static absl::StatusOr<std::unique_ptr<CollectorServer>> Start(const ServerOptions& options);
  // Drains with a patience of zero.
  ~CollectorServer();

  // The port of the gRPC server, or 0 if it has none.
  int port() const { return acceptor_ == nullptr ? 0 : acceptor_->port(); }
  int metrics_port() const { return metrics_port_ == nullptr ? 0 : metrics_port_->port(); }
  // Returns a channel to this server that uses no network.
  std::shared_ptr<grpc::Channel> InProcessChannel();

  // Stops reading, commits the records already read, sends the last Acks and closes the streams with UNAVAILABLE.
  // Cancels calls that have not ended after `patience`. On return, every acknowledged record is durable.
  void Drain(absl::Duration patience);

 private:
  // The ports and their tokens, credentials and meter. They are opened before the dataset, so that a port in use leaves
  // no new dataset behind.
  struct Ports;

  static absl::StatusOr<Ports> OpenPorts(const ServerOptions& options);
  CollectorServer(const ServerOptions& options, Ports ports, std::unique_ptr<storage::StoreWriter> writer);
  absl::Status StartServing(std::shared_ptr<grpc::ServerCredentials> credentials);
  // Builds the gRPC server, which receives its connections from the acceptor.
  absl::Status Build(std::shared_ptr<grpc::ServerCredentials> credentials);
  // Rechecks the tokens of the running calls and whether the token file is readable. Called by the token watch after
  // each look.
  void OnTokensLookedAt();
  // Closes the connection of a peer.
  void EndConnection(const std::string& peer) const;
  void LimitConnections(grpc::ServerBuilder& builder) const;
  writer::CollectorState State();

  const std::string db_;
  const call::Limits limits_;
  ingest::Admission admission_;
  ingest::StreamRegistry streams_;
  ingest::ProducerRates rates_;
  std::atomic<uint64_t> unread_ack_bytes_ = 0;
  std::atomic<uint64_t> too_large_records_ = 0;
  const std::unique_ptr<access::TokenWatch> tokens_;
  access::Gate gate_;
  const std::unique_ptr<net::ReceiveMeter> meter_;
  call::RunningCalls calls_;
  call::CallQueue call_queue_{calls_};
  const std::unique_ptr<writer::CollectorMetrics> metrics_;  // nullptr: none
  ServingHealth health_;
  writer::DiskGuard disk_guard_;
  writer::Retention retention_;
  writer::WriterLoop writer_;
  HealthService health_service_;
  ingest::IngestService ingest_;
  dataset::ReaderPool readers_;
  dataset::DatasetService dataset_;
  dataset::DeletionService deletion_;
  cache::CacheService cache_;
  models::ModelService models_;
  std::unique_ptr<grpc::Server> server_;
  // hands accepted connections to server_
  std::unique_ptr<grpc::experimental::ExternalConnectionAcceptor> connections_;
  std::unique_ptr<net::Acceptor> acceptor_;  // nullptr: no port
  std::optional<Periodic> call_watch_;
  std::unique_ptr<MetricsPort> metrics_port_;  // nullptr: none
};

}  // namespace telemetry::collector

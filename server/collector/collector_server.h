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
#include "proto/clock/periodic.h"
#include "server/access/gate.h"
#include "server/access/server_credentials.h"
#include "server/access/token_watch.h"
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
#include "server/net/acceptor.h"
#include "server/storage/sqlite/sqlite_store.h"
#include "server/writer/disk_guard.h"
#include "server/writer/metrics.h"
#include "server/writer/retention.h"
#include "server/writer/writer_loop.h"

namespace telemetry::collector {

struct ServerOptions {
  std::string db;  // a SQLite file, or the url of a PostgreSQL database
  // HOST:PORT, where port 0 takes a free one; empty: no port, only in-process channels.
  std::string listen;
  // The certificate and key of the ports; nothing set: plaintext.
  access::TlsFiles tls;
  // HOST:PORT of the metrics, as above; empty: there are none. Where it stays on this machine, without TLS and tokens.
  std::string metrics_listen;
  // The file of tokens that calls need, on the ports and in-process; empty: everyone may do everything.
  std::string tokens;
  // The time by which a token file counts as unreadable.
  access::TokenWatch::Clock token_clock = &SteadyNow;
  Limits limits;
  RetentionOptions retention;
  storage::WriterOptions writer;
  // How much of the dataset's disk is free.
  decltype(DiskGuardOptions::free_bytes) free_disk_bytes = &FreeDiskBytes;
  // Called from the writer's thread when the dataset fails; nothing is acknowledged any more. The process should end.
  WriterLoop::OnFatal on_fatal;
  // Called from an acceptor's thread when a port cannot be listened on any more. The process should end.
  std::function<void(const absl::Status&)> on_lost_port;
};

// A running collector: the services, the writer's thread and the port.
class CollectorServer {
 public:
  // Opens the dataset and serves. Errors as storage::OpenWriter, access::ReadTokens and
  // access::MakeServerCredentials; UNAVAILABLE: a port is in use or no address.
  static absl::StatusOr<std::unique_ptr<CollectorServer>> Start(const ServerOptions& options);
  // As Drain, without patience.
  ~CollectorServer();

  // The port; 0 where there is none.
  int port() const { return acceptor_ == nullptr ? 0 : acceptor_->port(); }
  int metrics_port() const { return metrics_port_ == nullptr ? 0 : metrics_port_->port(); }
  // A channel without a network.
  std::shared_ptr<grpc::Channel> InProcessChannel();

  // Stops reading, commits what was read, sends the last Acks and closes the streams with UNAVAILABLE. Calls that are
  // not over after `patience` are cut off. Everything acknowledged is durable.
  void Drain(absl::Duration patience);

 private:
  // The ports and what guards them, open before the dataset: a port that is in use leaves no dataset behind.
  struct Ports;

  static absl::StatusOr<Ports> OpenPorts(const ServerOptions& options);
  CollectorServer(const ServerOptions& options, Ports ports, std::unique_ptr<storage::StoreWriter> writer);
  absl::Status StartServing(std::shared_ptr<grpc::ServerCredentials> credentials);
  // Builds the gRPC server, which takes connections from the acceptor.
  absl::Status Build(std::shared_ptr<grpc::ServerCredentials> credentials);
  // Rechecks the running calls' tokens, and whether the token file is readable. Called by the watch.
  void OnTokensLookedAt();
  // Ends the connection of a peer.
  void EndConnection(const std::string& peer) const;
  void LimitConnections(grpc::ServerBuilder& builder) const;
  CollectorState State();

  const std::string db_;
  const Limits limits_;
  Admission admission_;
  StreamRegistry streams_;
  ProducerRates rates_;
  std::atomic<uint64_t> unread_ack_bytes_ = 0;
  std::atomic<uint64_t> too_large_records_ = 0;
  const std::unique_ptr<access::TokenWatch> tokens_;
  access::Gate gate_;
  const std::unique_ptr<net::ReceiveMeter> meter_;
  RunningCalls calls_;
  CallQueue call_queue_{calls_};
  const std::unique_ptr<CollectorMetrics> metrics_;  // nullptr: none
  ServingHealth health_;
  DiskGuard disk_guard_;
  Retention retention_;
  WriterLoop writer_;
  HealthService health_service_;
  IngestService ingest_;
  ReaderPool readers_;
  DatasetService dataset_;
  DeletionService deletion_;
  std::unique_ptr<grpc::Server> server_;
  std::unique_ptr<grpc::experimental::ExternalConnectionAcceptor> connections_;  // takes them for server_
  std::unique_ptr<net::Acceptor> acceptor_;                                      // nullptr: no port
  std::optional<Periodic> call_watch_;
  std::unique_ptr<MetricsPort> metrics_port_;  // nullptr: none
};

}  // namespace telemetry::collector

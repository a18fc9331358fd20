#include "server/collector/collector_server.h"

#include <grpcpp/ext/proto_server_reflection_plugin.h>
#include <grpcpp/impl/server_builder_option.h>
#include <grpcpp/resource_quota.h>
#include <grpcpp/server_builder.h>

#include <algorithm>
#include <filesystem>
#include <mutex>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "proto/access/address.h"
#include "proto/base/status_macros.h"
#include "proto/base/steady.h"
#include "proto/log/log.h"
#include "server/call/sender.h"
#include "server/collector/connection_limits.h"
#include "server/ingest/ingest_stream.h"
#include "server/storage/any/any_store.h"
#include "server/storage/sqlite/private_file.h"

namespace telemetry::collector {
namespace {

constexpr absl::Duration kMostOftenLooked = absl::Milliseconds(20);
// The bytes that a stream may send ahead of the reads. gRPC's own estimate grows to megabytes.
constexpr int kLookaheadBytes = 256 << 10;
// Each connection keeps a buffer for its next read. Below this limit it is two blocks of 8 KiB; above, gRPC 1.51 uses
// up to 64 KiB.
constexpr int kMaxReadBytes = (12 << 10) - 1;
// The quota is only a backstop: when it is full, gRPC 1.51 ends arbitrary streams and may then use the memory of a
// closed connection.
constexpr size_t kQuotaPerReceived = 4;
constexpr int kReflectionThreads = 16;
constexpr int kMinPingIntervalMs = 5'000;

// Enables the reflection service for all servers that this process builds later, except those built with
// WithoutReflection.
void EnableReflection() {
  static std::once_flag once;
  std::call_once(once, [] { grpc::reflection::InitProtoReflectionServerBuilderPlugin(); });
}

// An option that removes the reflection service from a server. gRPC implements this service, so that its calls do not
// pass our gate; only servers that allow everything to every caller may have it.
class WithoutReflection final : public grpc::ServerBuilderOption {
 public:
  void UpdateArguments(grpc::ChannelArguments* /*arguments*/) override {}
  void UpdatePlugins(std::vector<std::unique_ptr<grpc::ServerBuilderPlugin>>* plugins) override {
    std::erase_if(*plugins, [](const std::unique_ptr<grpc::ServerBuilderPlugin>& plugin) {
      return dynamic_cast<grpc::reflection::ProtoServerReflectionPlugin*>(plugin.get()) != nullptr;
    });
  }
};

// Returns the size of a file, or nullopt if there is no such file.
std::optional<uint64_t> FileBytes(const std::string& path) {
  std::error_code error;
  const uint64_t bytes = std::filesystem::file_size(path, error);
  if (error) return std::nullopt;
  return bytes;
}

// Reports that the free space is unknown, because the disk belongs to the database server.
absl::StatusOr<uint64_t> NoDisk(const std::string& /*path*/) {
  return absl::UnavailableError("the dataset is not on this machine");
}

}  // namespace

struct CollectorServer::Ports {
  std::unique_ptr<access::TokenWatch> tokens;  // nullptr: no tokens
  std::shared_ptr<grpc::ServerCredentials> credentials;
  std::unique_ptr<net::ReceiveMeter> meter;
  std::unique_ptr<net::Acceptor> acceptor;    // nullptr: no port
  std::unique_ptr<MetricsPort> metrics_port;  // nullptr: none
};

absl::StatusOr<std::unique_ptr<CollectorServer>> CollectorServer::Start(const ServerOptions& options) {
  EnableReflection();
  ASSIGN_OR_RETURN(Ports ports, OpenPorts(options));
  if (!storage::any::IsPostgresqlUrl(options.db)) {
    for (const std::string& file : storage::sqlite::TightenDataset(options.db)) {
      log::Warn("restricted a dataset file to its owner: its mode is now 0600", {{"file", file}});
    }
  }
  storage::sqlite::WriterOptions writer_options = options.writer;
  writer_options.on_reseal = [](const storage::sqlite::ResealReport& report) {
    log::Warn("another program wrote to the database file", {{"done", storage::sqlite::DescribeReseal(report)}});
  };
  ASSIGN_OR_RETURN(std::unique_ptr<storage::StoreWriter> writer, storage::any::OpenWriter(options.db, writer_options));
  std::shared_ptr<grpc::ServerCredentials> credentials = std::move(ports.credentials);
  std::unique_ptr<CollectorServer> server(new CollectorServer(options, std::move(ports), std::move(writer)));
  RETURN_IF_ERROR(server->StartServing(std::move(credentials)));
  return server;
}

absl::StatusOr<CollectorServer::Ports> CollectorServer::OpenPorts(const ServerOptions& options) {
  Ports ports{.meter = std::make_unique<net::ReceiveMeter>(options.limits.receive_bytes,
                                                           options.limits.max_batch_bytes + call::kMaxFramingBytes)};
  if (!options.tokens.empty()) {
    ASSIGN_OR_RETURN(std::unique_ptr<access::TokenWatch> watch,
                     access::TokenWatch::Open(options.tokens, options.token_clock));
    ports.tokens = std::move(watch);
  }
  ASSIGN_OR_RETURN(std::shared_ptr<grpc::ServerCredentials> credentials, access::MakeServerCredentials(options.tls));
  ports.credentials = std::move(credentials);
  if (!options.listen.empty()) {
    absl::StatusOr<std::unique_ptr<net::Acceptor>> acceptor =
        net::Acceptor::Open({.address = options.listen,
                             .limits = ComputeConnectionLimits(options.limits),
                             .silent_timeout = options.limits.handshake_timeout,
                             .listener = {.unacknowledged_timeout = options.limits.keepalive_timeout},
                             .on_lost = options.on_lost_port,
                             .meter = ports.meter.get(),
                             .memory_bytes = options.limits.memory_bytes});
    if (!acceptor.ok()) {
      return absl::UnavailableError(
          absl::StrCat("cannot listen on ", options.listen, ": ", acceptor.status().message()));
    }
    ports.acceptor = *std::move(acceptor);
  }
  if (!options.metrics_listen.empty()) {
    MetricsPortOptions port{.address = options.metrics_listen, .on_lost = options.on_lost_port};
    if (!access::StaysOnThisMachine(options.metrics_listen)) {
      port.tls = options.tls;
      port.tokens = ports.tokens.get();
    }
    ASSIGN_OR_RETURN(std::unique_ptr<MetricsPort> opened, MetricsPort::Open(port));
    ports.metrics_port = std::move(opened);
  }
  return ports;
}

CollectorServer::CollectorServer(const ServerOptions& options, Ports ports,
                                 std::unique_ptr<storage::StoreWriter> writer)
    : db_(options.db),
      limits_(options.limits),
      admission_(limits_),
      streams_(limits_),
      rates_(limits_.producer_bytes_per_second),
      tokens_(std::move(ports.tokens)),
      gate_(tokens_.get()),
      meter_(std::move(ports.meter)),
      calls_(gate_, *meter_,
             {.exports = limits_.max_exports,
              .others = limits_.max_streams,
              .calls_per_connection = 2 * limits_.max_streams_per_connection,
              .retry_delay = limits_.retry_delay,
              .on_flood = [this](const std::string& peer) { EndConnection(peer); }}),
      metrics_(options.metrics_listen.empty() ? nullptr : std::make_unique<writer::CollectorMetrics>()),
      disk_guard_({.path = options.db,
                   .keep_free_bytes = limits_.keep_free_bytes,
                   .retry_delay = limits_.retry_delay,
                   .free_bytes = storage::any::IsPostgresqlUrl(options.db) ? &NoDisk : options.free_disk_bytes}),
      retention_(options.retention),
      writer_(std::move(writer), limits_,
              {.on_fatal = options.on_fatal,
               .on_reach = [this](bool is_reachable) { health_.SetReachable(is_reachable); },
               .run_answers = [this](std::function<void()> answers) { call_queue_.Post(std::move(answers)); }},
              disk_guard_, retention_, metrics_.get()),
      health_service_(calls_, limits_.open_timeout),
      ingest_(calls_, {limits_, admission_, writer_, streams_, gate_, rates_, unread_ack_bytes_, too_large_records_}),
      readers_([db = options.db, vfs = options.writer.vfs] {
        return storage::any::OpenReader(db, {.vfs = vfs, .check_acked = false});
      }),
      dataset_(readers_, gate_, calls_,
               {.request_timeout = limits_.open_timeout,
                .unread_timeout = limits_.unread_timeout,
                .export_timeout = limits_.export_timeout,
                .retry_delay = limits_.retry_delay}),
      deletion_(writer_, readers_, gate_, calls_,
                {.request_timeout = limits_.open_timeout,
                 .unread_timeout = limits_.unread_timeout,
                 .call_timeout = limits_.export_timeout}),
      cache_(writer_, readers_, gate_, calls_,
             {.request_timeout = limits_.open_timeout,
              .unread_timeout = limits_.unread_timeout,
              .retry_delay = limits_.retry_delay,
              .budget = limits_.cache,
              .puts = {},
              .clock = options.writer.clock}),
      models_(writer_, readers_, gate_, calls_,
              {.request_timeout = limits_.open_timeout,
               .unread_timeout = limits_.unread_timeout,
               .retry_delay = limits_.retry_delay,
               .most_model_bytes = limits_.models.model_bytes}),
      acceptor_(std::move(ports.acceptor)),
      metrics_port_(std::move(ports.metrics_port)) {}

CollectorServer::~CollectorServer() {
  Drain(absl::ZeroDuration());
  metrics_port_.reset();
}

absl::Status CollectorServer::StartServing(std::shared_ptr<grpc::ServerCredentials> credentials) {
  RETURN_IF_ERROR(Build(std::move(credentials)));
  if (acceptor_ != nullptr) {
    acceptor_->Start(
        [this](int fd) {
          grpc::experimental::ExternalConnectionAcceptor::NewConnectionParameters connection;
          connection.fd = fd;
          connections_->HandleNewConnection(&connection);
        },
        [this] { return call_queue_.Supervise(); });
  }
  // Checks often enough for the shortest timeout.
  const absl::Duration shortest = std::min({limits_.open_timeout, limits_.unread_timeout, limits_.stream_idle_timeout,
                                            limits_.export_timeout, absl::Seconds(1)});
  call_watch_.emplace(std::max(shortest / 4, kMostOftenLooked), [this] { calls_.CheckTimes(SteadyNow()); });
  health_.Begin(&health_service_);
  disk_guard_.Start([this](bool has_room) { health_.SetHasRoom(has_room); });
  if (tokens_ != nullptr) tokens_->Start([this] { OnTokensLookedAt(); });
  if (metrics_port_ != nullptr) {
    metrics_port_->Start([this] { return metrics_->Text([this] { return State(); }); });
  }
  return absl::OkStatus();
}

absl::Status CollectorServer::Build(std::shared_ptr<grpc::ServerCredentials> credentials) {
  grpc::ServerBuilder builder;
  LimitConnections(builder);
  builder.RegisterService(&ingest_);
  builder.RegisterService(&dataset_);
  builder.RegisterService(&deletion_);
  builder.RegisterService(&cache_);
  builder.RegisterService(&models_);
  builder.RegisterService(&health_service_);
  call_queue_.AddTo(builder);
  if (tokens_ != nullptr) builder.SetOption(std::make_unique<WithoutReflection>());
  if (acceptor_ != nullptr) {
    connections_ = builder.experimental().AddExternalConnectionAcceptor(
        grpc::ServerBuilder::experimental_type::ExternalConnectionType::FROM_FD, std::move(credentials));
  }
  server_ = builder.BuildAndStart();
  if (server_ == nullptr) return absl::InternalError("gRPC cannot start the server; see the log");
  for (call::RawService* service :
       std::initializer_list<call::RawService*>{&ingest_, &dataset_, &deletion_, &cache_, &models_, &health_service_}) {
    service->Start(call_queue_);
  }
  call_queue_.Start();
  return absl::OkStatus();
}

void CollectorServer::OnTokensLookedAt() {
  calls_.Recheck();
  health_.SetLetsIn(tokens_->CheckReadable().ok());
}

void CollectorServer::EndConnection(const std::string& peer) const {
  const std::optional<net::Peer> parsed = call::ParsePeer(peer);
  if (acceptor_ != nullptr && parsed.has_value()) acceptor_->EndConnection(*parsed);
}

void CollectorServer::LimitConnections(grpc::ServerBuilder& builder) const {
  const auto set = [&builder](const char* name, int value) { builder.AddChannelArgument(name, value); };
  const auto set_time = [&set](const char* name, absl::Duration value) {
    set(name, static_cast<int>(absl::ToInt64Milliseconds(value)));
  };
  set_time(GRPC_ARG_SERVER_HANDSHAKE_TIMEOUT_MS, limits_.handshake_timeout);
  set_time(GRPC_ARG_MAX_CONNECTION_IDLE_MS, limits_.connection_idle_timeout);
  set_time(GRPC_ARG_KEEPALIVE_TIME_MS, limits_.keepalive_time);
  set_time(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, limits_.keepalive_timeout);
  set(GRPC_ARG_MAX_CONCURRENT_STREAMS, static_cast<int>(limits_.max_streams_per_connection));
  set(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1);
  set(GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS, kMinPingIntervalMs);
  set(GRPC_ARG_HTTP2_BDP_PROBE, 0);
  set(GRPC_ARG_HTTP2_STREAM_LOOKAHEAD_BYTES, kLookaheadBytes);
  set(GRPC_ARG_TCP_MAX_READ_CHUNK_SIZE, kMaxReadBytes);
  // Compression is disabled because gRPC decompresses an entire message before it checks the size.
  set(GRPC_COMPRESSION_CHANNEL_ENABLED_ALGORITHMS_BITSET, 1 << GRPC_COMPRESS_NONE);
  builder.SetMaxReceiveMessageSize(static_cast<int>(limits_.max_batch_bytes + call::kMaxFramingBytes));
  grpc::ResourceQuota quota("collector");
  // The meter normally ends connections before the quota is full. The quota covers a burst between two readings.
  quota.Resize(kQuotaPerReceived * limits_.receive_bytes);
  // The reflection service uses one thread for each call; no other service uses any.
  quota.SetMaxThreads(kReflectionThreads);
  builder.SetResourceQuota(quota);
}

writer::CollectorState CollectorServer::State() {
  const ingest::Admission::State admission = admission_.state();
  const access::Gate::Refusals refusals = gate_.refusals();
  const ingest::StreamRegistry::Counts ended = streams_.counts();
  const writer::DiskGuard::State disk = disk_guard_.state();
  writer::CollectorState state = {.in_flight_bytes = admission.used_bytes,
                                  .in_flight_limit_bytes = limits_.in_flight_bytes,
                                  .window_bytes = limits_.window_bytes,
                                  .waiting_batches = admission.waiting,
                                  .waiting_bytes = admission.waiting_bytes,
                                  .unread_ack_bytes = unread_ack_bytes_,
                                  .streams = calls_.CountCalls(ingest::IngestStream::kMethod),
                                  .refused_unauthenticated = refusals.unauthenticated,
                                  .refused_permission_denied = refusals.permission_denied,
                                  .refused_tokens_unreadable = refusals.tokens_unreadable,
                                  .refused_overloaded = admission.turned_away,
                                  .refused_streams = calls_.too_many(),
                                  .refused_streams_of_producer = ended.too_many_of_producer,
                                  .ended_no_open = ended.no_open,
                                  .ended_idle = ended.idle,
                                  .ended_unread = ended.unread + dataset_.overdue_exports(),
                                  .connections = acceptor_ == nullptr ? net::Acceptor::Counts() : acceptor_->counts(),
                                  .delays = rates_.delays(),
                                  .too_large_records = too_large_records_,
                                  .limits = call::LimitValues(limits_),
                                  .refused_disk_full = disk.turned_away,
                                  .disk_keep_free_bytes = disk.keep_free_bytes,
                                  .disk_free_bytes = disk.free_bytes,
                                  .database_bytes = FileBytes(db_),
                                  .wal_bytes = FileBytes(db_ + "-wal"),
                                  .retention = retention_.state()};
  state.refused_puts = cache_.refused_puts();
  if (tokens_ != nullptr) state.tokens_unreadable = tokens_->UnreadableFor();
  const absl::StatusOr<dataset::ReaderPool::Borrowed> reader = readers_.Borrow();
  if (!reader.ok()) return state;
  if (absl::StatusOr<uint64_t> count = (*reader)->CountProducers(); count.ok()) state.producers = *count;
  if (absl::StatusOr<uint64_t> bytes = (*reader)->CacheBytes(); bytes.ok()) state.cache_bytes = *bytes;
  return state;
}

std::shared_ptr<grpc::Channel> CollectorServer::InProcessChannel() { return server_->InProcessChannel({}); }

void CollectorServer::Drain(absl::Duration patience) {
  if (acceptor_ != nullptr) acceptor_->Stop();
  if (server_ != nullptr) {
    disk_guard_.Stop();
    health_.End();
    health_service_.Shutdown();
    if (tokens_ != nullptr) tokens_->Stop();
    call_watch_.reset();
    calls_.Drain();
    server_->Shutdown(absl::ToChronoTime(absl::Now() + patience));
    call_queue_.Stop();
    server_.reset();
  }
  // Calls whose tokens were revoked may have left batches in admission_ and writer_.
  admission_.Stop();
  writer_.Stop();
}

}  // namespace telemetry::collector

#include "server/commands/deletion_place.h"

#include <grpcpp/create_channel.h>

#include <utility>

#include "absl/strings/str_cat.h"
#include "proto/access/grpc_log.h"
#include "proto/base/status_macros.h"
#include "server/dataset/deletion_log.h"
#include "server/storage/any/any_store.h"
#include "server/storage/readers/deletion.h"
#include "telemetry/v1/deletion.grpc.pb.h"

namespace telemetry::commands {
namespace {

// The database itself, opened by this process.
class DatabasePlace final : public DeletionPlace {
 public:
  DatabasePlace(std::unique_ptr<storage::StoreReader> reader, std::unique_ptr<storage::StoreWriter> writer)
      : reader_(std::move(reader)), writer_(std::move(writer)) {}

  absl::Status Delete(const v1::DeleteRequest& request, const StepSink& sink) override {
    dataset::DeletedCounts counts;
    absl::Status status = TryDelete(request, [&](const v1::DeleteStep& step) {
      counts.Add(step);
      sink(step);
    });
    if (!request.dry_run()) dataset::LogDeletion({}, request, counts, std::string(status.message()));
    return status;
  }

 private:
  absl::Status TryDelete(const v1::DeleteRequest& request, const StepSink& sink) {
    ASSIGN_OR_RETURN(storage::readers::Deletion deletion, reader_->BeginDeletion(request));
    while (!deletion.done()) {
      ASSIGN_OR_RETURN(const storage::Removal removal, reader_->Next(deletion));
      ASSIGN_OR_RETURN(v1::DeleteStep step, Take(request, removal));
      step.set_through(deletion.through());
      sink(step);
    }
    return absl::OkStatus();
  }

  absl::StatusOr<v1::DeleteStep> Take(const v1::DeleteRequest& request, const storage::Removal& removal) {
    if (!request.dry_run()) return writer_->RemoveAttempts(removal);
    v1::DeleteStep step;
    step.mutable_attempts()->Add(removal.attempts.begin(), removal.attempts.end());
    return step;
  }

  const std::unique_ptr<storage::StoreReader> reader_;
  const std::unique_ptr<storage::StoreWriter> writer_;  // nullptr in a dry run
};

// The dataset of a collector, reached over gRPC.
class CollectorPlace final : public DeletionPlace {
 public:
  CollectorPlace(const std::string& address, access::Connection connection)
      : address_(address), connection_(std::move(connection)) {
    grpc::ChannelArguments arguments;
    // Detects a collector whose machine has gone down, which TCP alone does not.
    arguments.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS, 60'000);
    arguments.SetInt(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, 20'000);
    stub_ =
        v1::DeletionService::NewStub(grpc::CreateCustomChannel(address, connection_.channel_credentials(), arguments));
  }

  absl::Status Delete(const v1::DeleteRequest& request, const StepSink& sink) override {
    grpc::ClientContext context;
    connection_.Authorize(&context);
    const std::unique_ptr<grpc::ClientReader<v1::DeleteStep>> steps = stub_->Delete(&context, request);
    v1::DeleteStep step;
    while (steps->Read(&step)) sink(step);
    absl::Status status = connection_.CallStatus(steps->Finish());
    if (status.ok()) return status;
    return {status.code(), absl::StrCat("collector ", address_, ": ", status.message())};
  }

 private:
  const std::string address_;
  const access::Connection connection_;
  std::unique_ptr<v1::DeletionService::Stub> stub_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<DeletionPlace>> OpenDatabasePlace(const std::string& db, bool dry_run) {
  // The reader comes first, because it neither creates a file nor changes the schema.
  ASSIGN_OR_RETURN(std::unique_ptr<storage::StoreReader> reader, storage::any::OpenReader(db));
  if (dry_run) return std::make_unique<DatabasePlace>(std::move(reader), nullptr);
  absl::StatusOr<std::unique_ptr<storage::StoreWriter>> writer = storage::any::OpenWriter(db);
  if (absl::IsAlreadyExists(writer.status())) {
    return absl::AlreadyExistsError(
        absl::StrCat(writer.status().message(), ", or delete through the collector with --collector HOST:PORT"));
  }
  if (!writer.ok()) return writer.status();
  return std::make_unique<DatabasePlace>(std::move(reader), *std::move(writer));
}

absl::StatusOr<std::unique_ptr<DeletionPlace>> ConnectToCollectorPlace(const std::string& address,
                                                                       const access::Credentials& credentials) {
  access::QuietGrpc();
  ASSIGN_OR_RETURN(access::Connection connection, access::Connection::Prepare(credentials, address));
  return std::make_unique<CollectorPlace>(address, std::move(connection));
}

}  // namespace telemetry::commands

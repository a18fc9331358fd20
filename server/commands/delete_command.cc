#include "server/commands/delete_command.h"

#include <grpcpp/create_channel.h>

#include <cstdio>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "proto/access/grpc_log.h"
#include "proto/base/status_macros.h"
#include "proto/record/counted.h"
#include "proto/record/ids.h"
#include "server/dataset/deletion_log.h"
#include "server/storage/any/any_store.h"
#include "server/storage/readers/deletion.h"
#include "telemetry/v1/deletion.grpc.pb.h"

namespace telemetry::collector {
namespace {

using StepSink = std::function<void(const v1::DeleteStep&)>;

// A dataset from which attempts can be deleted.
class Place {
 public:
  virtual ~Place() = default;
  // Executes a request as DeletionService.Delete does.
  virtual absl::Status Delete(const v1::DeleteRequest& request, const StepSink& sink) = 0;
};

// The database itself, opened by this process.
class DatabasePlace final : public Place {
 public:
  // Opens the reader first, because the reader neither creates a file nor changes the schema.
  static absl::StatusOr<std::unique_ptr<Place>> Open(const std::string& db, bool dry_run) {
    ASSIGN_OR_RETURN(std::unique_ptr<storage::StoreReader> reader, storage::OpenReader(db));
    if (dry_run) return std::make_unique<DatabasePlace>(std::move(reader), nullptr);
    absl::StatusOr<std::unique_ptr<storage::StoreWriter>> writer = storage::OpenWriter(db);
    if (absl::IsAlreadyExists(writer.status())) {
      return absl::AlreadyExistsError(
          absl::StrCat(writer.status().message(), ", or delete through the collector with --collector HOST:PORT"));
    }
    if (!writer.ok()) return writer.status();
    return std::make_unique<DatabasePlace>(std::move(reader), *std::move(writer));
  }

  DatabasePlace(std::unique_ptr<storage::StoreReader> reader, std::unique_ptr<storage::StoreWriter> writer)
      : reader_(std::move(reader)), writer_(std::move(writer)) {}

  absl::Status Delete(const v1::DeleteRequest& request, const StepSink& sink) override {
    DeletedCounts counts;
    absl::Status status = TryDelete(request, [&](const v1::DeleteStep& step) {
      counts.Add(step);
      sink(step);
    });
    if (!request.dry_run()) LogDeletion({}, request, counts, std::string(status.message()));
    return status;
  }

 private:
  absl::Status TryDelete(const v1::DeleteRequest& request, const StepSink& sink) {
    ASSIGN_OR_RETURN(storage::Deletion deletion, reader_->BeginDeletion(request));
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
class CollectorPlace final : public Place {
 public:
  static absl::StatusOr<std::unique_ptr<Place>> Connect(const std::string& address,
                                                        const access::Credentials& credentials) {
    access::QuietGrpc();
    ASSIGN_OR_RETURN(access::Connection connection, access::Connection::Prepare(credentials, address));
    return std::make_unique<CollectorPlace>(address, std::move(connection));
  }

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
    absl::Status status = connection_.StatusOf(steps->Finish());
    if (status.ok()) return status;
    return {status.code(), absl::StrCat("collector ", address_, ": ", status.message())};
  }

 private:
  const std::string address_;
  const access::Connection connection_;
  std::unique_ptr<v1::DeletionService::Stub> stub_;
};

void Print(const v1::DeletedAttempt& attempt) {
  const bool is_open = attempt.state() == v1::Attempt::STATE_OPEN;
  const std::string kernel = attempt.kernel_name().empty() ? "a kernel without a name" : attempt.kernel_name();
  std::printf(
      "attempt %s of %s, run %.12s..., %s, arrived %s, %s%s\n", record::HexEncode(attempt.attempt_id()).c_str(),
      kernel.c_str(), attempt.run_id().c_str(),
      attempt.origin().empty() ? "without an origin" : absl::StrCat("origin ", attempt.origin()).c_str(),
      absl::FormatTime("%Y-%m-%d", absl::FromUnixMicros(attempt.first_received_unix_us()), absl::UTCTimeZone()).c_str(),
      record::Counted(attempt.rows(), "row").c_str(), is_open ? ", still open" : "");
}

std::string Text(const DeletedCounts& counts) {
  return absl::StrCat(record::Counted(counts.attempts, "attempt"), " with ", record::Counted(counts.rows, "row"));
}

bool Confirm(const DeletedCounts& counts) {
  std::printf("Delete %s? Type yes: ", Text(counts).c_str());
  std::fflush(stdout);
  char answer[16] = {};
  return std::fgets(answer, sizeof answer, stdin) != nullptr && std::string_view(answer) == "yes\n";
}

}  // namespace

absl::Status Delete(const DeleteFlags& flags) {
  ASSIGN_OR_RETURN(const std::unique_ptr<Place> place,
                   flags.collector.empty() ? DatabasePlace::Open(flags.db, flags.request.dry_run())
                                           : CollectorPlace::Connect(flags.collector, flags.credentials));
  v1::DeleteRequest request = flags.request;
  request.set_dry_run(true);
  DeletedCounts planned;
  absl::Status status = place->Delete(request, [&](const v1::DeleteStep& step) {
    for (const v1::DeletedAttempt& attempt : step.attempts()) Print(attempt);
    planned.Add(step);
    request.set_through(step.through());
  });
  if (!status.ok()) return status;
  if (flags.request.dry_run()) {
    std::printf("would delete %s, and the runs that have no other attempts\n", Text(planned).c_str());
    return absl::OkStatus();
  }
  if (!flags.yes && !Confirm(planned)) return absl::CancelledError("nothing is deleted: the answer was not yes");
  request.set_dry_run(false);
  DeletedCounts deleted;
  status = place->Delete(request, [&](const v1::DeleteStep& step) { deleted.Add(step); });
  std::printf("deleted %s, and %s that had no other attempts\n", Text(deleted).c_str(),
              record::Counted(deleted.runs, "run").c_str());
  return status;
}

}  // namespace telemetry::collector

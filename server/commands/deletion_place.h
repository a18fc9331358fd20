#pragma once

#include <functional>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "proto/access/credentials.h"
#include "telemetry/v1/deletion.pb.h"

namespace telemetry::commands {

// A dataset from which attempts can be deleted.
class DeletionPlace {
 public:
  using StepSink = std::function<void(const v1::DeleteStep&)>;

  virtual ~DeletionPlace() = default;
  // Executes a request as DeletionService.Delete does.
  virtual absl::Status Delete(const v1::DeleteRequest& request, const StepSink& sink) = 0;
};

// Opens the database in this process. Errors: those of storage::OpenReader and storage::OpenWriter.
absl::StatusOr<std::unique_ptr<DeletionPlace>> OpenDatabasePlace(const std::string& db, bool dry_run);

// Connects to a collector. Errors: those of access::Connection::Prepare.
absl::StatusOr<std::unique_ptr<DeletionPlace>> ConnectToCollectorPlace(const std::string& address,
                                                                       const access::Credentials& credentials);

}  // namespace telemetry::commands

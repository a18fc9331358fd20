#pragma once

#include <functional>
#include <stop_token>
#include <string>

#include "absl/status/status.h"
#include "proto/access/credentials.h"
#include "telemetry/v1/dataset.pb.h"

namespace telemetry::exporter {

// Receives a dataset item by item. An error ends the delivery.
using ItemSink = std::function<absl::Status(v1::ExportItem)>;

// Delivers the requested part of a dataset in the order of dataset.proto. Returns the error of the sink or its own.
using DatasetSource = std::function<absl::Status(const v1::ExportRequest&, const ItemSink&)>;

// Returns a source that reads a database file, whether a collector serves it or not. Errors of the source: NOT_FOUND if
// there is no such file, FAILED_PRECONDITION for a newer database, DATA_LOSS or INTERNAL if the database cannot be
// read.
DatasetSource FromDatabase(std::string path);

// Returns a source that reads from the collector at HOST:PORT with the credentials. Errors of the source: UNAVAILABLE
// if the collector cannot be reached or the connection is lost, UNAUTHENTICATED or PERMISSION_DENIED if it refuses the
// credentials, CANCELLED after a stop request (also while the collector sends nothing), else the status of the service.
DatasetSource FromCollector(std::string address, access::Credentials credentials = {}, std::stop_token stop = {});

}  // namespace telemetry::exporter

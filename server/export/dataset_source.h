#pragma once

#include <functional>
#include <stop_token>
#include <string>

#include "absl/status/status.h"
#include "proto/access/credentials.h"
#include "telemetry/v1/dataset.pb.h"

namespace telemetry::exporter {

// Receives a dataset item by item; its error ends the delivery. The item is valid during the call.
using ItemSink = std::function<absl::Status(const v1::ExportItem&)>;

// Delivers the part of a dataset that is asked for in the order of dataset.proto and returns the sink's error or its
// own.
using DatasetSource = std::function<absl::Status(const v1::ExportRequest&, const ItemSink&)>;

// A database file, served or not. NOT_FOUND: no such file. FAILED_PRECONDITION: a newer database. DATA_LOSS, INTERNAL:
// it cannot be read.
DatasetSource FromDatabase(std::string path);

// A running collector at HOST:PORT, which is shown the credentials. UNAVAILABLE: it cannot be reached or went away;
// UNAUTHENTICATED, PERMISSION_DENIED: the credentials; otherwise the service's status. CANCELLED: a stop came, also
// while the collector was silent.
DatasetSource FromCollector(std::string address, access::Credentials credentials = {}, std::stop_token stop = {});

}  // namespace telemetry::exporter

#pragma once

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "server/web/api/call.h"

namespace telemetry::web::api {

// The answers of openapi.yaml, one function for each endpoint.
absl::Status GetOverview(const Call& call, json::JsonWriter& out);
absl::Status ListRuns(const Call& call, json::JsonWriter& out);
absl::Status GetFacets(const Call& call, json::JsonWriter& out);
absl::Status GetRun(const Call& call, json::JsonWriter& out);
absl::Status GetConvergence(const Call& call, json::JsonWriter& out);
absl::Status GetKnobs(const Call& call, json::JsonWriter& out);
absl::Status GetPoints(const Call& call, json::JsonWriter& out);
absl::Status GetStatuses(const Call& call, json::JsonWriter& out);
absl::Status GetFinals(const Call& call, json::JsonWriter& out);
absl::Status ListRows(const Call& call, json::JsonWriter& out);
absl::Status GetConfig(const Call& call, json::JsonWriter& out);
absl::Status ListGraphs(const Call& call, json::JsonWriter& out);
absl::Status GetGraph(const Call& call, json::JsonWriter& out);
absl::Status GetAttempt(const Call& call, json::JsonWriter& out);
absl::Status ListAttemptEvents(const Call& call, json::JsonWriter& out);
absl::Status Compare(const Call& call, json::JsonWriter& out);
absl::Status ListKernels(const Call& call, json::JsonWriter& out);
absl::Status GetKernel(const Call& call, json::JsonWriter& out);
absl::Status GetKernelHistory(const Call& call, json::JsonWriter& out);
absl::Status GetKernelSource(const Call& call, json::JsonWriter& out);
absl::Status ListRegressions(const Call& call, json::JsonWriter& out);
absl::Status ListRejects(const Call& call, json::JsonWriter& out);
absl::Status GetReject(const Call& call, json::JsonWriter& out);
absl::Status ListProducers(const Call& call, json::JsonWriter& out);
absl::Status ListCacheEntries(const Call& call, json::JsonWriter& out);
absl::Status GetCacheEntry(const Call& call, json::JsonWriter& out);
absl::Status ListTokens(const Call& call, json::JsonWriter& out);

// Returns all endpoints.
absl::Span<const Endpoint> Endpoints();

}  // namespace telemetry::web::api

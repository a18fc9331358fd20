#include "server/web/api/endpoints.h"

#include "server/web/api/comparison_item.h"
#include "server/web/api/stamp.h"

namespace telemetry::web::api {
namespace {

constexpr Endpoint kEndpoints[] = {
    {.pattern = "overview", .answer = GetOverview},
    {.pattern = "runs", .answer = ListRuns, .csv_member = "items", .is_paged = true, .stamp = StampOfSummaries},
    {.pattern = "facets", .answer = GetFacets, .stamp = StampOfSummaries},
    {.pattern = "runs/{}", .answer = GetRun},
    {.pattern = "runs/{}/convergence", .answer = GetConvergence, .csv_member = "series", .stamp = StampOfRun},
    {.pattern = "runs/{}/knobs", .answer = GetKnobs, .csv_member = "knobs", .stamp = StampOfRun},
    {.pattern = "runs/{}/points", .answer = GetPoints, .csv_member = "points", .stamp = StampOfRun},
    {.pattern = "runs/{}/statuses", .answer = GetStatuses, .csv_member = "statuses", .stamp = StampOfRun},
    {.pattern = "runs/{}/finals", .answer = GetFinals, .csv_member = "items", .stamp = StampOfRun},
    {.pattern = "runs/{}/rows", .answer = ListRows, .csv_member = "items", .is_paged = true, .stamp = StampOfRun},
    {.pattern = "runs/{}/configs/{}", .answer = GetConfig, .stamp = StampOfRun},
    {.pattern = "runs/{}/graphs", .answer = ListGraphs},
    {.pattern = "runs/{}/graphs/{}", .answer = GetGraph, .csv_member = "nodes"},
    {.pattern = "attempts/{}", .answer = GetAttempt},
    {.pattern = "attempts/{}/events", .answer = ListAttemptEvents, .csv_member = "items", .is_paged = true},
    {.pattern = "compare", .answer = Compare, .csv_member = "configs", .stamp = StampOfItems},
    {.pattern = "kernels", .answer = ListKernels, .csv_member = "items", .is_paged = true, .stamp = StampOfSummaries},
    {.pattern = "kernel", .answer = GetKernel, .csv_member = "cells"},
    {.pattern = "kernel/history", .answer = GetKernelHistory, .csv_member = "points"},
    {.pattern = "kernel/source", .answer = GetKernelSource},
    {.pattern = "regressions", .answer = ListRegressions, .csv_member = "items", .is_paged = true},
    {.pattern = "rejects", .answer = ListRejects, .csv_member = "items", .is_paged = true},
    {.pattern = "rejects/{}", .answer = GetReject},
    {.pattern = "producers", .answer = ListProducers, .csv_member = "items", .is_paged = true},
    {.pattern = "cache", .answer = ListCacheEntries, .csv_member = "items", .is_paged = true},
    {.pattern = "cache/{}", .answer = GetCacheEntry},
    {.pattern = "tokens", .answer = ListTokens, .csv_member = "items"},
};

}  // namespace

absl::Span<const Endpoint> Endpoints() { return kEndpoints; }

}  // namespace telemetry::web::api

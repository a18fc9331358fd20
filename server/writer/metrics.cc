#include "server/writer/metrics.h"

#include <prometheus/counter.h>
#include <prometheus/family.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>

#include <array>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"

namespace telemetry::writer {
namespace {

using prometheus::MetricFamily;
using prometheus::MetricType;

const prometheus::Histogram::BucketBoundaries kCommitSeconds = {0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05,
                                                                0.1,    0.25,  0.5,    1,     2.5,  5,     10};
const prometheus::Histogram::BucketBoundaries kCommitRecords = {1,    3,    10,    30,    100,  300,
                                                                1000, 3000, 10000, 20000, 65536};

// Returns the label of a reason: "not_yours" for REASON_NOT_YOURS.
std::string ReasonLabel(v1::Reject::Reason reason) {
  return absl::AsciiStrToLower(absl::StripPrefix(v1::Reject::Reason_Name(reason), "REASON_"));
}

prometheus::Counter& AddCounter(prometheus::Registry& registry, const std::string& name, const std::string& help) {
  return prometheus::BuildCounter().Name(name).Help(help).Register(registry).Add({});
}

prometheus::Histogram& AddHistogram(prometheus::Registry& registry, const std::string& name, const std::string& help,
                                    const prometheus::Histogram::BucketBoundaries& buckets) {
  return prometheus::BuildHistogram().Name(name).Help(help).Register(registry).Add({}, buckets);
}

MetricFamily GaugeFamily(const std::string& name, const std::string& help, std::optional<uint64_t> value) {
  MetricFamily family{.name = name, .help = help, .type = MetricType::Gauge};
  if (!value) return family;
  family.metric.emplace_back().gauge.value = static_cast<double>(*value);
  return family;
}

std::optional<uint64_t> WholeSeconds(std::optional<absl::Duration> duration) {
  if (!duration) return std::nullopt;
  return static_cast<uint64_t>(absl::ToInt64Seconds(*duration));
}

using LabelledValues = std::vector<std::pair<const char*, double>>;

MetricFamily LabelledFamily(const std::string& name, const std::string& help, MetricType type, const char* label,
                            const LabelledValues& values) {
  MetricFamily family{.name = name, .help = help, .type = type};
  for (const auto& [text, value] : values) {
    prometheus::ClientMetric& metric = family.metric.emplace_back();
    metric.label.push_back({label, text});
    (type == MetricType::Gauge ? metric.gauge.value : metric.counter.value) = value;
  }
  return family;
}

MetricFamily CounterFamily(const std::string& name, const std::string& help, uint64_t value) {
  MetricFamily family{.name = name, .help = help, .type = MetricType::Counter};
  family.metric.emplace_back().counter.value = static_cast<double>(value);
  return family;
}

MetricFamily RefusedFamily(const CollectorState& state) {
  const auto count = [](uint64_t value) { return static_cast<double>(value); };
  return LabelledFamily("telemetry_calls_refused_total", "Calls that were rejected, by reason", MetricType::Counter,
                        "reason",
                        {{"unauthenticated", count(state.refused_unauthenticated)},
                         {"permission_denied", count(state.refused_permission_denied)},
                         {"tokens_unreadable", count(state.refused_tokens_unreadable)},
                         {"overloaded", count(state.refused_overloaded)},
                         {"disk_full", count(state.refused_disk_full)},
                         {"too_many_puts", count(state.refused_puts)},
                         {"too_many_streams", count(state.refused_streams)},
                         {"too_many_streams_of_producer", count(state.refused_streams_of_producer)}});
}

MetricFamily EndedFamily(const CollectorState& state) {
  const auto count = [](uint64_t value) { return static_cast<double>(value); };
  return LabelledFamily("telemetry_streams_ended_total",
                        "Streams that were ended because the client exceeded a timeout, by timeout",
                        MetricType::Counter, "reason",
                        {{"no_open", count(state.ended_no_open)},
                         {"idle", count(state.ended_idle)},
                         {"unread", count(state.ended_unread)}});
}

MetricFamily ConnectionsRefusedFamily(const net::Acceptor::Counts& connections) {
  const auto count = [](uint64_t value) { return static_cast<double>(value); };
  return LabelledFamily("telemetry_connections_refused_total", "Connections that were reset, by reason",
                        MetricType::Counter, "reason",
                        {{"too_many", count(connections.refused)},
                         {"too_many_of_address", count(connections.refused_network)},
                         {"shunned", count(connections.shunned)},
                         {"made_room", count(connections.made_room)},
                         {"silent", count(connections.silent)},
                         {"no_descriptor", count(connections.dropped)},
                         {"too_many_calls", count(connections.ended)}});
}

}  // namespace

// The metrics that are counted when an event happens. Every reason is exported from the start, because a rate needs an
// initial 0.
struct CollectorMetrics::Families {
  Families() {
    auto& rejected = prometheus::BuildCounter()
                         .Name("telemetry_records_rejected_total")
                         .Help("Records that were refused, by reason")
                         .Register(*registry);
    for (int reason = v1::Reject::Reason_MIN + 1; reason <= v1::Reject::Reason_MAX; ++reason) {
      rejects[reason] = &rejected.Add({{"reason", ReasonLabel(static_cast<v1::Reject::Reason>(reason))}});
    }
    rejects[v1::Reject::REASON_UNSPECIFIED] = &rejected.Add({{"reason", "unspecified"}});
    prometheus::BuildGauge()
        .Name("telemetry_build_info")
        .Help("Constant 1; the label is the running version")
        .Register(*registry)
        .Add({{"version", TELEMETRY_VERSION}})
        .Set(1);
  }

  const std::shared_ptr<prometheus::Registry> registry = std::make_shared<prometheus::Registry>();
  prometheus::Counter& accepted =
      AddCounter(*registry, "telemetry_records_accepted_total", "Records that were new and are durable");
  prometheus::Counter& duplicate =
      AddCounter(*registry, "telemetry_records_duplicate_total",
                 "Records that had been committed before, or whose content was stored already");
  prometheus::Family<prometheus::Counter>& all_lost =
      prometheus::BuildCounter()
          .Name("telemetry_acknowledged_records_lost_total")
          .Help("Acknowledged records that the dataset no longer has; producers send those again that they still have")
          .Register(*registry);
  prometheus::Counter& lost = all_lost.Add({{"reported_by", "collector"}});
  prometheus::Counter& claimed = all_lost.Add({{"reported_by", "producer"}});
  prometheus::Counter& cache_puts =
      AddCounter(*registry, "telemetry_cache_puts_total", "Entries that were stored in the cache and are durable");
  prometheus::Counter& cache_removed =
      AddCounter(*registry, "telemetry_cache_entries_removed_total",
                 "Entries that were removed from the cache to make room, or because of their age");
  prometheus::Histogram& commit_seconds =
      AddHistogram(*registry, "telemetry_commit_seconds", "Time from the start of a transaction until it was durable",
                   kCommitSeconds);
  prometheus::Histogram& commit_records =
      AddHistogram(*registry, "telemetry_commit_records", "Records in a transaction", kCommitRecords);
  std::array<prometheus::Counter*, v1::Reject::Reason_ARRAYSIZE> rejects = {};
};

// The metrics that are read for each scrape.
struct CollectorMetrics::StateFamilies {
  static std::vector<MetricFamily> Collect(const CollectorState& state) {
    return {
        GaugeFamily("telemetry_in_flight_bytes",
                    "Bytes in flight: records of all streams that are parsed and not yet committed",
                    state.in_flight_bytes),
        GaugeFamily("telemetry_in_flight_limit_bytes", "Limit of telemetry_in_flight_bytes",
                    state.in_flight_limit_bytes),
        GaugeFamily("telemetry_window_bytes", "Limit of the unacknowledged record bytes of one stream",
                    state.window_bytes),
        GaugeFamily("telemetry_waiting_batches", "Batches that wait for room among the bytes in flight",
                    state.waiting_batches),
        GaugeFamily("telemetry_streams", "Open ingest streams", state.streams),
        GaugeFamily("telemetry_producers", "Producers that the dataset knows", state.producers),
        GaugeFamily("telemetry_cache_bytes", "Bytes that the entries of the cache are charged for", state.cache_bytes),
        GaugeFamily("telemetry_database_bytes", "Size of the database file", state.database_bytes),
        GaugeFamily("telemetry_wal_bytes", "Size of the write-ahead log's file", state.wal_bytes),
        GaugeFamily("telemetry_disk_free_bytes", "Free bytes on the dataset's disk", state.disk_free_bytes),
        GaugeFamily("telemetry_disk_keep_free_bytes", "Free bytes below which records are rejected",
                    state.disk_keep_free_bytes),
        GaugeFamily("telemetry_waiting_bytes", "Bytes of the messages that wait for room", state.waiting_bytes),
        GaugeFamily("telemetry_unread_ack_bytes", "Bytes of rejects in Acks that producers have not read",
                    state.unread_ack_bytes),
        CounterFamily("telemetry_reads_delayed_total",
                      "Batches after which a producer had exceeded its rate and had to wait", state.delays),
        CounterFamily("telemetry_records_too_large_total", "Records that were refused for their size",
                      state.too_large_records),
        CounterFamily("telemetry_retention_attempts_removed_total", "Attempts removed by age or size",
                      state.retention.attempts_removed),
        CounterFamily("telemetry_retention_freed_bytes_total", "Bytes of the database file that were freed for reuse",
                      state.retention.bytes_removed),
        GaugeFamily("telemetry_retention_last_pass_age_seconds", "Time since the end of the last retention pass",
                    WholeSeconds(state.retention.last_pass)),
        GaugeFamily("telemetry_served_seconds", "Time that the dataset has been served, by which its data ages",
                    WholeSeconds(state.retention.served)),
        GaugeFamily("telemetry_tokens_unreadable_seconds",
                    "Time since the token file could last be read; 0: readable, or there is none",
                    WholeSeconds(state.tokens_unreadable)),
        LabelledFamily("telemetry_limit", "The limits that the collector was started with", MetricType::Gauge, "name",
                       state.limits),
        GaugeFamily("telemetry_connections", "Open connections", state.connections.open),
        ConnectionsRefusedFamily(state.connections),
        CounterFamily(
            "telemetry_connection_storms_total",
            "Times that a network was ignored for a moment, because its connections came too fast to reset them",
            state.connections.storms),
        CounterFamily("telemetry_listeners_reopened_total", "Listening sockets that were lost and reopened",
                      state.connections.reopened),
        EndedFamily(state),
        RefusedFamily(state)};
  }
};

CollectorMetrics::CollectorMetrics() : families_(std::make_unique<Families>()) {}

CollectorMetrics::~CollectorMetrics() = default;

std::string CollectorMetrics::Text(const ReadState& read_state) const {
  std::vector<MetricFamily> families = families_->registry->Collect();
  for (MetricFamily& family : StateFamilies::Collect(read_state())) families.push_back(std::move(family));
  return prometheus::TextSerializer().Serialize(families);
}

void CollectorMetrics::AddCommit(absl::Span<const storage::ProducerBatch> batches,
                                 absl::Span<const storage::BatchOutcome> outcomes, absl::Duration took) {
  uint64_t records = 0;
  uint64_t duplicate = 0;
  uint64_t rejected = 0;
  for (size_t i = 0; i < outcomes.size(); ++i) {
    if (!outcomes[i].status.ok()) continue;
    records += batches[i].records.size();
    duplicate += outcomes[i].skipped + outcomes[i].repeated;
    rejected += outcomes[i].refused.size();
    for (const storage::RefusedRecord& refused : outcomes[i].refused) {
      families_->rejects.at(refused.reason)->Increment();
    }
  }
  families_->accepted.Increment(static_cast<double>(records - duplicate - rejected));
  families_->duplicate.Increment(static_cast<double>(duplicate));
  families_->commit_seconds.Observe(absl::ToDoubleSeconds(took));
  families_->commit_records.Observe(static_cast<double>(records));
}

void CollectorMetrics::AddLost(const LostRecords& lost) {
  families_->lost.Increment(static_cast<double>(lost.records));
  families_->claimed.Increment(static_cast<double>(lost.claimed));
}

void CollectorMetrics::AddPuts(absl::Span<const storage::CachePutOutcome> outcomes) {
  for (const storage::CachePutOutcome& outcome : outcomes) {
    if (outcome.status.ok()) families_->cache_puts.Increment();
    families_->cache_removed.Increment(static_cast<double>(outcome.removed));
  }
}

}  // namespace telemetry::writer

#include "server/export/render/attempt_line.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/server/export/memory_dataset.h"

namespace telemetry::exporter::render {
namespace {

TEST(AttemptLine, HoldsAllThatIsKnown) {
  v1::AttemptSummary summary;
  v1::Attempt* attempt = summary.mutable_attempt();
  attempt->set_attempt_id(std::string("\x01\xff") + std::string(14, '\0'));
  attempt->set_run_id(Id64('1'));
  attempt->set_origin("ci/17");
  attempt->set_dialect("pr2750");
  attempt->set_state(v1::Attempt::STATE_COMPLETE);
  attempt->set_started_unix_us(1'700'000'000'000'001);
  attempt->set_search_algorithm("PatternSearch");
  attempt->set_seed(11);
  attempt->set_environment_json(R"({"host": "r1"})");
  attempt->set_counters_json(R"({"tested": 3})");
  summary.set_measurements(6);
  summary.set_best_perf_ms(0.031776);
  EXPECT_EQ(FormatAttempt(summary, {.rows = 4, .ok_rows = 2}),
            "{\"run_id\": \"" + Id64('1') +
                "\", \"attempt_id\": \"01ff0000000000000000000000000000\", \"origin\": \"ci/17\", "
                "\"dialect\": \"pr2750\", \"state\": \"complete\", \"provisional\": false, "
                "\"started\": \"2023-11-14T22:13:20.000001Z\", \"search_algorithm\": \"PatternSearch\", \"seed\": 11, "
                "\"environment\": {\"host\": \"r1\"}, \"counters\": {\"tested\": 3}, \"measurements\": 6, "
                "\"best_perf_ms\": 0.031776, \"exported_rows\": 4, \"exported_ok_rows\": 2}");
}

TEST(AttemptLine, WhatIsNotKnownIsNull) {
  EXPECT_EQ(FormatAttempt({}, {}),
            R"({"run_id": "", "attempt_id": "", "origin": "", "dialect": "", "state": null, "provisional": false, )"
            R"("started": null, "search_algorithm": null, "seed": null, "environment": null, "counters": null, )"
            R"("measurements": 0, "best_perf_ms": null, "exported_rows": 0, "exported_ok_rows": 0})");
}

TEST(AttemptLine, DoesNotSayWhenOrHowItArrived) {
  v1::AttemptSummary early;
  v1::AttemptSummary late;
  early.set_first_received_unix_us(1);
  late.set_first_received_unix_us(2);
  late.mutable_attempt()->add_supersedes(std::string(16, 'x'));
  EXPECT_EQ(FormatAttempt(early, {}), FormatAttempt(late, {}));
}

}  // namespace
}  // namespace telemetry::exporter::render

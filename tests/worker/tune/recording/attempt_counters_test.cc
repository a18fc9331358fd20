#include "worker/tune/recording/attempt_counters.h"

#include <gtest/gtest.h>

#include <cmath>

namespace telemetry::worker::tune::recording {
namespace {

TEST(AttemptCounters, AllAreThere) {
  const AttemptCounters counters = {.configs_tested = 100,
                                    .compile_failures = 1,
                                    .worker_failures = 2,
                                    .accuracy_failures = 3,
                                    .timeouts = 4,
                                    .unique_sources = 90,
                                    .deduplicated = 5,
                                    .filtered = 7,
                                    .generations = 6,
                                    .seconds_total = 12.5,
                                    .seconds_compiling = 20,
                                    .seconds_measuring = 1e-05,
                                    .best_perf_ms = 0.1,
                                    .best_config_id = 0xabc};
  EXPECT_EQ(record::ToJson(CountersJson(counters)),
            R"({"configs_tested": 100, "compile_failures": 1, "worker_failures": 2, "accuracy_failures": 3, )"
            R"("timeouts": 4, "unique_sources": 90, "deduplicated": 5, "filtered": 7, "generations": 6, )"
            R"("seconds_total": 12.5, "seconds_compiling": 20.0, "seconds_measuring": 1e-05, "best_perf_ms": 0.1, )"
            R"("best_config_id": "0000000000000abc"})");
}

TEST(AttemptCounters, WhereNothingWasRightThereIsNoBest) {
  const record::Json json = CountersJson({.seconds_total = std::nan("")});
  for (const char* key : {"best_perf_ms", "best_config_id", "seconds_total"}) {
    EXPECT_TRUE(json.Find(key)->is_null()) << key;
  }
}

}  // namespace
}  // namespace telemetry::worker::tune::recording

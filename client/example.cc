// A complete producer: stores one attempt of a kernel with two configs, one of which failed.
//
//   client-example HOST:PORT SPOOL_DIR

#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "absl/random/random.h"
#include "absl/time/clock.h"
#include "client/producer.h"
#include "proto/base/status_macros.h"
#include "proto/record/ids.h"
#include "proto/record/json.h"
#include "proto/record/sidecar/config_text.h"

namespace {

using telemetry::client::Producer;
using telemetry::record::Json;
namespace record = telemetry::record;
namespace v1 = telemetry::v1;

// Returns the run: the kernel at one set of shapes, dtypes and hardware. Its id is computed from its content, so that
// every machine that runs the same kernel uses the same id.
v1::Run DescribeRun() {
  v1::Run run;
  run.set_kernel_name("softmax");
  run.set_kernel_source("def softmax(x): return torch.softmax(x, dim=-1)");
  run.set_input_shapes("[(4096, 2560)]");
  run.set_dtypes("['torch.float16']");
  run.set_hardware("NVIDIA H100");
  run.set_run_id(
      record::RunIdHelion(run.kernel_source(), Json::Null(), run.input_shapes(), run.dtypes(), run.hardware()));
  return run;
}

// Returns the attempt: one execution of the run. Its id is random, because no other execution has made the same
// measurements.
v1::Attempt BeginAttempt(const std::string& run_id) {
  v1::Attempt attempt;
  absl::BitGen random;
  std::string id(16, '\0');
  for (char& byte : id) byte = static_cast<char>(absl::Uniform<uint8_t>(random));
  attempt.set_attempt_id(id);
  attempt.set_run_id(run_id);
  attempt.set_origin("ci/softmax/1");
  attempt.set_state(v1::Attempt::STATE_OPEN);
  attempt.set_started_unix_us(absl::ToUnixMicros(absl::Now()));
  return attempt;
}

v1::Config DescribeConfig(int num_warps) {
  Json arguments = Json::Object();
  arguments.members.emplace_back("num_warps", Json::Integer(num_warps));
  v1::Config config;
  config.set_config_id(record::ConfigId(arguments));
  config.set_text(record::sidecar::SortedConfigText(arguments));
  return config;
}

absl::Status StoreAttempt(Producer& producer) {
  const v1::Run run = DescribeRun();
  v1::Attempt attempt = BeginAttempt(run.run_id());
  std::vector<v1::Record> records(2);
  *records[0].mutable_run() = run;
  *records[1].mutable_attempt() = attempt;
  for (uint64_t seq = 1; seq <= 2; ++seq) {
    const v1::Config config = DescribeConfig(seq == 1 ? 4 : 32);
    *records.emplace_back().mutable_config() = config;
    v1::Measurement& row = *records.emplace_back().mutable_measurement();
    row.set_attempt_id(attempt.attempt_id());
    row.set_seq(seq);
    row.set_timestamp_s(0.5 * static_cast<double>(seq));
    row.set_config_id(config.config_id());
    row.set_status(seq == 1 ? "ok" : "error");
    if (seq == 1) row.set_perf_ms(0.125);
  }
  attempt.set_state(v1::Attempt::STATE_COMPLETE);
  *records.emplace_back().mutable_attempt() = attempt;
  // A tuner appends each record as soon as it has it. A record may only refer to records before it.
  for (const v1::Record& one : records) {
    RETURN_IF_ERROR(producer.Append(one));
  }
  // Optional: without this call, the next process sends the records that are left in the spool.
  return producer.Drain(absl::Minutes(1));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: %s HOST:PORT SPOOL_DIR\n", argv[0]);
    return 2;
  }
  const auto producer =
      Producer::Open({.collector = argv[1],
                      .spool_dir = argv[2],  // one process at a time
                      .client_name = "my-tuner/1.0",
                      .on_notice = [](const std::string& text) { std::fprintf(stderr, "%s\n", text.c_str()); }});
  absl::Status status = producer.status();
  if (producer.ok()) status = StoreAttempt(**producer);
  if (!status.ok()) std::fprintf(stderr, "%s\n", status.ToString().c_str());
  return status.ok() ? 0 : 1;
}

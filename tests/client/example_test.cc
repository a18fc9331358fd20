// The example of client/README.md, compiled and run.

#include "client/producer.h"
#include "gtest/gtest.h"
#include "tests/client/fake_collector.h"
#include "tests/client/spool_fixture.h"

namespace telemetry::client {
namespace {

absl::Status Tune(const std::string& collector, const std::string& spool_dir) {
  auto producer = Producer::Open({.collector = collector,
                                  .spool_dir = spool_dir,
                                  .client_name = "my-tuner/1.0",
                                  .on_notice = [](const std::string& text) { fprintf(stderr, "%s\n", text.c_str()); },
                                  .on_refused = nullptr,
                                  .on_committed = nullptr});
  if (!producer.ok()) return producer.status();
  v1::Record record;
  record.mutable_run()->set_run_id(std::string(64, 'a'));
  record.mutable_run()->set_kernel_name("softmax");
  absl::Status status = (*producer)->Append(record);
  if (!status.ok()) return status;
  v1::Measurement* row = record.mutable_measurement();
  row->set_attempt_id(std::string(16, '\1'));
  row->set_seq(1);
  row->set_status("ok");
  row->set_perf_ms(0.125);
  status = (*producer)->Append(record);
  if (!status.ok()) return status;
  return (*producer)->Drain(absl::Minutes(1));  // optional: the next process sends what is left
}

TEST(ExampleTest, Works) {
  const TempFolder folder;
  FakeCollector collector(folder.path());
  collector.Start();
  const absl::Status status = Tune(collector.address(), folder.path() + "/spool");
  EXPECT_TRUE(status.ok()) << status;
  EXPECT_EQ(collector.AwaitStored(2).front(), "softmax");
}

}  // namespace
}  // namespace telemetry::client

#include "server/export/read_ahead.h"

#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/synchronization/notification.h"

namespace telemetry::exporter {
namespace {

v1::ExportItem Item(uint64_t number, size_t bytes = 0) {
  v1::ExportItem item;
  v1::Measurement* row = item.mutable_rows()->add_measurements();
  row->set_seq(number);
  row->set_status(std::string(bytes, 'x'));
  return item;
}

uint64_t NumberOf(const v1::ExportItem& item) { return item.rows().measurements(0).seq(); }

TEST(ReadAhead, TheSinkGetsAllItemsInTheirOrderOnTheThreadOfTheCaller) {
  const DatasetSource source = ReadAhead([](const v1::ExportRequest& request, const ItemSink& sink) {
    EXPECT_TRUE(request.details());
    for (uint64_t i = 0; i < 1000; ++i) {
      if (absl::Status status = sink(Item(i, 10'000)); !status.ok()) return status;
    }
    return absl::OkStatus();
  });
  v1::ExportRequest request;
  request.set_details(true);
  uint64_t next = 0;
  const auto caller = std::this_thread::get_id();
  const absl::Status status = source(request, [&](const v1::ExportItem& item) {
    EXPECT_EQ(NumberOf(item), next++);
    EXPECT_EQ(std::this_thread::get_id(), caller);
    return absl::OkStatus();
  });
  EXPECT_TRUE(status.ok()) << status;
  EXPECT_EQ(next, 1000u);
}

TEST(ReadAhead, TheItemsBeforeAnErrorOfTheSourceArriveThenItsError) {
  const DatasetSource source = ReadAhead([](const v1::ExportRequest&, const ItemSink& sink) {
    EXPECT_TRUE(sink(Item(0)).ok());
    return absl::DataLossError("damaged");
  });
  int items = 0;
  const absl::Status status = source({}, [&](const v1::ExportItem&) { return ++items, absl::OkStatus(); });
  EXPECT_EQ(status, absl::DataLossError("damaged"));
  EXPECT_EQ(items, 1);
}

TEST(ReadAhead, AnErrorOfTheSinkEndsTheSourceAlsoWhileItWaits) {
  const DatasetSource source = ReadAhead([](const v1::ExportRequest&, const ItemSink& sink) {
    for (uint64_t i = 0;; ++i) {
      if (absl::Status status = sink(Item(i, size_t{1} << 20)); !status.ok()) return status;
    }
  });
  EXPECT_EQ(source({}, [](const v1::ExportItem&) { return absl::ResourceExhaustedError("the disk is full"); }),
            absl::ResourceExhaustedError("the disk is full"));
}

TEST(ReadAhead, TheSourceWaitsForASlowSink) {
  constexpr size_t kItemBytes = size_t{1} << 20;
  std::atomic<uint64_t> sent = 0;
  absl::Notification used_first;
  const DatasetSource source = ReadAhead([&](const v1::ExportRequest&, const ItemSink& sink) {
    for (; sent < 20; ++sent) {
      EXPECT_TRUE(sent < 10 || used_first.HasBeenNotified()) << "ten items were read while the sink used the first";
      if (absl::Status status = sink(Item(sent, kItemBytes)); !status.ok()) return status;
    }
    return absl::OkStatus();
  });
  const absl::Status status = source({}, [&](const v1::ExportItem& item) {
    if (NumberOf(item) > 0) return absl::OkStatus();
    // The source fills the queue meanwhile.
    while (sent < 4) std::this_thread::yield();
    used_first.Notify();
    return absl::OkStatus();
  });
  EXPECT_TRUE(status.ok()) << status;
  EXPECT_EQ(sent, 20u);
}

}  // namespace
}  // namespace telemetry::exporter

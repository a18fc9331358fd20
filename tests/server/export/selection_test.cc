#include "server/export/selection.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace telemetry::exporter {
namespace {

using testing::HasSubstr;
using testing::Not;

v1::FilterValues Existing() {
  v1::FilterValues values;
  for (const char* kernel : {"add", "long_sum", "softmax", "softmax_two_pass"}) values.add_kernel_names(kernel);
  for (const char* device : {"NVIDIA B200", "NVIDIA H200"}) values.add_hardware(device);
  for (const char* status : {"error", "ok", "started"}) values.add_statuses(status);
  return values;
}

std::string Explain(const v1::Filter& filter, const v1::FilterValues& values = Existing()) {
  const absl::Status status = NothingSelected(filter, values);
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(status.message()), HasSubstr("--allow-empty"));
  return std::string(status.message());
}

TEST(Selection, AMistypedValueIsAnsweredWithTheOneThatExists) {
  v1::Filter filter;
  filter.set_kernel_name("sofmax");
  EXPECT_THAT(Explain(filter), HasSubstr("no kernel is called 'sofmax'; did you mean 'softmax'?"));
  filter.Clear();
  filter.set_hardware("H200");
  EXPECT_THAT(Explain(filter), HasSubstr("no run is on the device 'H200'; did you mean 'NVIDIA H200'?"));
  filter.set_hardware("nvidia h200");
  EXPECT_THAT(Explain(filter), HasSubstr("did you mean 'NVIDIA H200'?"));
  filter.Clear();
  filter.set_status("OK");
  EXPECT_THAT(Explain(filter), HasSubstr("no row has the status 'OK'; did you mean 'ok'?"));
}

TEST(Selection, EveryMistypedValueIsNamed) {
  v1::Filter filter;
  filter.set_kernel_name("ad");
  filter.set_hardware("NVIDIA H200");
  filter.set_status("eror");
  EXPECT_THAT(Explain(filter), HasSubstr("no kernel is called 'ad'; did you mean 'add'?; no row has the status 'eror'; "
                                         "did you mean 'error'?"));
  EXPECT_THAT(Explain(filter), Not(HasSubstr("H200")));
}

TEST(Selection, AValueThatResemblesNoneIsAnsweredWithAList) {
  v1::Filter filter;
  filter.set_kernel_name("convolution");
  EXPECT_THAT(Explain(filter), HasSubstr("the dataset has 'add', 'long_sum', 'softmax', 'softmax_two_pass'"));
}

TEST(Selection, ACombinationThatNoRowHasIsShown) {
  v1::Filter filter;
  filter.set_kernel_name("add");
  filter.set_run_id("abcd");
  filter.set_status("error");
  filter.set_attempts(v1::Filter::ATTEMPTS_BEST);
  EXPECT_THAT(Explain(filter),
              HasSubstr("no row matches --kernel 'add' --run 'abcd' --status 'error' --attempts best"));
}

TEST(Selection, ACollectorThatDoesNotSayWhatExistsIsNotTakenForOneThatHasNothing) {
  v1::Filter filter;
  filter.set_kernel_name("sofmax");
  EXPECT_THAT(Explain(filter, {}), HasSubstr("no row matches --kernel 'sofmax'"));
}

TEST(Selection, AnEmptyDatasetIsCalledThat) { EXPECT_THAT(Explain({}, {}), HasSubstr("the dataset has no rows")); }

}  // namespace
}  // namespace telemetry::exporter

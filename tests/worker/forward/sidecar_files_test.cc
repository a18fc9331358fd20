#include "worker/forward/sidecar_files.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/worker/forward/test_files.h"

namespace telemetry::worker::forward {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class SidecarFilesTest : public ::testing::Test {
 protected:
  std::vector<std::string> Find(const std::string& name, bool may_come_later = false) {
    std::vector<std::string> bases;
    for (const SidecarFiles& files : FindSidecars(folder_.File(name), may_come_later, &problems_)) {
      bases.push_back(files.base.substr(folder_.path().size() + 1));
    }
    return bases;
  }

  TempFolder folder_;
  std::vector<std::string> problems_;
};

TEST_F(SidecarFilesTest, AFolderHoldsGroupsBelowItEachOnce) {
  for (const char* name : {"a.csv", "a.meta.jsonl", "deep/b.sources.csv", "deep/c.meta.json", "notes.txt", "a.log"}) {
    WriteFile(folder_.File(name), "x");
  }
  EXPECT_THAT(Find(""), ElementsAre("a", "deep/b", "deep/c"));
}

TEST_F(SidecarFilesTest, AnySidecarNamesItsGroup) {
  WriteFile(folder_.File("a.csv"), "x");
  WriteFile(folder_.File("a.ir.jsonl"), "x");
  EXPECT_THAT(Find("a.csv"), ElementsAre("a"));
  EXPECT_THAT(Find("a.ir.jsonl"), ElementsAre("a"));
  EXPECT_THAT(Find("a.wrapper.jsonl"), ElementsAre("a"));
}

TEST_F(SidecarFilesTest, ABasePathLosesItsLastSuffixAsInHelion) {
  WriteFile(folder_.File("v1.1.csv"), "x");
  WriteFile(folder_.File("softmax.csv"), "x");
  EXPECT_THAT(Find("v1.1.0-softmax"), ElementsAre("v1.1"));
  EXPECT_THAT(Find("softmax"), ElementsAre("softmax"));
}

TEST_F(SidecarFilesTest, NothingThereSaysWhatToGive) {
  EXPECT_THAT(Find("nope"), IsEmpty());
  EXPECT_THAT(problems_, ElementsAre(HasSubstr("HELION_AUTOTUNE_LOG")));
  EXPECT_THAT(Find("nope", /*may_come_later=*/true), ElementsAre("nope"));
  EXPECT_THAT(problems_, SizeIs(2));
}

TEST_F(SidecarFilesTest, AnEmptyFolderIsAProblem) {
  EXPECT_THAT(Find(""), IsEmpty());
  EXPECT_THAT(problems_, ElementsAre(HasSubstr("no sidecar")));
}

}  // namespace
}  // namespace telemetry::worker::forward

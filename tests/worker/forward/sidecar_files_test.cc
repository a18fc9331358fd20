#include "worker/forward/sidecar_files.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/worker/forward/temp_folder.h"

namespace telemetry::forward {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class SidecarFilesTest : public ::testing::Test {
 protected:
  std::vector<std::string> Find(const std::string& name, bool may_come_later = false) {
    absl::StatusOr<std::vector<SidecarFiles>> found = FindSidecars(folder_ / name, may_come_later, &problems_);
    EXPECT_TRUE(found.ok()) << found.status();
    std::vector<std::string> bases;
    if (!found.ok()) return bases;
    for (const SidecarFiles& files : *found) bases.push_back(files.base.substr(folder_.path().size() + 1));
    return bases;
  }

  TempFolder folder_;
  std::vector<std::string> problems_;
};

TEST_F(SidecarFilesTest, AFolderHoldsGroupsBelowItEachOnce) {
  for (const char* name : {"a.csv", "a.meta.jsonl", "deep/b.sources.csv", "deep/c.meta.json", "notes.txt", "a.log"}) {
    WriteFile(folder_ / name, "x");
  }
  EXPECT_THAT(Find(""), ElementsAre("a", "deep/b", "deep/c"));
}

TEST_F(SidecarFilesTest, AnySidecarNamesItsGroup) {
  WriteFile(folder_ / "a.csv", "x");
  WriteFile(folder_ / "a.ir.jsonl", "x");
  EXPECT_THAT(Find("a.csv"), ElementsAre("a"));
  EXPECT_THAT(Find("a.ir.jsonl"), ElementsAre("a"));
  EXPECT_THAT(Find("a.wrapper.jsonl"), ElementsAre("a"));
}

TEST_F(SidecarFilesTest, ABasePathLosesItsLastSuffixAsInHelion) {
  WriteFile(folder_ / "v1.1.csv", "x");
  WriteFile(folder_ / "softmax.csv", "x");
  EXPECT_THAT(Find("v1.1.0-softmax"), ElementsAre("v1.1"));
  EXPECT_THAT(Find("softmax"), ElementsAre("softmax"));
}

TEST_F(SidecarFilesTest, NothingThereSaysWhatToGive) {
  const absl::Status status = FindSidecars(folder_ / "nope", false, &problems_).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(status.ToString(), ::testing::HasSubstr("HELION_AUTOTUNE_LOG"));
  EXPECT_THAT(Find("nope", /*may_come_later=*/true), ElementsAre("nope"));
}

TEST_F(SidecarFilesTest, AnEmptyFolderHasNone) { EXPECT_THAT(Find(""), IsEmpty()); }

}  // namespace
}  // namespace telemetry::forward

#include "worker/tune/search/make_search.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/worker/tune/search/spaces.h"

namespace telemetry::worker::tune::search {
namespace {

using codegen::Config;
using testing::HasSubstr;

std::string SearchError(SearchOptions options) {
  const absl::Status status = MakeSearch(LibraryConfigSpace("softmax"), std::move(options)).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  return std::string(status.message());
}

Config WithWarps(int warps) { return *Config::Parse("Config(num_warps=" + std::to_string(warps) + ")"); }

TEST(MakeSearchTest, NamesAlgorithmsAsHelionDoes) {
  std::vector<std::string> names;
  for (const std::string_view algorithm : SearchAlgorithmNames()) {
    auto search =
        MakeSearch(LibraryConfigSpace("softmax"),
                   {.algorithm = std::string(algorithm), .finite_configs = {LibraryConfigSpace("softmax").Default()}});
    ASSERT_TRUE(search.ok()) << search.status();
    names.push_back((*search)->name());
  }
  EXPECT_THAT(names, testing::ElementsAre("FiniteSearch", "RandomSearch", "PatternSearch",
                                          "DifferentialEvolutionSearch", "SurrogateSearch"));
}

TEST(MakeSearchTest, ChoosesForWhoDoesNot) {
  EXPECT_EQ((*MakeSearch(LibraryConfigSpace("softmax"), {}))->name(), "SurrogateSearch");
  EXPECT_EQ((*MakeSearch(LibraryConfigSpace("softmax"), {.finite_configs = {WithWarps(1)}}))->name(), "FiniteSearch");
}

TEST(MakeSearchTest, SaysWhatIsWrong) {
  EXPECT_THAT(SearchError({.algorithm = "annealing"}),
              HasSubstr("choose one of finite, random, pattern, differential_evolution, surrogate"));
  EXPECT_THAT(SearchError({.max_generations = 0}), HasSubstr("max_generations=0"));
  EXPECT_THAT(SearchError({.max_configs = -1}), HasSubstr("max_configs=-1"));
  EXPECT_THAT(SearchError({.algorithm = "finite"}), HasSubstr("pass at least one"));
  EXPECT_THAT(SearchError({.finite_configs = {WithWarps(3), WithWarps(5)}}), HasSubstr("none of the 2 configs"));
}

TEST(MakeSearchTest, FiniteTriesItsConfigsInOrderAndNothingElse) {
  auto search =
      MakeSearch(LibraryConfigSpace("softmax"),
                 {.effort = Effort::kNone, .finite_configs = {WithWarps(8), WithWarps(3), WithWarps(2), WithWarps(8)}});
  ASSERT_TRUE(search.ok()) << search.status();
  const std::vector<Config> all = (*search)->Propose();
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0], *LibraryConfigSpace("softmax").Normalize(WithWarps(8)));
  EXPECT_EQ(all[1], *LibraryConfigSpace("softmax").Normalize(WithWarps(2)));
  EXPECT_THAT((*search)->warnings(), testing::ElementsAre(HasSubstr("num_warps=3")));
  EXPECT_TRUE((*search)->Propose().empty());
}

TEST(MakeSearchTest, NoEffortTriesTheDefaultAndTheStartingPoints) {
  for (const std::string algorithm : {"", "random", "surrogate"}) {
    auto search = MakeSearch(LibraryConfigSpace("softmax"),
                             {.algorithm = algorithm, .effort = Effort::kNone, .starting_points = {WithWarps(8)}});
    ASSERT_TRUE(search.ok()) << search.status();
    EXPECT_EQ((*search)->Propose().size(), 2u);
    EXPECT_TRUE((*search)->Propose().empty());
  }
}

TEST(EffortTest, HasNames) {
  for (const Effort effort : {Effort::kNone, Effort::kQuick, Effort::kFull}) {
    EXPECT_EQ(*ParseEffort(EffortName(effort)), effort);
  }
  EXPECT_THAT(std::string(ParseEffort("max").status().message()), HasSubstr("choose none, quick or full"));
}

}  // namespace
}  // namespace telemetry::worker::tune::search

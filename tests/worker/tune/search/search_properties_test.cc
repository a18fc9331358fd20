#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "proto/base/random.h"
#include "proto/record/strings.h"
#include "tests/worker/tune/search/landscape.h"
#include "tests/worker/tune/search/spaces.h"
#include "worker/tune/search/make_search.h"

namespace telemetry::worker::tune::search {
namespace {

using codegen::Config;
using codegen::ConfigSpace;
using Generations = std::vector<std::vector<Config>>;
using Answer = std::function<std::vector<Trial>(const std::vector<Config>&)>;

std::vector<std::string> RandomAlgorithms() {
  std::vector<std::string> names;
  for (const std::string_view name : SearchAlgorithmNames()) {
    if (name != "finite") names.emplace_back(name);
  }
  return names;
}

std::unique_ptr<SearchAlgorithm> Search(const ConfigSpace& space, SearchOptions options) {
  auto search = MakeSearch(space, std::move(options));
  EXPECT_TRUE(search.ok()) << search.status();
  return *std::move(search);
}

Generations RunToTheEnd(SearchAlgorithm* search, const Answer& answer) {
  Generations generations;
  for (auto generation = search->Propose(); !generation.empty(); generation = search->Propose()) {
    search->Learn(answer(generation));
    generations.push_back(std::move(generation));
  }
  EXPECT_TRUE(search->Propose().empty()) << "a search that is over must not propose again";
  return generations;
}

Answer MeasuredOn(const Landscape& landscape) {
  return [&landscape](const std::vector<Config>& configs) { return landscape.Measure(configs, 1); };
}

std::vector<Trial> AllFail(const std::vector<Config>& configs) {
  std::vector<Trial> trials;
  for (const Config& config : configs) trials.push_back({.config = config});
  return trials;
}

std::vector<std::string> ConfigTexts(const Generations& generations) {
  std::vector<std::string> lines;
  for (const std::vector<Config>& generation : generations) {
    for (const Config& config : generation) lines.push_back(config.ToString());
    lines.emplace_back("--");
  }
  return lines;
}

size_t CountConfigs(const Generations& generations) {
  size_t count = 0;
  for (const std::vector<Config>& generation : generations) count += generation.size();
  return count;
}

class SearchPropertiesTest : public testing::TestWithParam<std::string> {
 protected:
  std::string algorithm() const { return GetParam(); }
};

INSTANTIATE_TEST_SUITE_P(Algorithms, SearchPropertiesTest, testing::ValuesIn(RandomAlgorithms()),
                         [](const auto& info) { return info.param; });

TEST_P(SearchPropertiesTest, ProposesNormalisedConfigsOnceWithinItsLimits) {
  for (const auto& [kernel, space] : LibrarySpaces()) {
    SCOPED_TRACE(kernel);
    const Landscape landscape(space, {.seed = 7});
    const auto search = Search(space, {.algorithm = algorithm(), .seed = 3, .max_generations = 6, .max_configs = 77});
    const Generations generations = RunToTheEnd(search.get(), MeasuredOn(landscape));
    EXPECT_LE(generations.size(), 6u);
    EXPECT_LE(CountConfigs(generations), 77u);
    EXPECT_GE(CountConfigs(generations), 60u);
    EXPECT_EQ(generations.front().front(), space.Default());
    std::set<std::string> seen;
    for (const std::vector<Config>& generation : generations) {
      for (const Config& config : generation) {
        EXPECT_TRUE(seen.insert(config.ToString()).second) << config.ToString() << " twice";
        const absl::StatusOr<Config> normal = space.Normalize(config);
        ASSERT_TRUE(normal.ok()) << normal.status();
        EXPECT_EQ(*normal, config);
      }
    }
  }
}

TEST_P(SearchPropertiesTest, RepeatsItselfForASeedAndTheSameResults) {
  const ConfigSpace& space = LibraryConfigSpace("matmul");
  const Landscape landscape(space, {.seed = 2});
  std::set<std::vector<std::string>> different;
  for (const uint64_t seed : {0, 1, 2, 3}) {
    const SearchOptions options = {.algorithm = algorithm(), .seed = seed, .max_configs = 90};
    const auto once = RunToTheEnd(Search(space, options).get(), MeasuredOn(landscape));
    const auto again = RunToTheEnd(Search(space, options).get(), MeasuredOn(landscape));
    EXPECT_EQ(ConfigTexts(once), ConfigTexts(again));
    different.insert(ConfigTexts(once));
  }
  EXPECT_EQ(different.size(), 4u) << "seeds that make no difference";
}

// Learns results one at a time, with up to 12 configs in flight, and notes how many were learnt before each proposal.
struct Asked {
  std::vector<Config> proposed;
  std::vector<Trial> results;    // in the order in which they were learnt
  std::vector<size_t> learnt;    // before each proposal that was not empty
  std::vector<int> generations;  // of each of those
};

Asked AskInFlight(SearchAlgorithm* search, const Landscape& landscape) {
  Asked asked;
  std::vector<Config> unfinished;
  Random random(5);
  while (true) {
    const std::vector<Config> more = unfinished.size() < 12 ? search->Propose() : std::vector<Config>();
    if (!more.empty()) {
      asked.learnt.push_back(asked.results.size());
      asked.generations.push_back(search->generation());
    }
    asked.proposed.insert(asked.proposed.end(), more.begin(), more.end());
    unfinished.insert(unfinished.end(), more.begin(), more.end());
    if (unfinished.empty()) return asked;
    const auto next = unfinished.begin() + static_cast<std::ptrdiff_t>(random.Index(unfinished.size()));
    asked.results.push_back(landscape.Measure({*next}, 1)[0]);
    unfinished.erase(next);
    search->Learn({asked.results.back()});
  }
}

TEST_P(SearchPropertiesTest, OneThatDoesNotLearnProposesTheSameForAllResults) {
  const ConfigSpace& space = LibraryConfigSpace("softmax");
  const Landscape landscape(space, {.seed = 7});
  const SearchOptions options = {.algorithm = algorithm(), .seed = 3, .max_configs = 90};
  EXPECT_EQ(Learns(options), algorithm() != "random");
  if (!Learns(options)) {
    EXPECT_EQ(ConfigTexts(RunToTheEnd(Search(space, options).get(), MeasuredOn(landscape))),
              ConfigTexts(RunToTheEnd(Search(space, options).get(), AllFail)));
  }
  SearchOptions with_model = options;
  with_model.predict = [](const Config&) { return 1.0; };
  EXPECT_TRUE(Learns(with_model)) << "its model is compared with results";
}

TEST_P(SearchPropertiesTest, TakesResultsInAnyOrderWhileOthersAreUnfinished) {
  const ConfigSpace& space = LibraryConfigSpace("softmax");
  const auto search = Search(space, {.algorithm = algorithm(), .seed = 3, .max_configs = 90, .most_at_once = 4});
  const Asked asked = AskInFlight(search.get(), Landscape(space, {.seed = 7}));
  EXPECT_LE(asked.proposed.size(), 90u);
  EXPECT_GE(asked.proposed.size(), 80u);
  EXPECT_EQ(asked.results.size(), asked.proposed.size());
  EXPECT_TRUE(std::is_sorted(asked.generations.begin(), asked.generations.end()));
  EXPECT_EQ(asked.generations.front(), 0);
  std::set<std::string> seen;
  for (const Config& config : asked.proposed) EXPECT_TRUE(seen.insert(config.ToString()).second) << "twice";
}

// Checks that a search can be resumed: with the same results before each proposal it proposes the same.
TEST_P(SearchPropertiesTest, RepeatsItselfForTheSameResultsBeforeEachProposal) {
  const ConfigSpace& space = LibraryConfigSpace("matmul");
  const SearchOptions options = {.algorithm = algorithm(), .seed = 4, .max_configs = 90, .most_at_once = 4};
  const Asked asked = AskInFlight(Search(space, options).get(), Landscape(space, {.seed = 2}));
  const auto again = Search(space, options);
  std::vector<Config> proposed;
  size_t told = 0;
  for (const size_t learnt : asked.learnt) {
    again->Learn(absl::MakeConstSpan(asked.results).subspan(told, learnt - told));
    told = learnt;
    const std::vector<Config> more = again->Propose();
    EXPECT_FALSE(more.empty());
    proposed.insert(proposed.end(), more.begin(), more.end());
  }
  EXPECT_EQ(proposed, asked.proposed);
}

TEST_P(SearchPropertiesTest, EndsWhereEveryConfigFails) {
  const auto search = Search(LibraryConfigSpace("matmul"), {.algorithm = algorithm(), .effort = Effort::kQuick});
  const Generations generations = RunToTheEnd(search.get(), AllFail);
  EXPECT_GE(CountConfigs(generations), 100u) << "gave up early: something might have run";
  EXPECT_LE(CountConfigs(generations), 200u);
}

TEST_P(SearchPropertiesTest, TriesAllOfATinySpaceAndEnds) {
  const ConfigSpace& space = TinySpace();
  const auto size = static_cast<size_t>(PointSpace(space).size());
  const Landscape landscape(space, {.failures = 0.2});
  for (const bool fails : {false, true}) {
    const auto search = Search(space, {.algorithm = algorithm(), .max_generations = 1000, .max_configs = 10000});
    const Generations generations = RunToTheEnd(search.get(), fails ? Answer(AllFail) : MeasuredOn(landscape));
    EXPECT_EQ(CountConfigs(generations), size);
  }
}

TEST_P(SearchPropertiesTest, BeginsWithTheDefaultAndTheStartingPoints) {
  const ConfigSpace& space = LibraryConfigSpace("softmax");
  const auto search =
      Search(space, {.algorithm = algorithm(),
                     .starting_points = {*Config::Parse("Config(num_warps=8)"), *Config::Parse("Config(num_warps=5)"),
                                         space.Default(), *Config::Parse("Config(block_size=[1])")}});
  const std::vector<Config> first = search->Propose();
  ASSERT_GE(first.size(), 20u);
  EXPECT_EQ(first[0], space.Default());
  EXPECT_EQ(first[1], *space.Normalize(*Config::Parse("Config(num_warps=8)")));
  EXPECT_THAT(search->warnings(), testing::ElementsAre(testing::HasSubstr("Config(num_warps=5) is left out"),
                                                       testing::HasSubstr("no config key 'block_size'")));
}

TEST_P(SearchPropertiesTest, ProposesOneConfigOfThoseThatMakeTheSame) {
  const ConfigSpace& space = LibraryConfigSpace("add");
  const auto warps_of = [](const Config& config) -> absl::StatusOr<std::string> {
    const std::string warps = config.json().Find("num_warps")->text;
    if (warps == "32") return absl::ResourceExhaustedError("too many");
    return warps;
  };
  const auto search = Search(space, {.algorithm = algorithm(), .max_generations = 50, .fingerprint = warps_of});
  const Generations generations = RunToTheEnd(search.get(), MeasuredOn(Landscape(space, {})));
  EXPECT_EQ(CountConfigs(generations), 5u) << "1, 2, 4, 8 and 16 warps";
}

bool HasManyWarps(const Config& config) { return std::stoi(config.json().Find("num_warps")->text) >= 4; }

// Returns the number of configs with at least 4 warps that a search of softmax proposes after its first generation,
// whose configs are proposed before there are results.
int CountLater(const std::string& algorithm, const std::function<double(const Config&)>& least_ms) {
  const ConfigSpace& space = LibraryConfigSpace("softmax");
  const auto search = Search(space, {.algorithm = algorithm, .max_configs = 120, .least_ms = least_ms});
  bool is_first = true;
  int later = 0;
  RunToTheEnd(search.get(), [&](const std::vector<Config>& configs) {
    for (const Config& config : configs) later += !is_first && HasManyWarps(config) ? 1 : 0;
    is_first = false;
    return MeasuredOn(Landscape(space, {.seed = 5}))(configs);
  });
  return later;
}

TEST_P(SearchPropertiesTest, LeavesOutWhatCannotBeFasterThanTheBestResult) {
  const auto slow = [](const Config& config) { return HasManyWarps(config) ? 1e6 : 0; };
  const auto fast = [](const Config& /*config*/) { return 1e-6; };
  EXPECT_GT(CountLater(algorithm(), fast), 0);
  if (algorithm() == "random") {
    EXPECT_EQ(CountLater(algorithm(), slow), CountLater(algorithm(), fast)) << "proposals do not depend on results";
  } else {
    EXPECT_EQ(CountLater(algorithm(), slow), 0);
  }
}

bool HasMostWarps(const Config& config) { return config.json().Find("num_warps")->text == "32"; }

// Returns the number of configs with 32 warps that a search of softmax proposes after its first generation. They
// compile for ten times as long as others.
int CountLaterOfLong(const std::string& algorithm, const std::function<codegen::CodeSize(const Config&)>& size_of) {
  const ConfigSpace& space = LibraryConfigSpace("softmax");
  const auto search = Search(space, {.algorithm = algorithm, .max_configs = 120, .code_size = size_of});
  const Landscape landscape(space, {.seed = 5});
  bool is_first = true;
  int later = 0;
  RunToTheEnd(search.get(), [&](const std::vector<Config>& configs) {
    std::vector<Trial> trials = MeasuredOn(landscape)(configs);
    for (Trial& trial : trials) {
      trial.compile_s = HasMostWarps(trial.config) ? 1 : 0.1;
      later += !is_first && HasMostWarps(trial.config) ? 1 : 0;
    }
    is_first = false;
    return trials;
  });
  return later;
}

TEST_P(SearchPropertiesTest, LeavesOutWhatWouldBeCompiledForMuchLongerThanOthers) {
  const auto size_of = [](const Config& config) {
    return codegen::CodeSize{.characters = HasMostWarps(config) ? 1e4 : 100};
  };
  const int unknown = CountLaterOfLong(algorithm(), nullptr);
  EXPECT_GT(unknown, 0);
  if (algorithm() == "random") {
    EXPECT_EQ(CountLaterOfLong(algorithm(), size_of), unknown) << "proposals do not depend on results";
  } else {
    EXPECT_EQ(CountLaterOfLong(algorithm(), size_of), 0);
  }
}

TEST_P(SearchPropertiesTest, EndsWhereNothingCanBeMade) {
  const auto search = Search(LibraryConfigSpace("matmul"),
                             {.algorithm = algorithm(), .fingerprint = [](const Config&) {
                                return absl::StatusOr<std::string>(absl::ResourceExhaustedError("too large"));
                              }});
  EXPECT_TRUE(search->Propose().empty());
}

TEST_P(SearchPropertiesTest, TakesTimesThatAreNone) {
  const ConfigSpace& space = LibraryConfigSpace("softmax");
  const auto search = Search(space, {.algorithm = algorithm(), .max_configs = 100});
  const Generations generations = RunToTheEnd(search.get(), [](const std::vector<Config>& configs) {
    const std::vector<double> odd_ms = {0, -1, INFINITY, NAN, 1e-300, 1e300, 1};
    std::vector<Trial> trials;
    for (size_t i = 0; i < configs.size(); ++i) {
      trials.push_back({.config = configs[i], .perf_ms = odd_ms[i % odd_ms.size()]});
    }
    return trials;
  });
  EXPECT_EQ(CountConfigs(generations), 100u);
}

// The elements of a config's tile.
int64_t TileElements(const Config& config) {
  int64_t elements = 1;
  for (const record::Json& size : config.json().Find("block_sizes")->items) elements *= std::stoll(size.text);
  return elements;
}

// The landscape's fastest configs have no code, because their tiles are too large: a search that does not learn it
// tries more than 8000 of them.
TEST(SurrogateSearchTest, LearnsWhichConfigsHaveNoCode) {
  const Landscape landscape(LibraryConfigSpace("matmul"), {.seed = 3});
  size_t refused = 0;
  const auto fingerprint = [&](const Config& config) -> absl::StatusOr<std::string> {
    if (TileElements(config) <= 1 << 15) return config.ToString();
    ++refused;
    return absl::ResourceExhaustedError("the tile is too large");
  };
  const auto search = Search(LibraryConfigSpace("matmul"), {.seed = 1, .most_at_once = 4, .fingerprint = fingerprint});
  const size_t configs = CountConfigs(RunToTheEnd(search.get(), MeasuredOn(landscape)));
  EXPECT_EQ(configs, 200u);
  EXPECT_LE(refused, 4 * configs);
}

}  // namespace
}  // namespace telemetry::worker::tune::search

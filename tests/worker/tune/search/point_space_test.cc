#include "worker/tune/search/point_space.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <vector>

#include "tests/worker/tune/search/spaces.h"
#include "worker/codegen/config_parameter.h"
#include "worker/tune/search/permutation.h"
#include "worker/tune/search/sampler.h"
#include "worker/tune/search/tile_shape.h"

namespace telemetry::worker::tune::search {
namespace {

using codegen::ConfigParameter;
using record::Json;
using testing::ElementsAre;

constexpr uint64_t kSeed = 20;

bool Contains(const std::vector<Point>& points, const Point& point) {
  return std::find(points.begin(), points.end(), point) != points.end();
}

TEST(PermutationTest, CountsLexicographically) {
  EXPECT_EQ(PermutationCount(4), 24);
  EXPECT_THAT(PermutationAt(0, 3), ElementsAre(0, 1, 2));
  EXPECT_THAT(PermutationAt(1, 3), ElementsAre(0, 2, 1));
  EXPECT_THAT(PermutationAt(5, 3), ElementsAre(2, 1, 0));
  for (int64_t i = 0; i < 120; ++i) EXPECT_EQ(OrdinalOfPermutation(PermutationAt(i, 5)), i);
}

TEST(DimensionTest, NumbersTheValuesOfEveryParameter) {
  for (const auto& [kernel, space] : LibrarySpaces()) {
    for (const ConfigParameter& parameter : space.parameters()) {
      SCOPED_TRACE(kernel + " " + parameter.key);
      const Dimension dimension(parameter);
      EXPECT_EQ(dimension.ValueAt(dimension.default_ordinal()), parameter.default_value);
      for (int64_t i = 0; i < dimension.count(); ++i) {
        EXPECT_TRUE(codegen::Allows(parameter, dimension.ValueAt(i)));
        EXPECT_EQ(dimension.FindOrdinal(dimension.ValueAt(i)), i);
      }
      EXPECT_EQ(dimension.FindOrdinal(Json::String("no such value")), std::nullopt);
    }
  }
}

TEST(DimensionTest, EveryValueIsReachedByStepsThatLeadBack) {
  std::vector<ConfigParameter> parameters = {
      {.kind = ConfigParameter::Kind::kInteger, .low = -5, .high = 500, .default_value = Json::Integer(0)},
      {.kind = ConfigParameter::Kind::kBoolean, .default_value = Json::Bool(true)},
      {.kind = ConfigParameter::Kind::kPowerOfTwo, .low = 1, .high = 2, .optional = true},
  };
  for (const auto& [kernel, space] : LibrarySpaces()) {
    parameters.insert(parameters.end(), space.parameters().begin(), space.parameters().end());
  }
  for (const ConfigParameter& parameter : parameters) {
    const Dimension dimension(parameter);
    std::set<int64_t> reached = {dimension.default_ordinal()};
    for (std::vector<int64_t> from = {dimension.default_ordinal()}; !from.empty();) {
      const int64_t ordinal = from.back();
      from.pop_back();
      for (const int64_t next : dimension.FindNeighbours(ordinal)) {
        EXPECT_NE(next, ordinal);
        EXPECT_THAT(dimension.FindNeighbours(next), testing::Contains(ordinal)) << parameter.key;
        if (reached.insert(next).second) from.push_back(next);
      }
    }
    EXPECT_EQ(static_cast<int64_t>(reached.size()), dimension.count()) << parameter.key;
  }
}

TEST(PointSpaceTest, IsTheConfigSpaceInNumbers) {
  for (const auto& [kernel, space] : LibrarySpaces()) {
    SCOPED_TRACE(kernel);
    const PointSpace points(space);
    EXPECT_EQ(points.ToConfig(points.Default()), space.Default());
    Random random(kSeed);
    Sampler sampler(&points, &random);
    for (int i = 0; i < 100; ++i) {
      const Point point = sampler.Uniform();
      const codegen::Config config = points.ToConfig(point);
      EXPECT_EQ(points.IsValid(point), space.Normalize(config).ok());
      if (!points.IsValid(point)) continue;
      EXPECT_EQ(*space.Normalize(config), config);
      EXPECT_EQ(*points.ToPoint(config), point);
    }
  }
}

TEST(PointSpaceTest, NeighboursAndTradesLeadBack) {
  for (const auto& [kernel, space] : LibrarySpaces()) {
    SCOPED_TRACE(kernel);
    const PointSpace points(space);
    Random random(kSeed);
    const Point point = Sampler(&points, &random).Plausible();
    for (const Point& near : points.Neighbours(point)) EXPECT_TRUE(Contains(points.Neighbours(near), point));
    for (const Point& trade : points.Trades(point)) EXPECT_TRUE(Contains(points.Trades(trade), point));
  }
}

TEST(PointSpaceTest, CountsEveryPointOfATinySpace) {
  const PointSpace points(TinySpace());
  std::set<Point> all;
  for (int64_t i = 0; i < points.size(); ++i) all.insert(points.PointAt(i));
  EXPECT_EQ(static_cast<int64_t>(all.size()), points.size());
}

TEST(SamplerTest, DrawsTilesThatThreadsCanHold) {
  for (const auto& [kernel, space] : LibrarySpaces()) {
    const PointSpace points(space);
    Random random(kSeed);
    Sampler sampler(&points, &random);
    std::vector<double> drawn;
    std::vector<double> uniform;
    for (int i = 0; i < 200; ++i) {
      drawn.push_back(Implausibility(ComputeTileShape(points, sampler.Plausible())));
      uniform.push_back(Implausibility(ComputeTileShape(points, sampler.Uniform())));
    }
    std::sort(drawn.begin(), drawn.end());
    std::sort(uniform.begin(), uniform.end());
    EXPECT_LE(drawn[100], 2) << kernel;
    EXPECT_LE(drawn[100], uniform[100]) << kernel;
  }
}

TEST(SamplerTest, StaysNearAndMixesWhatItIsGiven) {
  const PointSpace points(LibraryConfigSpace("attention"));
  Random random(kSeed);
  Sampler sampler(&points, &random);
  for (int i = 0; i < 100; ++i) {
    const Point a = sampler.Plausible();
    const Point b = sampler.Plausible();
    const Point near = sampler.Near(a, 1);
    EXPECT_TRUE(near == a || Contains(points.Neighbours(a), near));
    const Point child = sampler.Cross(a, b);
    for (size_t d = 0; d < child.size(); ++d) EXPECT_TRUE(child[d] == a[d] || child[d] == b[d]);
  }
}

TEST(RandomTest, IsTheSameEverywhere) {
  // The first outputs of the authors' C code of SplitMix64 for this seed.
  Random random(1234567);
  EXPECT_EQ(random.Next(), 6457827717110365317u);
  EXPECT_EQ(random.Next(), 3203168211198807973u);
  EXPECT_EQ(random.Next(), 9817491932198370423u);
}

}  // namespace
}  // namespace telemetry::worker::tune::search

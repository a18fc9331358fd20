#include "worker/tune/grid_sample.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

namespace telemetry::worker::tune {
namespace {

using ir::reference::GridPoint;
using testing::Contains;
using testing::ElementsAre;

TEST(GridSampleTest, EachTileHasAPointIfThereAreEnough) {
  const SampledGrid grid = {.extents = {100, 7, 33}, .blocks = {16, 1, 32}};
  std::set<GridPoint> tiles;
  for (const GridPoint& point : ChoosePoints(grid, 7 * 7 * 2, 1)) {
    for (size_t axis = 0; axis < 3; ++axis) ASSERT_LT(point[axis], grid.extents[axis]);
    tiles.insert({point[0] / 16, point[1], point[2] / 32});
  }
  EXPECT_EQ(tiles.size(), 7u * 7u * 2u);
}

TEST(GridSampleTest, ElseEachRowAndColumnOfTilesHasOne) {
  const SampledGrid grid = {.extents = {8192, 8190}, .blocks = {64, 128}};
  const std::vector<GridPoint> points = ChoosePoints(grid, 200, 1);
  EXPECT_EQ(points.size(), 204u);
  std::set<int64_t> rows;
  std::set<int64_t> columns;
  for (const GridPoint& point : points) {
    ASSERT_LT(point[0], 8192);
    ASSERT_LT(point[1], 8190);
    rows.insert(point[0] / 64);
    columns.insert(point[1] / 128);
  }
  EXPECT_EQ(rows.size(), 128u);
  EXPECT_EQ(columns.size(), 64u);
}

TEST(GridSampleTest, HasTheCorners) {
  const std::vector<GridPoint> points = ChoosePoints({.extents = {1000, 1000}, .blocks = {8, 8}}, 3, 1);
  for (const GridPoint& corner : std::vector<GridPoint>{{0, 0}, {999, 0}, {0, 999}, {999, 999}}) {
    EXPECT_THAT(points, Contains(corner));
  }
}

TEST(GridSampleTest, DependsOnTheSeedOnly) {
  const SampledGrid grid = {.extents = {1000}, .blocks = {10}};
  EXPECT_EQ(ChoosePoints(grid, 20, 1), ChoosePoints(grid, 20, 1));
  EXPECT_NE(ChoosePoints(grid, 20, 1), ChoosePoints(grid, 20, 2));
  EXPECT_THAT(ChoosePoints({}, 20, 1), Contains(GridPoint{})) << "a kernel without a grid has one point";
}

}  // namespace
}  // namespace telemetry::worker::tune

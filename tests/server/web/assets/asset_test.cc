#include "server/web/assets/asset.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace telemetry::web::assets {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

TEST(Asset, IsFoundByItsName) {
  const Asset* const page = FindAsset("index.html");
  ASSERT_NE(page, nullptr);
  EXPECT_EQ(page->content_type, "text/html; charset=utf-8");
  EXPECT_THAT(page->plain, StartsWith("<!doctype html>"));
  EXPECT_THAT(page->gzip, StartsWith("\x1f\x8b"));
  EXPECT_LT(page->gzip.size(), page->plain.size());
  for (size_t i = 0; i < kAssetCount; ++i) EXPECT_EQ(FindAsset(kAssets[i].name), &kAssets[i]);
}

TEST(Asset, HasTheLibrariesAndTheirLicences) {
  for (const char* name : {"lib/uplot.js", "lib/dagre.js", "lib/echarts.js", "core/api.js", "style/base.css"}) {
    EXPECT_NE(FindAsset(name), nullptr) << name;
  }
  const Asset* const licences = FindAsset("lib/licenses.txt");
  ASSERT_NE(licences, nullptr);
  EXPECT_THAT(licences->plain, HasSubstr("Apache"));
}

TEST(Asset, IsNothingElse) {
  for (const char* name : {"", "index", "index.html/", "../index.html", "zzz", "lib/", "/index.html"}) {
    EXPECT_EQ(FindAsset(name), nullptr) << name;
  }
}

}  // namespace
}  // namespace telemetry::web::assets

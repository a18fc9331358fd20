#include "worker/wrapper/size_form.h"

#include "gtest/gtest.h"

namespace telemetry::worker::wrapper {
namespace {

const std::vector<PlanSymbol> kSymbols = {{.name = "n", .min = 2, .max = 10, .value = 3},
                                          {.name = "m", .min = 1, .max = 100, .value = 5}};
const SizeForm kN = SizeForm::Symbol(0);
const SizeForm kM = SizeForm::Symbol(1);

TEST(SizeFormTest, IsAPolynomial) {
  const SizeForm product = (kN + 1) * (kM - 2);
  EXPECT_EQ(product, kM * kN + kM - 2 * kN - 2);
  EXPECT_EQ(product.ToString(kSymbols), "m + n * m - 2 * n - 2");
  EXPECT_EQ(product.At(kSymbols), 4 * 3);
  EXPECT_EQ(kN - kN, SizeForm(0));
  EXPECT_EQ((kN - kN).ToString(kSymbols), "0");
  EXPECT_EQ((0 - kN * kN).ToString(kSymbols), "-n * n");
  EXPECT_FALSE(kN * kM == kN * kN);
}

TEST(SizeFormTest, BoundsHoldForAllValues) {
  const SizeForm form = 3 * kN * kM - kM + 7;
  EXPECT_EQ(form.LowerBound(kSymbols), 3 * 2 * 1 - 1 + 7);
  EXPECT_EQ(form.UpperBound(kSymbols), 3 * 10 * 100 - 1 + 7);
  for (int64_t n = 2; n <= 10; ++n) {
    for (int64_t m = 1; m <= 100; ++m) {
      const int64_t value = *form.At(std::vector<PlanSymbol>{{.value = n}, {.value = m}});
      ASSERT_GE(value, *form.LowerBound(kSymbols));
      ASSERT_LE(value, *form.UpperBound(kSymbols));
    }
  }
}

TEST(SizeFormTest, ComparesOnlyWhatIsCertain) {
  EXPECT_TRUE(IsAtMost(kN, kN, kSymbols));
  EXPECT_TRUE(IsAtMost(kN, 10, kSymbols));
  EXPECT_FALSE(IsAtMost(kN, 9, kSymbols));
  EXPECT_TRUE(IsAtMost(kM, kN * kM, kSymbols));
  EXPECT_TRUE(IsAtMost(kN + kM, kN * kM + 1, kSymbols));
  EXPECT_FALSE(IsAtMost(3 * kM, kN * kM, kSymbols));
  EXPECT_FALSE(IsAtMost(kN, kM, kSymbols));
  EXPECT_FALSE(IsAtMost(kM, kN, kSymbols));
}

TEST(SizeFormTest, UnknownFormsAreEqualToNothing) {
  const SizeForm unknown = SizeForm::Unknown();
  EXPECT_FALSE(unknown == unknown);
  EXPECT_FALSE(IsAtMost(unknown, unknown, kSymbols));
  EXPECT_FALSE(unknown.At(kSymbols).has_value());
  EXPECT_FALSE((unknown * 0 + 1).is_known());
  EXPECT_EQ(unknown.ToString(kSymbols), "?");
  // Coefficients and values beyond 64 bits, and too many terms.
  const SizeForm large(int64_t{1} << 62);
  EXPECT_FALSE((large + large).is_known());
  EXPECT_FALSE((large * kN * 2).is_known());
  EXPECT_FALSE((large * kN).UpperBound(kSymbols).has_value());
  SizeForm many;
  SizeForm power = kN;
  for (size_t i = 0; i <= SizeForm::kMostTerms; ++i) {
    many = many + power;
    power = power * kN;
  }
  EXPECT_FALSE(many.is_known());
}

}  // namespace
}  // namespace telemetry::worker::wrapper

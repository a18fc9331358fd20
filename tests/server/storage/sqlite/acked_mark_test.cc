#include "server/storage/sqlite/acked_mark.h"

#include <gtest/gtest.h>

#include <atomic>
#include <optional>
#include <string>
#include <thread>

#include "tests/temp_folder.h"

namespace telemetry::storage::sqlite {
namespace {

// Returns marks any two of which differ in nearly every character of the line.
AckedMark MakeMark(uint64_t number) {
  return {.dataset_id = std::string(16, static_cast<char>(number % 251)),
          .records = number * 1'234'567'891'234'567,
          .log_salts = ~number * 987'654'321'987'654'321,
          .log_frames = static_cast<uint32_t>(number)};
}

TEST(AckedMark, ALineThatIsBeingOverwrittenIsNoDamage) {
  constexpr int kReads = 50'000;
  const TempFolder folder;
  const std::string path = folder.File("dataset.db");
  absl::StatusOr<AckedMarkFile> file = AckedMarkFile::Open(path);
  ASSERT_TRUE(file.ok()) << file.status();
  ASSERT_TRUE(file->Store(MakeMark(0)).ok());
  std::atomic<bool> is_over = false;
  std::thread writer([&] {
    for (uint64_t number = 1; !is_over; ++number) ASSERT_TRUE(file->Store(MakeMark(number % 9)).ok());
  });
  for (int i = 0; i < kReads; ++i) {
    const absl::StatusOr<std::optional<AckedMark>> mark = AckedMarkFile::Read(path);
    EXPECT_TRUE(mark.ok()) << "read " << i << ": " << mark.status();
    if (!mark.ok()) break;
    EXPECT_TRUE(mark->has_value());
  }
  is_over = true;
  writer.join();
}

}  // namespace
}  // namespace telemetry::storage::sqlite

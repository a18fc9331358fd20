// Tests damage to a spool's files: bits flipped and files truncated at random offsets. Checks that intact records are
// kept, no wrong record is delivered, the damage is reported, and the damaged bytes stay on the disk.
//
// TELEMETRY_FAULTS: number of offsets per sweep (default 80). TELEMETRY_SEED: seed of the offsets.

#include <algorithm>
#include <map>
#include <random>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "tests/client/spool_fixture.h"
#include "tests/environment.h"

namespace telemetry::client {
namespace {

using Files = std::map<std::string, std::string>;  // contents by name

constexpr int kRecords = 60;
constexpr uint64_t kSegmentBytes = 700;

class SpoolDamageTest : public SpoolTest {
 protected:
  SpoolDamageTest() {
    random_.seed(TestSeed());
    Open(kSegmentBytes);
    for (int i = 1; i <= kRecords; ++i) Append(RecordText(i));
    EXPECT_TRUE(spool_->Prove(std::string(16, 'D')).ok());
    EXPECT_TRUE(spool_->SetCommitted(kCommitted).ok());
    Close();
    for (const auto& entry : std::filesystem::directory_iterator(folder())) {
      sound_[entry.path().filename().string()] = Contents(entry.path().string());
    }
  }

  static int Places() { return Faults(80); }
  static std::string RecordText(int record) { return absl::StrCat("record ", record, std::string(record % 13, 'x')); }

  // Damages one of the files with the suffix `kind` at a random offset, many times.
  void Sweep(const std::string& kind, const std::function<void(std::string&, std::mt19937_64&)>& harm,
             size_t most_lost) {
    for (int place = 0; place < Places() && !HasFailure(); ++place) {
      Files damaged = sound_;
      std::vector<std::string> names;
      for (const auto& [name, bytes] : sound_) {
        if (name.ends_with(kind) && !bytes.empty()) names.push_back(name);
      }
      const std::string& name = names[random_() % names.size()];
      harm(damaged[name], random_);
      SCOPED_TRACE(absl::StrCat("place ", place, " in ", name, ", now ", damaged[name].size(), " bytes"));
      Inspect(damaged, name, most_lost);
    }
  }

  void Inspect(const Files& damaged, const std::string& name, size_t most_lost) {
    std::filesystem::remove_all(folder());
    std::filesystem::create_directory(folder());
    for (const auto& [file, bytes] : damaged) SetContents(folder() + "/" + file, bytes);
    const absl::Status status = TryOpen(kSegmentBytes);
    ASSERT_TRUE(status.ok()) << status;
    const std::vector<std::string> read = ReadAll(spool_->state().committed_seq + 1);
    std::vector<std::string> expected;
    for (int i = kCommitted + 1; i <= kRecords; ++i) expected.push_back(RecordText(i));
    // Acknowledged records may be read again if the acknowledgement was lost.
    std::vector<std::string> waiting;
    for (const std::string& record : read) {
      const bool known = std::find(expected.begin(), expected.end(), record) != expected.end();
      if (known) waiting.push_back(record);
      bool acknowledged = false;
      for (int i = 1; i <= kCommitted; ++i) acknowledged |= record == RecordText(i);
      ASSERT_TRUE(known || acknowledged) << "a wrong record: " << record;
    }
    ASSERT_TRUE(std::includes(expected.begin(), expected.end(), waiting.begin(), waiting.end(),
                              [&](const std::string& a, const std::string& b) {
                                return std::find(expected.begin(), expected.end(), a) <
                                       std::find(expected.begin(), expected.end(), b);
                              }))
        << "the order changed";
    ASSERT_GE(waiting.size() + most_lost, expected.size());
    ASSERT_FALSE(notices_.empty()) << "nobody was told";
    ASSERT_TRUE(IsKept(damaged.at(name))) << "what was there is gone";
    Close();
  }

  // Returns true if a file contains these bytes, or if they are the end of one file and the beginning of another.
  bool IsKept(const std::string& bytes) const {
    std::vector<std::string> contents;
    for (const auto& entry : std::filesystem::directory_iterator(folder())) {
      contents.push_back(Contents(entry.path().string()));
    }
    return std::any_of(contents.begin(), contents.end(), [&](const std::string& a) {
      return a == bytes || std::any_of(contents.begin(), contents.end(), [&](const std::string& b) {
               return a.size() + b.size() == bytes.size() && bytes.starts_with(a) && bytes.ends_with(b);
             });
    });
  }

  static void FlipABit(std::string& bytes, std::mt19937_64& random) {
    const size_t at = random() % bytes.size();
    bytes[at] = static_cast<char>(bytes[at] ^ (1 << (random() % 8)));
  }
  static void Cut(std::string& bytes, std::mt19937_64& random) { bytes.resize(1 + random() % (bytes.size() - 1)); }

  static constexpr int kCommitted = 5;
  std::mt19937_64 random_;
  Files sound_;
};

TEST_F(SpoolDamageTest, AFlippedBitInASegment) { Sweep(".seg", FlipABit, 1); }
TEST_F(SpoolDamageTest, AFlippedBitInMeta) { Sweep("meta", FlipABit, 0); }
TEST_F(SpoolDamageTest, AFlippedBitInCommitted) { Sweep("committed", FlipABit, 0); }
TEST_F(SpoolDamageTest, ACutMeta) { Sweep("meta", Cut, 0); }
TEST_F(SpoolDamageTest, ACutCommitted) { Sweep("committed", Cut, 0); }

}  // namespace
}  // namespace telemetry::client

#include "client/spool.h"

#include <sys/resource.h>
#include <sys/stat.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <random>
#include <thread>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "tests/client/spool_fixture.h"

namespace telemetry::client {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

TEST_F(SpoolTest, GivesBackWhatWasAppendedAcrossReopening) {
  Open();
  AppendAll({"a", "bb", "ccc"});
  EXPECT_THAT(ReadAll(), ElementsAre("a", "bb", "ccc"));
  Open();
  EXPECT_EQ(spool_->state().appended_seq, 3);
  Append("dddd");
  EXPECT_THAT(ReadAll(), ElementsAre("a", "bb", "ccc", "dddd"));
  EXPECT_THAT(ReadAll(3), ElementsAre("ccc", "dddd"));
  EXPECT_THAT(notices_, IsEmpty());
}

TEST_F(SpoolTest, FilesAndNewFoldersAreTheirOwnersWhateverTheUmask) {
  const mode_t before = umask(0);
  const std::string outer = folder() + "/state";
  absl::StatusOr<std::unique_ptr<Spool>> spool = Spool::Open({.folder = outer + "/spool"});
  ASSERT_TRUE(spool.ok()) << spool.status();
  FrameBuffer frames;
  frames.AddSerialised("a");
  ASSERT_TRUE((*spool)->Append(&frames).ok());
  spool->reset();
  umask(before);
  int entries = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(outer)) {
    ++entries;
    EXPECT_EQ(static_cast<int>(entry.status().permissions()), entry.is_directory() ? 0700 : 0600) << entry.path();
  }
  EXPECT_GE(entries, 5) << "spool, lock, meta, committed, a segment";
  EXPECT_EQ(static_cast<int>(std::filesystem::status(outer).permissions()), 0700);
}

TEST_F(SpoolTest, FilesThatEverybodyMayReadAreTightenedAtTheNextOpening) {
  Open();
  Append("a");
  Close();
  ASSERT_EQ(chmod(OnlySegment().c_str(), 0644), 0);
  ASSERT_EQ(chmod((folder() + "/meta").c_str(), 0640), 0);
  const std::string segment = OnlySegment();
  Open();
  EXPECT_EQ(static_cast<int>(std::filesystem::status(segment).permissions()), 0600);
  EXPECT_EQ(static_cast<int>(std::filesystem::status(folder() + "/meta").permissions()), 0640);
  EXPECT_THAT(notices_, ElementsAre(HasSubstr("other users could read 1 file(s)")));
  Open();
  EXPECT_THAT(notices_, IsEmpty());
}

TEST_F(SpoolTest, ABatchIsBoundedButNeverEmpty) {
  Open();
  AppendAll({std::string(1000, 'a'), std::string(10, 'b'), std::string(10, 'c'), std::string(1000, 'd')});
  EXPECT_EQ(spool_->Read(1, 100)->last_seq, 1);
  EXPECT_EQ(spool_->Read(2, 100)->last_seq, 3);
  EXPECT_EQ(spool_->Read(4, 100)->last_seq, 4);
  EXPECT_TRUE(spool_->Read(5, 100)->empty());
}

TEST_F(SpoolTest, AcknowledgedFilesGo) {
  Open(/*segment_bytes=*/64);
  for (int i = 0; i < 10; ++i) Append(absl::StrCat("record ", i));
  const size_t before = FilesEndingIn(".seg").size();
  ASSERT_GT(before, 3);
  ASSERT_TRUE(spool_->SetCommitted(9).ok());
  EXPECT_LT(FilesEndingIn(".seg").size(), before);
  EXPECT_THAT(ReadAll(10), ElementsAre("record 9"));
  ASSERT_TRUE(spool_->SetCommitted(10).ok());
  EXPECT_EQ(spool_->state().unacked_bytes, 0);
  Open(64);
  EXPECT_THAT(FilesEndingIn(".seg"), IsEmpty());
  EXPECT_EQ(spool_->state().appended_seq, 10) << "numbers go on where they were";
  Append("next");
  EXPECT_THAT(ReadAll(11), ElementsAre("next"));
}

TEST_F(SpoolTest, CountsUnacknowledgedBytesExactly) {
  Open();
  AppendAll({"a", "b", "c"});
  const uint64_t all = spool_->state().unacked_bytes;
  ASSERT_TRUE(spool_->SetCommitted(1).ok());
  EXPECT_EQ(all - spool_->state().unacked_bytes, kSegmentHeaderBytes + kFrameHeaderBytes + 1);
  ASSERT_TRUE(spool_->Read(2, 1000).ok());
  ASSERT_TRUE(spool_->SetCommitted(3).ok());
  EXPECT_EQ(spool_->state().unacked_bytes, 0);
}

TEST_F(SpoolTest, TheCollectorMayKnowLessThanBefore) {
  Open();
  AppendAll({"a", "b", "c"});
  ASSERT_TRUE(spool_->SetCommitted(3).ok());
  ASSERT_TRUE(spool_->SetCommitted(1).ok());
  EXPECT_THAT(ReadAll(2), ElementsAre("b", "c"));
  EXPECT_FALSE(spool_->SetCommitted(4).ok());
}

TEST_F(SpoolTest, TheEpochGrowsAndTheProducerStays) {
  Open();
  const SpoolMeta first = spool_->meta();
  Open();
  EXPECT_EQ(spool_->meta().producer_id, first.producer_id);
  EXPECT_GT(spool_->meta().epoch, first.epoch);
}

TEST_F(SpoolTest, KeepsASecondOneOut) {
  Open();
  const absl::StatusOr<std::unique_ptr<Spool>> second = Spool::Open({.folder = folder()});
  EXPECT_EQ(second.status().code(), absl::StatusCode::kAlreadyExists);
  EXPECT_THAT(std::string(second.status().message()), HasSubstr(folder()));
}

// Checks that the number of the oldest unanswered opening is kept: numbers above it may have been used for other
// records.
TEST_F(SpoolTest, RemembersWhatIsUnprovenUntilTheCollectorAnswers) {
  Open();
  AppendAll({"a", "b"});
  ASSERT_TRUE(spool_->Prove("").ok());
  EXPECT_EQ(spool_->meta().unproven_seq, std::nullopt);
  Open();
  EXPECT_EQ(spool_->meta().unproven_seq, 2);
  Append("c");
  Open();
  EXPECT_EQ(spool_->meta().unproven_seq, 2);
}

TEST_F(SpoolTest, ANewLogBeginsBehindItsBase) {
  Open();
  AppendAll({"a", "b", "c"});
  const SpoolMeta before = spool_->meta();
  ASSERT_TRUE(spool_->StartNewLog(2, std::string(16, 'D')).ok());
  Open();
  EXPECT_NE(spool_->meta().producer_id, before.producer_id);
  EXPECT_EQ(spool_->meta().base_seq, 2);
  EXPECT_EQ(spool_->meta().dataset_id, std::string(16, 'D'));
  EXPECT_EQ(spool_->state().committed_seq, 2);
  EXPECT_THAT(ReadAll(3), ElementsAre("c"));
}

TEST_F(SpoolTest, TruncatedAnywhereGivesAPrefix) {
  const std::vector<std::string> texts = {"first", "second record", "", "fourth", "the fifth and last"};
  Open();
  AppendAll(texts);
  Close();
  const std::string segment = OnlySegment();
  const std::string bytes = Contents(segment);
  for (size_t size = 0; size < bytes.size(); ++size) {
    SetContents(segment, std::string_view(bytes).substr(0, size));
    Open();
    const std::vector<std::string> left = ReadAll();
    ASSERT_LT(left.size(), texts.size()) << "at " << size;
    ASSERT_TRUE(std::equal(left.begin(), left.end(), texts.begin())) << "at " << size;
    // The log continues after the prefix.
    Append("next");
    ASSERT_THAT(ReadAll(left.size() + 1), ElementsAre("next")) << "at " << size;
    Close();
    std::filesystem::remove_all(folder());
    std::filesystem::create_directory(folder());
  }
}

TEST_F(SpoolTest, ATailOfZeroesIsCut) {
  Open();
  AppendAll({"a", "b"});
  Close();
  const std::string segment = OnlySegment();
  SetContents(segment, Contents(segment) + std::string(4096, '\0'));
  Open();
  EXPECT_THAT(ReadAll(), ElementsAre("a", "b"));
  EXPECT_THAT(notices_, ElementsAre(HasSubstr("4096 bytes")));
  Append("c");
  Open();
  EXPECT_THAT(ReadAll(), ElementsAre("a", "b", "c"));
  EXPECT_THAT(notices_, IsEmpty());
}

TEST_F(SpoolTest, AFlippedBitAnywhereIsSaidAndCostsOneRecordAtMost) {
  const std::vector<std::string> texts = {"first", "second record", "third", "fourth", "the fifth and last"};
  Open();
  AppendAll(texts);
  Close();
  const std::string segment = OnlySegment();
  const std::string bytes = Contents(segment);
  for (size_t at = 0; at < bytes.size(); ++at) {
    std::string flipped = bytes;
    flipped[at] = static_cast<char>(flipped[at] ^ (1 << (at % 8)));
    SetContents(segment, flipped);
    const absl::Status status = TryOpen();
    ASSERT_TRUE(status.ok()) << "at " << at << ": " << status;
    ASSERT_THAT(notices_, Not(IsEmpty())) << "at " << at;
    const std::vector<std::string> left = ReadAll();
    ASSERT_GE(left.size(), texts.size() - 1) << "at " << at;
    ASSERT_TRUE(std::includes(texts.begin(), texts.end(), left.begin(), left.end(),
                              [&](const std::string& a, const std::string& b) {
                                return std::find(texts.begin(), texts.end(), a) <
                                       std::find(texts.begin(), texts.end(), b);
                              }))
        << "a wrong record, at " << at;
    const bool in_last_record = at >= bytes.size() - texts.back().size() - kFrameHeaderBytes;
    // A damaged last record looks like an incomplete one.
    ASSERT_EQ(FilesEndingIn(".tail.damaged").size(), in_last_record ? 1 : 0) << "at " << at;
    ASSERT_EQ(FilesEndingIn(".seg.damaged").size(), in_last_record ? 0 : 1) << "at " << at;
    Close();
    std::filesystem::remove_all(folder());
    std::filesystem::create_directory(folder());
  }
}

TEST_F(SpoolTest, AMissingFileInTheMiddleIsSaid) {
  Open(/*segment_bytes=*/1);
  AppendAll({"a", "b", "c", "d"});
  Close();
  std::filesystem::remove(FilesEndingIn(".seg")[1]);
  Open();
  EXPECT_THAT(notices_, ElementsAre(HasSubstr("has lost 1 record;")));
  EXPECT_THAT(ReadAll(), ElementsAre("a", "c", "d"));
}

TEST_F(SpoolTest, ADamagedMetaFileMakesANewLogOfTheSameRecords) {
  Open();
  AppendAll({"a", "b"});
  const std::string producer_id = spool_->meta().producer_id;
  Close();
  SetContents(folder() + "/meta", "garbage");
  Open();
  EXPECT_NE(spool_->meta().producer_id, producer_id);
  EXPECT_THAT(notices_, ElementsAre(HasSubstr("meta")));
  EXPECT_THAT(ReadAll(), ElementsAre("a", "b"));
}

// Simulates a power cut during the write of one of the two slots.
TEST_F(SpoolTest, OneGoodHalfOfTheMetaFileIsEnough) {
  Open();
  AppendAll({"a", "b"});
  ASSERT_TRUE(spool_->Prove(std::string(16, 'D')).ok());
  const SpoolMeta last = spool_->meta();
  Close();
  const std::string meta = folder() + "/meta";
  const std::string bytes = Contents(meta);
  for (size_t at = 0; at < bytes.size(); at += 101) {
    std::string flipped = bytes;
    flipped[at] ^= 1;
    SetContents(meta, flipped);
    Open();
    ASSERT_EQ(spool_->meta().producer_id, last.producer_id) << "at " << at;
    ASSERT_GE(spool_->meta().epoch, last.epoch) << "at " << at;
    ASSERT_LE(spool_->meta().unproven_seq.value(), 2) << "at " << at;
    ASSERT_THAT(notices_, ElementsAre(HasSubstr("half of the spool's meta file is damaged"))) << "at " << at;
    Close();
  }
}

TEST_F(SpoolTest, ADamagedCommittedFileOnlyForgets) {
  Open();
  AppendAll({"a", "b"});
  ASSERT_TRUE(spool_->SetCommitted(1).ok());
  Close();
  SetContents(folder() + "/committed", "garbage");
  Open();
  EXPECT_EQ(spool_->state().committed_seq, 0);
  EXPECT_THAT(ReadAll(), ElementsAre("a", "b"));
}

TEST_F(SpoolTest, ANewerVersionIsRefusedAndUntouched) {
  Open();
  Append("a");
  Close();
  const std::string segment = OnlySegment();
  const std::string bytes =
      EncodeSegmentHeader({.version = 2, .salt = 1, .first_seq = 1}) + Contents(segment).substr(kSegmentHeaderBytes);
  SetContents(segment, bytes);
  const absl::Status status = TryOpen();
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(status.message()), HasSubstr("newer version"));
  EXPECT_EQ(Contents(segment), bytes);
}

TEST_F(SpoolTest, DamageWhileOpenIsAHoleAndNothingElse) {
  Open();
  AppendAll({"a", "b", "c"});
  const std::string segment = OnlySegment();
  std::string bytes = Contents(segment);
  bytes[kSegmentHeaderBytes + 2 * kFrameHeaderBytes + 1] ^= 1;  // the payload of "b"
  SetContents(segment, bytes);
  EXPECT_THAT(ReadAll(), ElementsAre("a", "c"));
  const absl::StatusOr<SpoolBatch> batch = spool_->Read(2, 1000);
  ASSERT_TRUE(batch.ok());
  EXPECT_EQ(batch->first_seq, 3);
}

// Simulates a full disk by a file size limit: the write stops in the middle of a frame.
TEST_F(SpoolTest, AFullDiskIsAnErrorAndTheLogGoesOn) {
  std::signal(SIGXFSZ, SIG_IGN);
  Open();
  AppendAll({"a", "b"});
  rlimit before;
  getrlimit(RLIMIT_FSIZE, &before);
  const rlimit tight = {.rlim_cur = std::filesystem::file_size(OnlySegment()) + 20, .rlim_max = before.rlim_max};
  setrlimit(RLIMIT_FSIZE, &tight);
  const absl::Status status = TryAppend(std::string(100, 'x'));
  setrlimit(RLIMIT_FSIZE, &before);
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted) << status;
  EXPECT_EQ(spool_->state().appended_seq, 2);
  Append("c");
  EXPECT_THAT(ReadAll(), ElementsAre("a", "b", "c"));
  Open();
  EXPECT_THAT(ReadAll(), ElementsAre("a", "b", "c"));
  EXPECT_THAT(notices_, IsEmpty());
}

TEST_F(SpoolTest, SyncMakesEverythingDurable) {
  Open(/*segment_bytes=*/100);
  for (int i = 0; i < 20; ++i) Append("record");
  EXPECT_EQ(spool_->state().durable_seq, 0);
  ASSERT_TRUE(spool_->Sync().ok());
  EXPECT_EQ(spool_->state().durable_seq, 20);
}

TEST_F(SpoolTest, AppendersReaderAndSyncRunSideBySide) {
  constexpr int kThreads = 3;
  constexpr int kEach = 2000;
  Open(/*segment_bytes=*/10000);
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([this, t] {
      for (int i = 0; i < kEach; ++i) {
        Append(absl::StrCat(t, ":", i));
        if (i % 500 != 0) continue;
        EXPECT_TRUE(spool_->Sync().ok());
      }
    });
  }
  std::vector<int> next(kThreads, 0);
  uint64_t seq = 1;
  while (seq <= uint64_t{kThreads} * kEach) {
    const absl::StatusOr<SpoolBatch> batch = spool_->Read(seq, 4096);
    ASSERT_TRUE(batch.ok()) << batch.status();
    ASSERT_EQ(batch->first_seq, seq);
    for (const std::string& record : CopyPayloads(*batch)) {
      EXPECT_EQ(record, absl::StrCat(record[0] - '0', ":", next[record[0] - '0']++)) << "each thread's order is kept";
    }
    if (batch->empty()) std::this_thread::yield();
    seq = batch->last_seq + 1;
    ASSERT_TRUE(spool_->SetCommitted(batch->last_seq).ok());
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(spool_->state().unacked_bytes, 0);
}

TEST_F(SpoolTest, SurvivesRandomUse) {
  const unsigned seed = std::random_device()();
  SCOPED_TRACE(absl::StrCat("seed ", seed));
  std::mt19937 random(seed);
  std::vector<std::string> all;
  uint64_t committed = 0;
  Open(200);
  for (int step = 0; step < 500; ++step) {
    switch (random() % 4) {
      case 0:
      case 1:
        all.push_back(absl::StrCat("record ", all.size(), std::string(random() % 100, '.')));
        Append(all.back());
        break;
      case 2:
        committed += random() % (all.size() - committed + 1);
        ASSERT_TRUE(spool_->SetCommitted(committed).ok());
        break;
      case 3:
        Open(200);
        break;
    }
    ASSERT_EQ(spool_->state().appended_seq, all.size());
    ASSERT_EQ(ReadAll(committed + 1, 150),
              std::vector<std::string>(all.begin() + static_cast<long>(committed), all.end()));
    ASSERT_THAT(notices_, IsEmpty());
  }
}

}  // namespace
}  // namespace telemetry::client

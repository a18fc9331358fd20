// Tests that no single failure loses data: each write and fsync, each read, each call of SQLite and each of its
// allocations fails in turn. After each failure, acknowledged batches are stored, other batches are stored completely
// or not at all, and a reader returns the complete dataset or an error.

#include <gtest/gtest.h>
#include <sqlite3.h>
#include <stdlib.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "server/storage/sqlite/sqlite_store.h"
#include "server/storage/upkeep/check.h"
#include "tests/environment.h"
#include "tests/server/storage/dataset_story.h"
#include "tests/server/storage/sqlite/faults/fault_memory.h"
#include "tests/server/storage/sqlite/faults/fault_points.h"
#include "tests/server/storage/sqlite/faults/fault_vfs.h"

namespace telemetry::storage::sqlite {
namespace {

using Kind = FaultPoints::Kind;

constexpr char kVfs[] = "faults";
const std::string kProducer(16, 'p');

v1::Record HashRecord(char attempt, uint64_t seq) {
  v1::Record record;
  record.mutable_source_hash()->set_attempt_id(AttemptId(attempt));
  record.mutable_source_hash()->set_seq(seq);
  record.mutable_source_hash()->set_source_hash("00ff");
  return record;
}

// Returns records of every kind, and one that is refused.
const std::vector<std::vector<v1::Record>>& Batches() {
  static const auto& batches = *new std::vector<std::vector<v1::Record>>{
      {RunRecord('a'), GraphRecord('a'), AttemptRecord('x', 'a')},
      {ConfigRecord(7, "Config(a=1, b=[2])"), RunConfigRecord('a', 7), Row('x', 1, 0.5), HashRecord('x', 1)},
      {Row('x', 2, 0.25), DetailRecord('x', 2),
       Row('q', 1, 0.125)},  // the last row belongs to an attempt that was never announced
      {RunRecord('b'), AttemptRecord('y', 'b'), Row('y', 1, 1), Row('x', 3, 2)},
  };
  return batches;
}

// Returns the export of the dataset after the first `count` batches.
const std::string& ExportAfter(size_t count) {
  static auto& exports = *new std::vector<std::string>();
  while (exports.size() <= count) {
    DatasetStory story;
    for (size_t i = 0; i < exports.size(); ++i) story.Send(Batches()[i]);
    exports.push_back(story.Export());
  }
  return exports[count];
}

class Folder {
 public:
  Folder() {
    // In memory if possible, since a sweep fsyncs thousands of times.
    std::string pattern = std::filesystem::is_directory("/dev/shm") ? "/dev/shm/telemetry-XXXXXX"
                                                                    : testing::TempDir() + "/telemetry-XXXXXX";
    path_ = mkdtemp(pattern.data());
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  std::string database() const { return path_ + "/dataset.db"; }

 private:
  std::string path_;
};

absl::StatusOr<uint64_t> Commit(StoreWriter& writer, uint64_t first_seq, const std::vector<v1::Record>& records) {
  ProducerBatch batch = {.producer_id = kProducer, .epoch = 1, .first_seq = first_seq};
  AddRecords(records, &batch);
  const auto outcomes = writer.CommitBatches({batch});
  if (!outcomes.ok()) return outcomes.status();
  if (!outcomes->front().status.ok()) return outcomes->front().status;
  return outcomes->front().committed_seq;
}

// Sends all batches, with a call of Idle() before the last one. Returns the number of acknowledged batches.
size_t WriteUntilTheFault(const std::string& path) {
  absl::StatusOr<std::unique_ptr<StoreWriter>> writer = OpenSqliteWriter(path, {.vfs = kVfs, .checkpoint_pages = 4});
  if (!writer.ok() || !(*writer)->OpenProducer(kProducer, 1, "test").ok()) return 0;
  uint64_t next_seq = 1;
  for (size_t i = 0; i < Batches().size(); ++i) {
    if (i + 1 == Batches().size() && !(*writer)->Idle().ok()) return i;
    const absl::StatusOr<uint64_t> committed = Commit(**writer, next_seq, Batches()[i]);
    // The collector ends here: nothing may be acknowledged after an error.
    if (!committed.ok()) return i;
    next_seq = *committed + 1;
  }
  return Batches().size();
}

absl::StatusOr<std::string> ExportFile(const std::string& path, const std::string& vfs) {
  absl::StatusOr<std::unique_ptr<StoreReader>> reader = OpenSqliteReader(path, {.vfs = vfs});
  if (!reader.ok()) return reader.status();
  v1::ExportRequest request;
  request.set_details(true);
  std::string text;
  const absl::Status status = (*reader)->Export(request, [&text](const v1::ExportItem& item) {
    v1::ExportItem copy = item;
    if (copy.has_attempt()) copy.mutable_attempt()->clear_first_received_unix_us();
    absl::StrAppend(&text, copy.DebugString(), "\n");
    return absl::OkStatus();
  });
  if (!status.ok()) return status;
  return text;
}

// Returns a description of the error in the dataset after `acked` batches were acknowledged; empty: no error.
std::string Inspect(const std::string& path, size_t acked) {
  absl::StatusOr<std::unique_ptr<StoreWriter>> writer = OpenSqliteWriter(path);
  if (!writer.ok()) return absl::StrCat("does not open again: ", writer.status().ToString());
  const uint64_t committed = (*writer)->OpenProducer(kProducer, 1, "test").value_or(0);
  writer->reset();
  size_t stored = 0;
  uint64_t end = 0;
  while (stored < Batches().size() && end + Batches()[stored].size() <= committed) end += Batches()[stored++].size();
  if (end != committed) return absl::StrCat("committed up to ", committed, ", inside a batch");
  if (stored < acked) return absl::StrCat("acknowledged ", acked, " batches, has ", stored);
  const absl::StatusOr<upkeep::CheckReport> report = upkeep::CheckDataset(path);
  if (!report.ok() || !report->damage.empty())
    return absl::StrCat("damaged: ", report.ok() ? upkeep::FormatReport(*report) : report.status().ToString());
  const absl::StatusOr<std::string> exported = ExportFile(path, "");
  if (!exported.ok()) return exported.status().ToString();
  return *exported == ExportAfter(stored) ? "" : absl::StrCat("not the dataset of ", stored, " batches: ", *exported);
}

// Returns the distance between the points that a sweep tries: 1 if TELEMETRY_FAULTS is set, else `usual`.
int64_t Stride(int64_t usual) { return Faults(0) == 0 ? usual : 1; }

class StorageFaultTest : public testing::Test {
 protected:
  // Makes the nth point fail, for n from 1 until a story does not reach that point.
  void Sweep(Kind kind, int code, bool repeats, int64_t stride) {
    int64_t places = 0;
    for (int64_t n = 1;; n += stride) {
      const Folder folder;
      FaultPoints::Arm(kind, n, code, repeats);
      const size_t acked = WriteUntilTheFault(folder.database());
      const bool reached = FaultPoints::Disarm();
      const std::string wrong = Inspect(folder.database(), acked);
      EXPECT_EQ(wrong, "") << "place " << n << " of kind " << static_cast<int>(kind) << ", code " << code;
      if (!reached || !wrong.empty()) break;
      ++places;
    }
    RecordProperty("places", static_cast<int>(places));
    EXPECT_GT(places, 10) << "a sweep that meets nothing proves nothing";
  }

  // Does the same for an export of the complete dataset.
  void SweepReader(Kind kind, int code, int64_t stride) {
    const Folder folder;
    ASSERT_EQ(WriteUntilTheFault(folder.database()), Batches().size());
    int errors = 0;
    for (int64_t n = 1;; n += stride) {
      FaultPoints::Arm(kind, n, code, /*repeats=*/false);
      const absl::StatusOr<std::string> exported = ExportFile(folder.database(), kVfs);
      if (!FaultPoints::Disarm()) break;
      errors += exported.ok() ? 0 : 1;
      if (exported.ok()) {
        ASSERT_EQ(*exported, ExportAfter(Batches().size())) << "place " << n;
      }
    }
    EXPECT_GT(errors, 5) << "a sweep that meets nothing proves nothing";
  }
};

TEST_F(StorageFaultTest, WritesAndSyncsThatFailOnce) { Sweep(Kind::kDisk, SQLITE_IOERR_FSYNC, false, 1); }
TEST_F(StorageFaultTest, ADiskThatIsGone) { Sweep(Kind::kDisk, SQLITE_IOERR_WRITE, true, 1); }
TEST_F(StorageFaultTest, ADiskThatIsFull) { Sweep(Kind::kDisk, SQLITE_FULL, true, 1); }
TEST_F(StorageFaultTest, ADiskThatWasFullForAMoment) { Sweep(Kind::kDisk, SQLITE_FULL, false, 1); }
TEST_F(StorageFaultTest, Reads) { Sweep(Kind::kDiskRead, SQLITE_IOERR_READ, false, 1); }
TEST_F(StorageFaultTest, CallsThatFail) { Sweep(Kind::kCallBefore, SQLITE_IOERR, false, Stride(3)); }
TEST_F(StorageFaultTest, CallsThatFailForWantOfMemory) { Sweep(Kind::kCallBefore, SQLITE_NOMEM, false, Stride(7)); }
TEST_F(StorageFaultTest, CallsThatOnlySayTheyFailed) { Sweep(Kind::kCallAfter, SQLITE_IOERR, false, Stride(3)); }
TEST_F(StorageFaultTest, Allocations) { Sweep(Kind::kMemory, SQLITE_NOMEM, false, Stride(47)); }
TEST_F(StorageFaultTest, NoMoreMemory) { Sweep(Kind::kMemory, SQLITE_NOMEM, true, Stride(53)); }

TEST_F(StorageFaultTest, ReadersReads) { SweepReader(Kind::kDiskRead, SQLITE_IOERR_READ, 1); }
TEST_F(StorageFaultTest, ReadersCalls) { SweepReader(Kind::kCallBefore, SQLITE_IOERR, 1); }
TEST_F(StorageFaultTest, ReadersAllocations) { SweepReader(Kind::kMemory, SQLITE_NOMEM, Stride(3)); }

// Stores a run with an old attempt that may be removed, and a newer one.
void WriteOldAndNew(const std::string& path) {
  absl::StatusOr<std::unique_ptr<StoreWriter>> writer = OpenSqliteWriter(path);
  ASSERT_TRUE(writer.ok() && (*writer)->OpenProducer(kProducer, 1, "test").ok());
  v1::Record old_attempt = AttemptRecord('x', 'a');
  old_attempt.mutable_attempt()->set_state(v1::Attempt::STATE_COMPLETE);
  const absl::StatusOr<uint64_t> committed = Commit(**writer, 1,
                                                    {RunRecord('a'), old_attempt, Row('x', 1, 0.5), HashRecord('x', 1),
                                                     DetailRecord('x', 1), AttemptRecord('y', 'a'), Row('y', 1, 1)});
  ASSERT_TRUE(committed.ok()) << committed.status();
}

// Adds served time and removes the old attempt. Returns true if the writer reported its removal.
bool RemoveUntilTheFault(const std::string& path) {
  absl::StatusOr<std::unique_ptr<StoreWriter>> writer = OpenSqliteWriter(path, {.vfs = kVfs, .checkpoint_pages = 4});
  if (!writer.ok() || !(*writer)->AddServedTime(absl::Hours(1)).ok()) return false;
  bool removed = false;
  while (true) {
    const absl::StatusOr<PruneStep> step = (*writer)->PruneSome({.keep_bytes = 1});
    if (!step.ok()) return removed;
    removed = removed || !step->attempts.empty();
    if (step->done) return removed && (*writer)->Idle().ok();
  }
}

class RetentionFaultTest : public testing::Test {
 protected:
  void Sweep(Kind kind, int code, bool repeats, int64_t stride) {
    const Folder unharmed;
    WriteOldAndNew(unharmed.database());
    const std::string before = ExportFile(unharmed.database(), "").value_or("");
    ASSERT_TRUE(RemoveUntilTheFault(unharmed.database()));
    const std::string after = ExportFile(unharmed.database(), "").value_or("");
    ASSERT_NE(before, after);
    int64_t places = 0;
    for (int64_t n = 1;; n += stride) {
      const Folder folder;
      WriteOldAndNew(folder.database());
      FaultPoints::Arm(kind, n, code, repeats);
      const bool removed = RemoveUntilTheFault(folder.database());
      const bool reached = FaultPoints::Disarm();
      const absl::StatusOr<upkeep::CheckReport> report = upkeep::CheckDataset(folder.database());
      ASSERT_TRUE(report.ok() && report->damage.empty()) << "place " << n;
      const absl::StatusOr<std::string> exported = ExportFile(folder.database(), "");
      ASSERT_TRUE(exported.ok()) << "place " << n << ": " << exported.status();
      ASSERT_TRUE(*exported == after || (!removed && *exported == before)) << "place " << n << ": " << *exported;
      if (!reached) break;
      ++places;
    }
    EXPECT_GT(places, 10) << "a sweep that meets nothing proves nothing";
  }
};

TEST_F(RetentionFaultTest, WritesAndSyncsThatFailOnce) { Sweep(Kind::kDisk, SQLITE_IOERR_FSYNC, false, 1); }
TEST_F(RetentionFaultTest, ADiskThatIsFull) { Sweep(Kind::kDisk, SQLITE_FULL, true, 1); }
TEST_F(RetentionFaultTest, CallsThatFail) { Sweep(Kind::kCallBefore, SQLITE_IOERR, false, Stride(3)); }
TEST_F(RetentionFaultTest, Allocations) { Sweep(Kind::kMemory, SQLITE_NOMEM, false, Stride(11)); }

constexpr int kPuts = 6;
// Three entries fit, so later puts remove earlier ones.
constexpr CacheBudget kCacheBudget = {
    .total_bytes = uint64_t{3} * 11'000, .sender_bytes = uint64_t{3} * 11'000, .max_age = absl::InfiniteDuration()};

// Puts entries one by one. Returns the number of acknowledged puts.
int PutUntilTheFault(const std::string& path) {
  absl::StatusOr<std::unique_ptr<StoreWriter>> writer = OpenSqliteWriter(path, {.vfs = kVfs, .checkpoint_pages = 4});
  if (!writer.ok()) return 0;
  for (int i = 0; i < kPuts; ++i) {
    CachePut put = {.sender = "token a", .entry = {}};
    put.entry.set_namespace_("test");
    put.entry.set_key(absl::StrCat(i));
    put.entry.set_value(std::string(10'000, static_cast<char>('a' + i)));
    const auto outcomes = (*writer)->PutCacheEntries({put}, kCacheBudget);
    if (!outcomes.ok() || !outcomes->front().status.ok()) return i;
  }
  return kPuts;
}

// Returns a description of the error in the cache after `acked` puts were acknowledged; empty: no error.
std::string InspectCache(const std::string& path, int acked) {
  if (absl::Status status = OpenSqliteWriter(path).status(); !status.ok()) return status.ToString();
  const absl::StatusOr<upkeep::CheckReport> report = upkeep::CheckDataset(path);
  if (!report.ok() || !report->damage.empty()) return "damaged";
  const auto reader = OpenSqliteReader(path);
  if (!reader.ok()) return reader.status().ToString();
  v1::ListCacheRequest request;
  request.set_values(true);
  const absl::StatusOr<v1::ListCacheResponse> list = (*reader)->ListCacheEntries(request, 0);
  if (!list.ok()) return list.status().ToString();
  // The last put may be stored although it was not acknowledged.
  const int newest = list->entries().empty() ? -1 : list->entries(0).value().front() - 'a';
  if (newest != acked - 1 && newest != acked) return absl::StrCat("acknowledged ", acked, ", the newest is ", newest);
  if (list->entries_size() != std::min(newest + 1, 3)) return absl::StrCat(list->entries_size(), " entries");
  uint64_t bytes = 0;
  for (int i = 0; i < list->entries_size(); ++i) {
    if (list->entries(i).value() != std::string(10'000, static_cast<char>('a' + newest - i))) return "another value";
    bytes += CacheEntryBytes(list->entries(i));
  }
  return (*reader)->CacheBytes().value_or(0) == bytes ? "" : "the bytes of the sender are wrong";
}

class CacheFaultTest : public testing::Test {
 protected:
  void Sweep(Kind kind, int code, bool repeats, int64_t stride) {
    int64_t places = 0;
    for (int64_t n = 1;; n += stride) {
      const Folder folder;
      FaultPoints::Arm(kind, n, code, repeats);
      const int acked = PutUntilTheFault(folder.database());
      const bool reached = FaultPoints::Disarm();
      ASSERT_EQ(InspectCache(folder.database(), acked), "") << "place " << n;
      if (!reached) break;
      ++places;
    }
    EXPECT_GT(places, 10) << "a sweep that meets nothing proves nothing";
  }
};

TEST_F(CacheFaultTest, WritesAndSyncsThatFailOnce) { Sweep(Kind::kDisk, SQLITE_IOERR_FSYNC, false, 1); }
TEST_F(CacheFaultTest, ADiskThatIsFull) { Sweep(Kind::kDisk, SQLITE_FULL, true, 1); }
TEST_F(CacheFaultTest, CallsThatFail) { Sweep(Kind::kCallBefore, SQLITE_IOERR, false, Stride(3)); }
TEST_F(CacheFaultTest, Allocations) { Sweep(Kind::kMemory, SQLITE_NOMEM, false, Stride(97)); }

}  // namespace
}  // namespace telemetry::storage::sqlite

int main(int argc, char** argv) {
  telemetry::storage::sqlite::InstallFaultMemory();
  telemetry::storage::sqlite::RegisterFaultVfs(telemetry::storage::sqlite::kVfs);
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}

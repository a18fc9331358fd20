// Tests exports that are killed or that fail at each step of publishing.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <map>
#include <set>
#include <string>

#include "absl/strings/str_cat.h"
#include "server/export/files/file_set.h"
#include "server/export/files/snapshot_names.h"
#include "server/export/snapshot.h"
#include "tests/server/export/sample_dataset.h"
#include "tests/temp_folder.h"

namespace {

enum class Fault { kNone, kKill, kError };

Fault fault = Fault::kNone;
int steps_left = 0;

// Returns true if this disk operation fails.
bool Fails() {
  if (fault == Fault::kNone || --steps_left != 0) return false;
  if (fault == Fault::kKill) _exit(9);
  errno = EIO;
  return true;
}

}  // namespace

// These functions replace those of the C library in this program.
extern "C" {
int rename(const char* from, const char* to) noexcept {
  return Fails() ? -1 : static_cast<int>(syscall(SYS_rename, from, to));
}
int unlink(const char* path) noexcept { return Fails() ? -1 : static_cast<int>(syscall(SYS_unlink, path)); }
int fsync(int fd) { return Fails() ? -1 : static_cast<int>(syscall(SYS_fsync, fd)); }
}

namespace telemetry::exporter::files {
namespace {

using Contents = std::map<std::string, std::string>;  // contents by suffix

const Contents kOld = {{".csv", "old rows"}, {".meta.jsonl", "old records"}, {".sources.csv", "old sources"}};
const Contents kNew = {{".csv", "new rows"}, {".ir.jsonl", "new graphs"}, {".meta.jsonl", "new records"}};

absl::Status Export(const std::string& base, const Contents& contents) {
  auto files = FileSet::Create(base, Compression::kNone);
  if (!files.ok()) return files.status();
  for (const auto& [suffix, text] : contents) {
    if (absl::Status status = (*files)->Append(suffix, text); !status.ok()) return status;
  }
  auto written = (*files)->Finish();
  if (!written.ok()) return written.status();
  return (*files)->Publish(FormatSnapshot({.files = *written}));
}

// Runs the export in a child process that is killed, or fails, at the n-th step. Returns true if the export ended
// before that step.
bool ExportWithFault(Fault kind, int step, const std::string& base) {
  const pid_t child = fork();
  if (child == 0) {
    fault = kind;
    steps_left = step;
    const bool done = Export(base, kNew).ok() && steps_left > 0;
    fault = Fault::kNone;
    _exit(done ? 0 : 1);
  }
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

// Returns the files that the snapshot names.
Contents ReadSet(const TempFolder& folder) {
  Contents contents;
  for (const std::string& name : FileNamesInSnapshot(ReadFile(folder.File("data.snapshot.json")))) {
    contents[name.substr(std::string("data").size())] =
        folder.Names().contains(name) ? ReadFile(folder.File(name)) : "(missing)";
  }
  return contents;
}

void ExpectWholeOrMarked(Fault kind) {
  int marked = 0;
  bool done = false;
  for (int step = 1; step < 100 && !done; ++step) {
    SCOPED_TRACE(absl::StrCat(kind == Fault::kKill ? "killed" : "failed", " at step ", step));
    TempFolder folder;
    ASSERT_TRUE(Export(folder.File("data"), kOld).ok());
    done = ExportWithFault(kind, step, folder.File("data"));
    if (folder.Names().contains("data.incomplete")) {
      ++marked;
    } else {
      EXPECT_THAT(ReadSet(folder), testing::AnyOf(kOld, kNew)) << "a mixed set, and nothing says so";
    }
    EXPECT_TRUE(!done || ReadSet(folder) == kNew);
    // The next export must leave its own files and no others.
    ASSERT_TRUE(Export(folder.File("data"), kOld).ok());
    EXPECT_EQ(ReadSet(folder), kOld);
    std::set<std::string> names = folder.Names();
    std::erase_if(names, [](const std::string& name) { return name.ends_with(".partial"); });
    EXPECT_EQ(names.size(), kOld.size() + 1) << testing::PrintToString(names);
  }
  EXPECT_TRUE(done);
  EXPECT_GT(marked, 4) << "steps at which the set is mixed";
}

TEST(Publish, KilledAtAnyStepTheSetIsWholeOrMarked) { ExpectWholeOrMarked(Fault::kKill); }

TEST(Publish, AfterAnErrorAtAnyStepTheSetIsWholeOrMarked) { ExpectWholeOrMarked(Fault::kError); }

}  // namespace
}  // namespace telemetry::exporter::files

#include "worker/tune/compile/code_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/temp_folder.h"

namespace telemetry::worker::tune::compile {
namespace {

namespace fs = std::filesystem;

constexpr char kCompiler[] = "NVRTC 13.0, 1 bytes";

CompileRequest RequestOf(const std::string& source, const std::string& target = "sm_90") {
  CompileRequest request;
  request.set_source(source);
  request.set_target(target);
  return request;
}

CompileReply ReplyOf(absl::StatusCode code, const std::string& binary = "") {
  CompileReply reply;
  reply.set_code(static_cast<int>(code));
  reply.set_binary(binary);
  reply.set_message("a message");
  reply.set_seconds(0.25);
  return reply;
}

class CodeFolderTest : public testing::Test {
 protected:
  void Store(const std::string& source, size_t bytes = 10) {
    folder_.Store(RequestOf(source), kCompiler, ReplyOf(absl::StatusCode::kOk, std::string(bytes, 'x')));
  }
  bool Has(const CompileRequest& request, const std::string& compiler = kCompiler) const {
    return folder_.Find(request, compiler).has_value();
  }
  std::vector<fs::path> Files() const {
    std::vector<fs::path> files;
    for (const fs::directory_entry& entry : fs::directory_iterator(path_)) files.push_back(entry.path());
    return files;
  }
  // Sets the time of the last use of the only file that is not in `others`.
  void SetAge(const std::vector<fs::path>& others, int hours) {
    for (const fs::path& file : Files()) {
      if (std::find(others.begin(), others.end(), file) != others.end()) continue;
      fs::last_write_time(file, fs::file_time_type::clock::now() - std::chrono::hours(hours));
    }
  }

  const TempFolder parent_;
  const std::string path_ = absl::StrCat(parent_.path(), "/state/code");
  const CodeFolder folder_{path_};
};

TEST_F(CodeFolderTest, KeepsTexts) {
  EXPECT_EQ(folder_.FindText("name"), std::nullopt);
  folder_.StoreText("name", "a text");
  folder_.StoreText("other", "");
  EXPECT_EQ(folder_.FindText("name"), "a text");
  EXPECT_EQ(folder_.FindText("other"), "");
  folder_.StoreText("name", "another");
  EXPECT_EQ(folder_.FindText("name"), "another");
  ASSERT_EQ(Files().size(), 2u);
  for (const fs::path& file : Files()) std::ofstream(file, std::ios::app) << "x";
  EXPECT_EQ(folder_.FindText("name"), std::nullopt);
}

TEST_F(CodeFolderTest, FindsTheReplyToTheSameRequest) {
  EXPECT_FALSE(Has(RequestOf("a")));
  folder_.Store(RequestOf("a"), kCompiler, ReplyOf(absl::StatusCode::kOk, "code"));
  folder_.Store(RequestOf("b"), kCompiler, ReplyOf(absl::StatusCode::kInvalidArgument));
  const std::optional<CompileReply> found = folder_.Find(RequestOf("a"), kCompiler);
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->SerializeAsString(), ReplyOf(absl::StatusCode::kOk, "code").SerializeAsString());
  EXPECT_EQ(folder_.Find(RequestOf("b"), kCompiler)->message(), "a message");
  EXPECT_FALSE(Has(RequestOf("c")));
  EXPECT_FALSE(Has(RequestOf("a", "sm_80")));
  EXPECT_FALSE(Has(RequestOf("a"), "NVRTC 13.0, 2 bytes"));
}

TEST_F(CodeFolderTest, KeepsNothingThatTheSourceDoesNotDetermine) {
  CompileRequest opencl = RequestOf("a");
  opencl.set_is_opencl(true);
  const CompileReply code = ReplyOf(absl::StatusCode::kOk, "code");
  folder_.Store(opencl, kCompiler, code);
  folder_.Store(RequestOf("#  include <cuda_fp16.h>\n"), kCompiler, code);
  folder_.Store(RequestOf("a"), kCompiler, ReplyOf(absl::StatusCode::kInternal));
  folder_.Store(RequestOf("a"), kCompiler, ReplyOf(absl::StatusCode::kUnavailable));
  EXPECT_FALSE(fs::exists(path_));
}

TEST_F(CodeFolderTest, ATornOrChangedFileIsNotFoundAndIsReplaced) {
  Store("a", 100);
  const fs::path file = Files().at(0);
  std::ifstream stream(file, std::ios::binary);
  const std::string whole((std::istreambuf_iterator<char>(stream)), std::istreambuf_iterator<char>());
  for (size_t size : {size_t{0}, size_t{31}, size_t{32}, whole.size() - 1}) {
    std::ofstream(file, std::ios::binary) << whole.substr(0, size);
    EXPECT_FALSE(Has(RequestOf("a"))) << size;
  }
  for (size_t place = 0; place < whole.size(); ++place) {
    std::string changed = whole;
    changed[place] = static_cast<char>(changed[place] ^ 1);
    std::ofstream(file, std::ios::binary) << changed;
    EXPECT_FALSE(Has(RequestOf("a"))) << place;
  }
  Store("a", 100);
  EXPECT_TRUE(Has(RequestOf("a")));
}

TEST_F(CodeFolderTest, OnlyTheOwnerMayReadIt) {
  Store("a");
  struct stat status = {};
  ASSERT_EQ(stat(path_.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0700U);
  ASSERT_EQ(stat(Files().at(0).c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600U);
}

TEST_F(CodeFolderTest, TheCodeThatWasUnusedForTheLongestTimeIsRemoved) {
  EXPECT_EQ(folder_.Trim(0), absl::OkStatus());  // there is no folder
  Store("old", 1000);
  SetAge({}, 3);
  std::vector<fs::path> others = Files();
  Store("older, but used since", 1000);
  SetAge(others, 4);
  others = Files();
  Store("new", 1000);
  EXPECT_TRUE(Has(RequestOf("older, but used since")));
  EXPECT_EQ(folder_.Trim(2500), absl::OkStatus());
  EXPECT_FALSE(Has(RequestOf("old")));
  EXPECT_TRUE(Has(RequestOf("older, but used since")));
  EXPECT_TRUE(Has(RequestOf("new")));
  EXPECT_EQ(folder_.Trim(0), absl::OkStatus());
  EXPECT_TRUE(Files().empty());
}

}  // namespace
}  // namespace telemetry::worker::tune::compile

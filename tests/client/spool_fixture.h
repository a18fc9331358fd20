#pragma once

#include <stdlib.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "client/frame_buffer.h"
#include "client/spool.h"
#include "gtest/gtest.h"
#include "tests/temp_folder.h"

namespace telemetry::client {

inline std::string Contents(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

inline void SetContents(const std::string& path, std::string_view bytes) {
  std::ofstream(path, std::ios::binary | std::ios::trunc)
      .write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

// Returns the payloads of a batch.
inline std::vector<std::string> CopyPayloads(const SpoolBatch& batch) {
  std::vector<std::string> payloads;
  for (std::string_view rest = batch.frames; !rest.empty();) {
    const size_t size = ClaimedFrameSize(rest);
    payloads.emplace_back(rest.substr(kFrameHeaderBytes, size - kFrameHeaderBytes));
    rest.remove_prefix(size);
  }
  return payloads;
}

// A spool whose records are short texts.
class SpoolTest : public testing::Test {
 protected:
  absl::Status TryOpen(uint64_t segment_bytes = 1 << 20) {
    spool_.reset();
    notices_.clear();
    absl::StatusOr<std::unique_ptr<Spool>> spool =
        Spool::Open({.folder = folder(), .segment_bytes = segment_bytes, .on_notice = [this](const std::string& text) {
                       notices_.push_back(text);
                     }});
    if (!spool.ok()) return spool.status();
    spool_ = *std::move(spool);
    return absl::OkStatus();
  }
  void Open(uint64_t segment_bytes = 1 << 20) {
    const absl::Status status = TryOpen(segment_bytes);
    ASSERT_TRUE(status.ok()) << status;
  }
  void Close() { spool_.reset(); }

  absl::Status TryAppend(const std::string& text) {
    FrameBuffer frames;
    frames.AddSerialised(text);
    return spool_->Append(&frames).status();
  }
  void Append(const std::string& text) {
    const absl::Status status = TryAppend(text);
    ASSERT_TRUE(status.ok()) << status;
  }
  void AppendAll(const std::vector<std::string>& texts) {
    for (const std::string& text : texts) Append(text);
  }

  // Returns every readable record from `from_seq` on and skips holes.
  std::vector<std::string> ReadAll(uint64_t from_seq = 1, size_t max_bytes = 1 << 20) {
    std::vector<std::string> records;
    while (from_seq <= spool_->state().appended_seq) {
      const absl::StatusOr<SpoolBatch> batch = spool_->Read(from_seq, max_bytes);
      EXPECT_TRUE(batch.ok()) << batch.status();
      if (!batch.ok()) break;
      EXPECT_GE(batch->first_seq, from_seq);
      for (std::string& record : CopyPayloads(*batch)) records.push_back(std::move(record));
      if (batch->last_seq + 1 == from_seq) break;
      from_seq = batch->last_seq + 1;
    }
    return records;
  }

  std::vector<std::string> FilesEndingIn(const std::string& suffix) const {
    std::vector<std::string> paths;
    for (const auto& entry : std::filesystem::directory_iterator(folder())) {
      if (entry.path().string().ends_with(suffix)) paths.push_back(entry.path().string());
    }
    std::sort(paths.begin(), paths.end());
    return paths;
  }
  std::string OnlySegment() const {
    const std::vector<std::string> segments = FilesEndingIn(".seg");
    EXPECT_EQ(segments.size(), 1);
    return segments.empty() ? "" : segments.front();
  }
  const std::string& folder() const { return folder_.path(); }

  TempFolder folder_;
  std::vector<std::string> notices_;
  std::unique_ptr<Spool> spool_;
};

}  // namespace telemetry::client

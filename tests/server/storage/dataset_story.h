#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "server/storage/sqlite_store.h"
#include "server/storage/store.h"

namespace telemetry::storage {

// A folder of a test's own, gone when the test is over.
class TempFolder {
 public:
  TempFolder();
  ~TempFolder();
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;
  std::string File(const std::string& name) const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
};

// Records with the values that tests do not care about filled in. Ids are told apart by one letter.
std::string RunId(char digit);
std::string AttemptId(char letter);
v1::Record RunRecord(char run);
v1::Record AttemptRecord(char attempt, char run);
v1::Record ConfigRecord(uint64_t config_id, const std::string& text);
// Two nodes and an edge.
v1::Record GraphRecord(char run);
v1::Record Row(char attempt, uint64_t seq, double perf_ms, uint64_t config_id = 7);
// With a value in each field.
v1::Record DetailRecord(char attempt, uint64_t seq);

// A dataset in a file, its writer, and one producer who sends to it: so that a test reads as a story.
class DatasetStory {
 public:
  explicit DatasetStory(WriterOptions options = {});

  // Sends the records as the next ones of the producer's log, in one transaction.
  BatchOutcome Send(const std::vector<v1::Record>& records);
  // Sends them with these sequence numbers.
  BatchOutcome SendAt(uint64_t first_seq, const std::vector<v1::Record>& records, uint64_t epoch = 1);
  // Ends the writer and begins a new one.
  void Restart();

  // The first column of a query's first row, as text.
  std::string Query(const std::string& sql) const;
  // Everything that an export hands out, as text: equal texts are equal datasets.
  std::string Export(const v1::Filter& filter = {}) const;

  StoreWriter& writer() { return *writer_; }
  const std::string& path() const { return path_; }
  const std::string& producer_id() const { return producer_id_; }

 private:
  TempFolder folder_;
  const std::string path_;
  const WriterOptions options_;
  const std::string producer_id_ = std::string(16, 'p');
  std::unique_ptr<StoreWriter> writer_;
  uint64_t next_seq_ = 1;
};

}  // namespace telemetry::storage

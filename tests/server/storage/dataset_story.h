#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "server/storage/sqlite/sqlite_store.h"
#include "server/storage/store.h"
#include "tests/server/storage/temp_folder.h"
#include "tests/server/storage/test_dataset.h"

namespace telemetry::storage {

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

// Everything that an export hands out, as text: equal texts are equal datasets.
std::string ExportText(StoreReader& reader, const v1::Filter& filter = {});

// Appends the records to a batch with what Validate has against them, as a collector does.
void AddRecords(const std::vector<v1::Record>& records, ProducerBatch* batch);

// A dataset, its writer, and one producer who sends to it: so that a test reads as a story.
class DatasetStory {
 public:
  explicit DatasetStory(const WriterOptions& options = {});

  // Sends the records as the next ones of the producer's log, in one transaction.
  BatchOutcome Send(const std::vector<v1::Record>& records);
  // Sends them with these sequence numbers.
  BatchOutcome SendAt(uint64_t first_seq, const std::vector<v1::Record>& records, uint64_t epoch = 1);
  // Ends the writer and begins a new one.
  void Restart();

  // The first column of a query's first row, as text.
  std::string Query(const std::string& sql) const;
  std::string Export(const v1::Filter& filter = {}) const;

  StoreWriter& writer() { return *writer_; }
  std::unique_ptr<StoreReader> OpenReader() const;
  // Of the file; of a dataset on a server its url.
  const std::string& path() const { return dataset_->db(); }
  const std::string& producer_id() const { return producer_id_; }

 private:
  const std::unique_ptr<TestDataset> dataset_;
  const std::string producer_id_ = std::string(16, 'p');
  std::unique_ptr<StoreWriter> writer_;
  uint64_t next_seq_ = 1;
};

}  // namespace telemetry::storage

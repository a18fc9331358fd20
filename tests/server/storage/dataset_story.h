#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "server/storage/sqlite/sqlite_store.h"
#include "server/storage/store.h"
#include "tests/server/storage/test_dataset.h"
#include "tests/temp_folder.h"

namespace telemetry::storage {

// Return records with default values in the fields that a test does not care about. Ids differ in one character.
std::string RunId(char digit);
std::string AttemptId(char letter);
v1::Record RunRecord(char run);
v1::Record AttemptRecord(char attempt, char run);
v1::Record ConfigRecord(uint64_t config_id, const std::string& text);
// `decorator`: empty: none
v1::Record RunConfigRecord(char run, uint64_t config_id, const std::string& decorator = "");
// Returns a graph with two nodes and an edge.
v1::Record GraphRecord(char run);
v1::Record Row(char attempt, uint64_t seq, double perf_ms, uint64_t config_id = 7);
// Returns a detail with a value in each field.
v1::Record DetailRecord(char attempt, uint64_t seq);
v1::Record EventRecord(char attempt, uint64_t seq, const std::string& text = R"({"event": "selected"})");

// Returns a complete export as text: equal texts mean equal datasets.
std::string ExportText(StoreReader& reader, const v1::Filter& filter = {});

// Appends the records to a batch, with the refusals of Validate(), as a collector does.
void AddRecords(const std::vector<v1::Record>& records, ProducerBatch* batch);

// A dataset, its writer, and one producer that sends to it, so that a test reads as a story.
class DatasetStory {
 public:
  explicit DatasetStory(const sqlite::WriterOptions& options = {});

  // Sends the records as the next ones of the producer's log, in one transaction.
  BatchOutcome Send(const std::vector<v1::Record>& records);
  // Sends the records with sequence numbers from `first_seq` on.
  BatchOutcome SendAt(uint64_t first_seq, const std::vector<v1::Record>& records, uint64_t epoch = 1);
  // Closes the writer and opens a new one.
  void Restart();

  // Returns the first column of a query's first row, as text.
  std::string Query(const std::string& sql) const;
  std::string Export(const v1::Filter& filter = {}) const;

  StoreWriter& writer() { return *writer_; }
  std::unique_ptr<StoreReader> OpenReader() const;
  // Returns the file's path, or the URL of a dataset on a server.
  const std::string& path() const { return dataset_->db(); }
  const std::string& producer_id() const { return producer_id_; }

 private:
  const std::unique_ptr<TestDataset> dataset_;
  const std::string producer_id_ = std::string(16, 'p');
  std::unique_ptr<StoreWriter> writer_;
  uint64_t next_seq_ = 1;
};

}  // namespace telemetry::storage

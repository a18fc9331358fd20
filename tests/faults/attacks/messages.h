// Messages of the ingest protocol, for clients that write frames directly.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "telemetry/v1/ingest.pb.h"

namespace telemetry::faults {

inline constexpr char kStream[] = "/telemetry.v1.IngestService/Stream";
inline constexpr char kIngest[] = "/telemetry.v1.IngestService/Ingest";
inline constexpr char kExport[] = "/telemetry.v1.DatasetService/Export";

// Returns an id of 16 bytes, different for each number.
std::string ProducerId(int number);
std::string OpenMessage(const std::string& producer_id);

v1::Batch MakeBatch(uint64_t first_seq, const std::vector<std::string>& records);
// Returns a batch of `count` copies of one record.
v1::Batch MakeBatch(uint64_t first_seq, const std::string& record, int count);
std::string BatchMessage(const v1::Batch& batch);

// Returns an attempt with a fixed id and a text of `text_bytes` bytes.
v1::Record Attempt(size_t text_bytes = 20);
std::string AttemptRecord(size_t text_bytes);
// Returns a row of that attempt.
v1::Record RowWithStatus(uint64_t seq, const std::string& status);
// Returns a run with a kernel source of `source_bytes` bytes.
std::string RunRecord(size_t source_bytes);

// Returns a text of `bytes` bytes, different for each number.
std::string DistinctText(uint64_t number, size_t bytes);

}  // namespace telemetry::faults

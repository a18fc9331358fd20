#pragma once

#include <string>

#include "tests/server/export/memory_dataset.h"

namespace telemetry::exporter {

// Adds a sample under tests/testdata that contains one attempt of one run, such as "helion-main/rms_norm": its .csv
// and, if they exist, its .meta.jsonl or .meta.json and its .ir.jsonl. `run` contains the description that the sample's
// dialect lacks. Fails the test if the sample cannot be read.
void AddSample(const std::string& name, const v1::Run& run, MemoryDataset* dataset);

// Returns a file's bytes, or an empty string if there is no file.
std::string ReadFile(const std::string& path);
std::string ReadSample(const std::string& name);

}  // namespace telemetry::exporter

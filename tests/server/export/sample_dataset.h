#pragma once

#include <string>

#include "tests/server/export/memory_dataset.h"

namespace telemetry::exporter {

// Reads a sample under tests/testdata that holds one attempt of one run, as in "helion-main/rms_norm": its .csv and,
// where they exist, its .meta.jsonl or .meta.json and its .ir.jsonl. `run` says what the sample's dialect does not; it
// fails the test when the sample cannot be read.
void AddSample(const std::string& name, const v1::Run& run, MemoryDataset* dataset);

// A file's bytes; empty where there is none.
std::string ReadFile(const std::string& path);
std::string ReadSample(const std::string& name);

}  // namespace telemetry::exporter

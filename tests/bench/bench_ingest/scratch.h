#pragma once

#include <stdlib.h>

#include <cstdio>
#include <filesystem>
#include <string>

namespace telemetry::bench {

// A folder for one measurement, removed behind it so that the next one finds the disk as this one did. Ends the program
// where none can be made.
class Scratch {
 public:
  explicit Scratch(const std::string& dir) : path_(dir + "/bench-ingest-XXXXXX") {
    if (mkdtemp(path_.data()) == nullptr) {
      std::fprintf(stderr, "cannot make a folder in %s; name another with --dir or --spool-dir\n", dir.c_str());
      std::exit(1);
    }
  }
  ~Scratch() { std::filesystem::remove_all(path_); }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace telemetry::bench

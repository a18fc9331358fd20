#pragma once

#include <stdlib.h>

#include <cstdio>
#include <filesystem>
#include <string>

namespace telemetry::bench {

// A temporary folder for one measurement. The destructor removes it, so that the next measurement finds the disk in the
// same state. Ends the program if the folder cannot be created.
class Scratch {
 public:
  explicit Scratch(const std::string& dir) : path_(dir + "/bench-ingest-XXXXXX") {
    if (mkdtemp(path_.data()) == nullptr) {
      std::fprintf(stderr, "cannot create a folder in %s; select another one with --dir or --spool-dir\n", dir.c_str());
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

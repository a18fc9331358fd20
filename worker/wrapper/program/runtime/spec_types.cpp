#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

// A kernel and its launch.
struct Code {
  const char* function;
  const char* options;
  size_t global[3];
  size_t local[3];
  const char* source;
};

enum Kind { kScalar, kRead, kWritten, kLocal };

// An argument. Its contents are the embedded bytes, repeated, or if there are
// none those of a file next to the program.
struct Argument {
  const char* name;
  Kind kind;
  const char* type;
  size_t bytes;
  const char* contents;
  size_t embedded;
  const char* expected;  // name of a file; "": none
  double absolute;
  double relative;
};

// ---- The kernel of the specification and its reference.

struct Code {
  const char* function;  // CUDA: an expression of C++ that names the kernel
  std::vector<const char*> options;
  size_t blocks[3];
  size_t threads[3];
  size_t shared_bytes;  // CUDA: dynamic shared memory
  const char* source;
};

// kVariable: CUDA's __constant__ or __device__ variable, which is no argument.
enum Kind { kScalar, kRead, kWritten, kLocal, kVariable };

// An argument. Its contents are the embedded bytes, repeated, or if there are none those of a file next to the program.
struct Argument {
  const char* name;
  Kind kind;
  bool is_variable_too;  // kRead: the contents are also those of the variable with this name
  const char* type;
  size_t bytes;
  const char* contents;
  size_t embedded;
  const char* expected;  // name of a file; "": none
  double absolute, relative;
};

using Bytes = std::vector<unsigned char>;

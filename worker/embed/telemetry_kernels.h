#ifndef TELEMETRY_KERNELS_H_
#define TELEMETRY_KERNELS_H_

/* The kernels of the library for programs that call them on their own tensors, in their own process:
   libtelemetry-kernels.so.

   Tensors are DLPack's (dlpack.h): on the CUDA device of the kernel, or on the host for an OpenCL device. The program
   keeps them until the work on them is done. Inputs may have strides. Outputs are dense and row-major, and share no
   memory with other tensors of the call. Addresses are multiples of 16 bytes.

   Functions return 0, or else the number of an absl::StatusCode; telemetry_kernels_error() then says what failed. Any
   thread may call any function. Calls on one device wait for each other. */

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct DLTensor;        /* dlpack.h */
struct DLManagedTensor; /* dlpack.h */

/* The number of this interface. It changes with every change to existing functions. */
#define TELEMETRY_KERNELS_VERSION 1
int telemetry_kernels_version(void);

/* Returns the message of the calling thread's last error, valid until its next call. */
const char* telemetry_kernels_error(void);

/* A kernel of the library for one device and one config. */
typedef struct telemetry_kernel telemetry_kernel;

/* Makes a kernel. `device` is a name such as "cuda:0" or "opencl:0", "" for the first device. `name` is that of a
   kernel of `telemetry-worker kernels`. `config` is the text of a config, such as the `config` that `telemetry-worker
   best` prints; "" for the default config. Code is compiled at the first call with tensors of one dtype and layout. */
int telemetry_kernel_create(const char* device, const char* name, const char* config, telemetry_kernel** kernel);
void telemetry_kernel_destroy(telemetry_kernel* kernel);

/* Returns the kernel's interface as JSON, valid as long as the kernel:
   {"device": "cuda:0", "on_host": false, "tensors": ["x"], "numbers": [{"name": "eps", "default": 1e-05}]} */
const char* telemetry_kernel_describe(const telemetry_kernel* kernel);

/* Runs the kernel. `inputs` are its tensors and `numbers` its numbers (flags are 0 or 1), both in the order of
   describe. `stream` points to the CUstream of the call (0: the legacy default stream); NULL: the stream of the
   library. On a CUDA device the launch is queued, and the function returns; on OpenCL the outputs are complete. The
   first call for a dtype and layout compiles the code; later calls allocate no memory of the device and wait for
   nothing, so the stream can be captured into a CUDA graph. */
int telemetry_kernel_run(telemetry_kernel* kernel, const struct DLTensor* const* inputs, size_t input_count,
                         const double* numbers, size_t number_count, const struct DLTensor* const* outputs,
                         size_t output_count, const uint64_t* stream);

/* Allocates the outputs of a call with these inputs, not initialised. `outputs` has room for `capacity` tensors; *count
   receives their number. The program calls the deleter of each. */
int telemetry_kernel_allocate(telemetry_kernel* kernel, const struct DLTensor* const* inputs, size_t input_count,
                              const double* numbers, size_t number_count, struct DLManagedTensor** outputs,
                              size_t capacity, size_t* count);

#ifdef __cplusplus
}
#endif

#endif /* TELEMETRY_KERNELS_H_ */

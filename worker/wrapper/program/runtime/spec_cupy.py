# ---- The kernel on CUDA, by CuPy and NVRTC.

import cupy
from cupy.cuda import nvrtc


def names():
    runtime = cupy.cuda.runtime
    return [runtime.getDeviceProperties(i)["name"].decode() for i in range(runtime.getDeviceCount())]


def open_device(number):
    cupy.cuda.Device(number).use()
    return names()[number]


def compile_code(code):
    """Compiles with the options of the tuner. RawModule would add --ftz=true and thus make different code."""
    program = nvrtc.createProgram(code["source"], "kernel.cu", (), ())
    nvrtc.addNameExpression(program, code["function"])
    try:
        nvrtc.compileProgram(program, code["options"])
    except nvrtc.NVRTCError:
        raise RuntimeError(f"{code['function']}: {nvrtc.getProgramLog(program)}") from None
    name = nvrtc.getLoweredName(program, code["function"])
    with tempfile.NamedTemporaryFile(suffix=".cubin") as file:
        file.write(nvrtc.getCUBIN(program))
        file.flush()
        module = cupy.RawModule(path=file.name)
        kernel = module.get_function(name)
        kernel.num_regs  # loads it
    if code["shared_bytes"] > 48 << 10:
        kernel.max_dynamic_shared_size_bytes = code["shared_bytes"]
    return module, kernel


class Call:
    """A compiled kernel with its own copies of the arguments."""

    def __init__(self, code):
        self.code = code
        module, self.kernel = compile_code(code)
        self.buffers, self.arguments = {}, []
        for argument in ARGUMENTS:
            name, kind, bytes_ = argument["name"], argument["kind"], contents(argument)
            if kind == "variable" or argument["is_variable_too"]:
                memory = module.get_global(name)
                count = min(memory.mem.size, len(bytes_))
                memory.copy_from_host(np.ascontiguousarray(bytes_).ctypes.data_as(ctypes.c_void_p), count)
            if kind in ("read", "written"):
                self.buffers[name] = cupy.asarray(bytes_)
                self.arguments.append(self.buffers[name])
            elif kind == "scalar":
                self.arguments.append(bytes_.view(SCALAR_TYPES[argument["type"]])[0])

    def launch(self):
        """Launches the kernel and waits; returns its time in milliseconds."""
        begin, end = cupy.cuda.Event(), cupy.cuda.Event()
        begin.record()
        self.kernel(
            tuple(self.code["blocks"]), tuple(self.code["threads"]), self.arguments, shared_mem=self.code["shared_bytes"]
        )
        end.record()
        end.synchronize()
        return cupy.cuda.get_elapsed_time(begin, end)

    def result(self, argument):
        return cupy.asnumpy(self.buffers[argument["name"]])


# CuPy passes a scalar of 1, 2, 4 or 8 bytes as its bytes.
SCALAR_TYPES = {"f64": "f8", "f32": "f4", "f16": "f2", "bf16": "u2", "i64": "i8", "i32": "i4", "i16": "i2", "i8": "i1"}
SCALAR_TYPES |= {"u64": "u8", "u32": "u4", "u16": "u2", "u8": "u1", "bool": "u1"}


class Flush:
    """Overwrites the device's cache: in a real program the first call finds it cold."""

    def __init__(self):
        properties = cupy.cuda.runtime.getDeviceProperties(cupy.cuda.Device().id)
        self.zeros = cupy.zeros(2 * min(properties["l2CacheSize"], 256 << 20), cupy.uint8)

    def run(self):
        self.zeros.sum()  # by reading, because written data would be written back while the next kernel runs
        cupy.cuda.Device().synchronize()

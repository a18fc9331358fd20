# ---- Kernels on CUDA, compiled by NVRTC and loaded by CuPy.

import tempfile

import cupy
from cupy.cuda import nvrtc


@functools.cache
def compile_kernel(name, source):
    """Compiles with the options of the tuner. RawModule would add --ftz=true and thus make different code."""
    program = nvrtc.createProgram(source, "kernel.cu", (), ())
    try:
        nvrtc.compileProgram(program, COMPILE_OPTIONS)
    except nvrtc.NVRTCError:
        raise RuntimeError(f"{name}: {nvrtc.getProgramLog(program)}") from None
    with tempfile.NamedTemporaryFile(suffix=".cubin") as file:
        file.write(nvrtc.getCUBIN(program))
        file.flush()
        kernel = cupy.RawModule(path=file.name).get_function(name)
        kernel.num_regs  # loads it
    return kernel

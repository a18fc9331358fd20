# ---- Kernels that are given as source, compiled by NVRTC and loaded by CuPy.


@functools.cache
def compile_source(name, source, options):
    """Compiles with the options of the tuner. `name` is an expression of C++ that names the kernel."""
    program = nvrtc.createProgram(source, "kernel.cu", (), ())
    nvrtc.addNameExpression(program, name)
    try:
        nvrtc.compileProgram(program, options)
    except nvrtc.NVRTCError:
        raise RuntimeError(f"{name}: {nvrtc.getProgramLog(program)}") from None
    function = nvrtc.getLoweredName(program, name)
    with tempfile.NamedTemporaryFile(suffix=".cubin") as file:
        file.write(nvrtc.getCUBIN(program))
        file.flush()
        kernel = cupy.RawModule(path=file.name).get_function(function)
        kernel.num_regs  # loads it
    return kernel

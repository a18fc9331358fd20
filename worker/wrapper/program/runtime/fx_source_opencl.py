# ---- Kernels that are given as source.


@functools.cache
def compile_source(name, source, options):
    return cl.Kernel(cl.Program(context, source).build(options=list(options)), name)


@torch.fx.has_side_effect
def launch_source(name, *tensors):
    """Launches a kernel of SOURCES and waits."""
    function, source, options, blocks, threads, shared_bytes, numbers = SOURCES[name]
    kernel = compile_source(function, source, options)
    copies, given = [], iter(tensors)
    for i, number in enumerate(numbers):
        if number is not None:
            kernel.set_arg(i, number)
            continue
        memory = memory_of(next(given))
        buffer = cl.Buffer(context, cl.mem_flags.READ_WRITE, max(memory.nbytes, 1))
        cl.enqueue_copy(queue, buffer, memory)
        copies.append((memory, buffer))
        kernel.set_arg(i, buffer)
    if shared_bytes > 0:
        kernel.set_arg(len(numbers), cl.LocalMemory(shared_bytes))
    everything = [count * size for count, size in zip(blocks, threads)]
    cl.enqueue_nd_range_kernel(queue, kernel, everything, threads)
    for memory, buffer in copies:
        cl.enqueue_copy(queue, memory, buffer)
    queue.finish()

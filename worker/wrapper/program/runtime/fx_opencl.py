# ---- Launches on the first OpenCL device, by PyOpenCL. The tensors are on the CPU: a launch copies them to the device
# and back.

import pyopencl as cl

DEVICE = "cpu"

context = cl.Context([device for platform in cl.get_platforms() for device in platform.get_devices()][:1])
queue = cl.CommandQueue(context)


@functools.cache
def compile_kernel(name, source):
    return cl.Kernel(cl.Program(context, source).build(options=list(COMPILE_OPTIONS)), name)


def memory_of(tensor):
    """Returns the bytes from the first element of a tensor to its last one, gaps included."""
    span = 0 if tensor.numel() == 0 else 1 + sum((size - 1) * stride for size, stride in zip(tensor.shape, tensor.stride()))
    return torch.as_strided(tensor, (span,), (1,), tensor.storage_offset()).view(torch.uint8).numpy()


@torch.fx.has_side_effect
def launch(name, grid, threads, shared_bytes, *arguments):
    """Launches a kernel of KERNELS and waits. An int is passed as int64, a float as float32."""
    if grid == 0:
        return
    kernel = compile_kernel(*KERNELS[name])
    copies = []
    for i, argument in enumerate(arguments):
        if isinstance(argument, torch.Tensor):
            memory = memory_of(argument)
            buffer = cl.Buffer(context, cl.mem_flags.READ_WRITE, max(memory.nbytes, 1))
            cl.enqueue_copy(queue, buffer, memory)
            copies.append((memory, buffer))
            kernel.set_arg(i, buffer)
        else:
            kernel.set_arg(i, np.float32(argument) if isinstance(argument, float) else np.int64(argument))
    if shared_bytes > 0:
        kernel.set_arg(len(arguments), cl.LocalMemory(shared_bytes))
    cl.enqueue_nd_range_kernel(queue, kernel, (grid * threads,), (threads,))
    for memory, buffer in copies:
        cl.enqueue_copy(queue, memory, buffer)
    queue.finish()

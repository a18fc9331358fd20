# ---- Launches on CUDA, in PyTorch's current stream.

DEVICE = "cuda"


def argument_of(argument):
    if isinstance(argument, torch.Tensor):
        return np.uintp(argument.data_ptr())
    return np.float32(argument) if isinstance(argument, float) else np.int64(argument)


@torch.fx.has_side_effect
def launch(name, grid, threads, shared_bytes, *arguments):
    """Launches a kernel of KERNELS. An int is passed as int64, a float as float32."""
    if grid == 0:
        return
    kernel = compile_kernel(*KERNELS[name])
    if shared_bytes > 48 << 10:
        kernel.max_dynamic_shared_size_bytes = shared_bytes
    device = next(argument.device for argument in arguments if isinstance(argument, torch.Tensor))
    with cupy.cuda.Device(device.index), cupy.cuda.ExternalStream(torch.cuda.current_stream(device).cuda_stream):
        kernel((grid,), (threads,), tuple(argument_of(argument) for argument in arguments), shared_mem=shared_bytes)

# ---- The kernel on OpenCL, by PyOpenCL.

import pyopencl as cl

devices = [device for platform in cl.get_platforms() for device in platform.get_devices()]


def open_device(number):
    global device, context, queue
    device = devices[number]
    context = cl.Context([device])
    queue = cl.CommandQueue(context, properties=cl.command_queue_properties.PROFILING_ENABLE)
    return device.name


def names():
    return [device.name for device in devices]


class Call:
    """A compiled kernel with its own copies of the arguments."""

    def __init__(self, code):
        self.code = code
        # The device's compiler compiles the source each time, without PyOpenCL's cache.
        program = cl.Program(context, code["source"]).build(options=code["options"], cache_dir=False)
        self.kernel = cl.Kernel(program, code["function"])
        self.buffers = {}
        for i, argument in enumerate(ARGUMENTS):
            if argument["kind"] == "local":
                self.kernel.set_arg(i, cl.LocalMemory(argument["bytes"]))
            elif argument["kind"] == "scalar":
                self.kernel.set_arg(i, contents(argument))
            else:
                flags = cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR
                self.buffers[argument["name"]] = cl.Buffer(context, flags, hostbuf=contents(argument))
                self.kernel.set_arg(i, self.buffers[argument["name"]])

        if code["shared_bytes"] > 0:
            self.kernel.set_arg(len(ARGUMENTS), cl.LocalMemory(code["shared_bytes"]))

    def launch(self):
        """Launches the kernel and waits; returns its time in milliseconds."""
        everything = [blocks * threads for blocks, threads in zip(self.code["blocks"], self.code["threads"])]
        begin = cl.enqueue_marker(queue)
        cl.enqueue_nd_range_kernel(queue, self.kernel, everything, self.code["threads"])
        end = cl.enqueue_marker(queue)
        end.wait()
        return (end.profile.end - begin.profile.end) * 1e-6

    def result(self, argument):
        found = np.empty(argument["bytes"], np.uint8)
        cl.enqueue_copy(queue, found, self.buffers[argument["name"]])
        return found


class Flush:
    """Overwrites the device's cache: in a real program the first call finds it cold."""

    def __init__(self):
        size = 2 * min(device.global_mem_cache_size or 32 << 20, 256 << 20)
        self.zeros = np.zeros(size, np.uint8)
        self.buffer = cl.Buffer(context, cl.mem_flags.READ_WRITE, size)

    def run(self):
        cl.enqueue_copy(queue, self.buffer, self.zeros)
        queue.finish()

def launch_source(name, kernel, blocks, threads, shared_bytes, is_repeatable, *arguments):
    """A launch is timed if a repeated one has the same results."""
    if shared_bytes > 48 << 10:
        kernel.max_dynamic_shared_size_bytes = shared_bytes

    def queue_launch():
        kernel(blocks, threads, arguments, shared_mem=shared_bytes)

    if is_repeatable:
        run(name, queue_launch)
    else:
        queue_launch()

# ---- The debugger: prints the name of the kernel before each launch and after it is complete.


def debug_before(kernel):
    if not is_timed:
        print(f"[before_launch - {kernel}]", file=sys.stderr)


def debug_after(kernel):
    if not is_timed:
        cupy.cuda.Device().synchronize()
        print(f"[after_launch - {kernel}]", file=sys.stderr)

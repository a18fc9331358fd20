# ---- Runs the kernel and its reference, compares the results, and takes times.

FOLDER = pathlib.Path(__file__).resolve().parent


def read(name, size):
    found = np.fromfile(FOLDER / name, np.uint8)
    if len(found) != size:
        raise RuntimeError(f"{FOLDER / name} has {len(found)} bytes, not {size}")
    return found


def contents(argument):
    """Returns the initial bytes: those of a file, or the embedded bytes, repeated."""
    if argument["kind"] == "local":
        return None
    if argument["file"]:
        return read(argument["file"], argument["bytes"])
    embedded = np.frombuffer(argument["contents"], np.uint8)
    return np.resize(embedded, argument["bytes"])


FLOATS = {"f64": np.float64, "f32": np.float32, "f16": np.float16, "bf16": np.uint16}


def decode(dtype, found):
    numbers = found.view(FLOATS[dtype])
    return (numbers.astype(np.uint32) << 16).view(np.float32) if dtype == "bf16" else numbers.astype(np.float64)


def is_right(argument, found, expected):
    """Compares the results of an argument with the expected ones. Integers must be equal."""
    dtype, name = argument["type"], argument["name"]
    right = found == expected
    if dtype in FLOATS:
        a, b = decode(dtype, found), decode(dtype, expected)
        with np.errstate(invalid="ignore"):
            right = np.abs(a - b) <= argument["absolute"] + argument["relative"] * np.abs(b)
        right |= (a == b) | (np.isnan(a) & np.isnan(b))
    wrong = np.flatnonzero(~right)
    if len(wrong) == 0:
        print(f"{name}: right")
        return True
    what = "elements" if dtype in FLOATS else "bytes"
    print(f"{name}: {len(wrong)} of {len(right)} {what} are wrong, the first is number {wrong[0]}")
    return False


def results_are_right(call):
    if not IS_CHECKED:
        print("the specification has no reference; the results were not compared")
        return True
    reference = None
    if REFERENCE is not None:
        reference = Call(REFERENCE)
        reference.launch()
    all_right = True
    for argument in ARGUMENTS:
        if argument["kind"] != "written":
            continue
        if argument["expected"]:
            expected = read(argument["expected"], argument["bytes"])
        elif reference is not None:
            expected = reference.result(argument)
        else:
            continue
        all_right = is_right(argument, call.result(argument), expected) and all_right
    return all_right


def take_times(call):
    """Samples 200 times or for a second, each after a flush of the device's cache."""
    flush, samples_ms = Flush(), []
    begin = time.monotonic()
    while len(samples_ms) < 200 and (len(samples_ms) < 3 or time.monotonic() - begin < 1):
        flush.run()
        samples_ms.append(call.launch())
    median_ms = float(np.median(samples_ms))
    print(f"{KERNEL['function']}: median {median_ms:.4f} ms ({len(samples_ms)} samples, min {min(samples_ms):.4f}, "
          f"max {max(samples_ms):.4f})")
    if MEASURED_MS:
        print(f"measured before: {MEASURED_MS:.4f} ms; now {median_ms / MEASURED_MS:.3f} of it")


def main():
    arguments = sys.argv[1:]
    with_times = "--no-time" not in arguments
    arguments = [argument for argument in arguments if argument != "--no-time"]
    if arguments and (len(arguments) != 2 or arguments[0] != "--device" or not arguments[1].isdigit()):
        print(f"usage: {sys.argv[0]} [--no-time] [--device N]", file=sys.stderr)
        return 2
    number = int(arguments[1]) if arguments else names().index(DEVICE) if DEVICE in names() else 0
    print(f"device {number}: {open_device(number)} (measured on {DEVICE})")
    call = Call(KERNEL)
    call.launch()
    right = results_are_right(call)
    if right and with_times:
        take_times(call)
    return 0 if right else 1

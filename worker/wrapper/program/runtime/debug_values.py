# ---- The debugger: saves (level 1) or prints (level 2) the values around each launch, and finds the first NaN.

import errno
import math
import re

NPY_DTYPES = {"f32": "<f4", "f16": "<f2", "bf16": "<f4", "i32": "<i4", "bool": "|b1"}
PART = np.dtype([("finite", "<i8"), ("nans", "<i8"), ("infinities", "<i8"), ("mean", "<f8"), ("squares", "<f8"),
                 ("minimum", "<u4"), ("maximum", "<u4")])


class DebugValue:
    """A tensor of a call or an input of the program, or a number, which `number` describes. `name` is the kernel's name;
    `buffer` and `memory` are the program's names of a tensor and of the memory that it is in, empty for an input."""

    def __init__(self, name, buffer, memory, dtype, array, strides, is_output=False, number=None):
        self.name, self.buffer, self.memory, self.dtype = name, buffer, memory, dtype
        self.array, self.strides, self.is_output, self.number = array, strides, is_output, number


def debug_tensor(name, buffer, memory, dtype, array, strides):
    return DebugValue(name, buffer, memory, dtype, array, strides)


def debug_output(name, buffer, memory, dtype, array, strides):
    return DebugValue(name, buffer, memory, dtype, array, strides, is_output=True)


def debug_number(name, number):
    return DebugValue(name, "", "", None, None, None, number=number)


def debug_print(line):
    print(line, file=sys.stderr)


debug_errors = set()  # the errno of those that were printed


def debug_error(what, error):
    """Prints an error unless one of its kind was printed."""
    if error not in debug_errors:
        debug_print(f"[error] cannot save values: {what}: {os.strerror(error)}. The run continues; further errors of this "
                    "kind are not shown")
    debug_errors.add(error)


class DebugPart:
    """Statistics of some elements of a tensor. Mean, extremes and squares are those of the finite elements."""

    def __init__(self, finite=0, nans=0, infinities=0, mean=0.0, squares=0.0, minimum=0.0, maximum=0.0):
        self.finite, self.nans, self.infinities = finite, nans, infinities
        self.mean, self.squares, self.minimum, self.maximum = mean, squares, minimum, maximum

    def add(self, other):
        self.nans += other.nans
        self.infinities += other.infinities
        if other.finite == 0:
            return
        if self.finite == 0:
            self.minimum, self.maximum = other.minimum, other.maximum
        here, there, apart = float(self.finite), float(other.finite), other.mean - self.mean
        self.mean += apart * (there / (here + there))
        self.squares += other.squares + apart * apart * (here * (there / (here + there)))
        self.finite += other.finite
        self.minimum = min(self.minimum, other.minimum)
        self.maximum = max(self.maximum, other.maximum)


def value_of_order(order, dtype):
    """Decodes an extreme, which the device writes as an unsigned number of the same order."""
    if dtype in ("i32", "bool"):
        return float(order - 2**31)
    bits = order ^ 2**31 if order & 2**31 else ~order & (2**32 - 1)
    return float(np.uint32(bits).view(np.float32))


def simplified(sizes, strides):
    """Returns the layout with as few dimensions as possible."""
    layout = []
    for size, stride in zip(sizes, strides):
        if size == 1:
            continue
        if layout and layout[-1][1] == stride * size:
            layout[-1] = (layout[-1][0] * size, stride)
        else:
            layout.append((size, stride))
    return layout


def measure(value):
    """Computes the statistics on the device, which reads each element once."""
    whole = DebugPart()
    elements = math.prod(value.array.shape)
    if elements == 0:
        return whole
    layout = simplified(value.array.shape, value.strides)
    numbers = [size for size, _ in layout] + [stride for _, stride in layout]
    units = cupy.cuda.runtime.getDeviceProperties(cupy.cuda.Device().id)["multiProcessorCount"]
    blocks = min((elements + STATISTICS_THREADS - 1) // STATISTICS_THREADS, 8 * units)
    dimensions = cupy.asarray(np.array(numbers or [0], np.int64))
    parts = cupy.empty(blocks * PART.itemsize, np.uint8)
    kernel = compile_kernel("tensor_statistics", STATISTICS_SOURCE)
    kernel((blocks,), (STATISTICS_THREADS,),
           (value.array, np.int32(list(DTYPES).index(value.dtype)), np.int64(elements), np.int32(len(layout)),
            np.int64(layout[0][1] if len(layout) == 1 else 0), dimensions, parts), shared_mem=0)
    for *counts, low, high in cupy.asnumpy(parts).view(PART).tolist():
        whole.add(DebugPart(*counts, value_of_order(low, value.dtype), value_of_order(high, value.dtype)))
    return whole


def stored_elements(value):
    """Returns the elements in row-major order as they are stored; a bool is False for 0 only."""
    stored = np.ascontiguousarray(cupy.asnumpy(value.array))
    return stored.view(np.uint8) != 0 if value.dtype == "bool" else stored


def debug_digits(number):
    return "nan" if math.isnan(number) else f"{number:.9g}"


def debug_text(value, part):
    sizes, elements = value.array.shape, math.prod(value.array.shape)
    deviation = math.sqrt(part.squares / part.finite) if part.finite else 0.0
    numbers = (part.mean, part.minimum, part.maximum, deviation)
    mean, low, high, std = (debug_digits(number) if part.finite else "none" for number in numbers)
    text = "" if value.buffer in ("", value.name) else f"buffer={value.buffer} "
    text += (f"elements={elements} sizes={list(sizes)} strides={list(value.strides)} dtype={value.dtype} mean={mean} "
             f"min={low} max={high} std={std} nan={part.nans} inf={part.infinities}")
    if value.dtype not in ("i32", "bool") and 0 < part.finite < elements:
        text += " (mean, min, max, std of the finite elements)"
    if elements > 64:
        return text
    if value.dtype == "bool":
        shown = ["true" if element else "false" for element in stored_elements(value).ravel()]
    else:
        shown = [debug_digits(number) for number in decode(value.dtype, stored_elements(value)).ravel().tolist()]
    return f"{text} values=[{', '.join(shown)}]"


def npy_bytes(value):
    """Returns a file in NumPy's format, with bf16 as f32."""
    stored = stored_elements(value)
    if value.dtype == "bf16":
        stored = stored.astype(np.uint32) << 16
    shape = ", ".join(str(size) for size in value.array.shape) + ("," if value.array.ndim == 1 else "")
    text = f"{{'descr': '{NPY_DTYPES[value.dtype]}', 'fortran_order': False, 'shape': ({shape}), }}"
    text += " " * (-(10 + len(text) + 1) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text.encode() + stored.tobytes()


def debug_file_name(name):
    return re.sub(r"[^0-9A-Za-z_.-]", "_", name.encode()[:100].decode("latin-1"))


debug_launches = {}  # by kernel: the number in the names of its files


def debug_save(when, kernel, value):
    """Writes a new file, or none."""
    try:
        os.makedirs(DEBUG_FOLDER, exist_ok=True)
    except OSError as error:
        exists = error.errno == errno.EEXIST  # as something else than a folder
        return debug_error(f"cannot make the folder {DEBUG_FOLDER}", errno.ENOTDIR if exists else error.errno)
    stem = f"{DEBUG_FOLDER}/{when}_{debug_file_name(kernel)}_{debug_file_name(value.name)}"
    data = npy_bytes(value)
    while True:
        number = debug_launches[kernel]
        path = f"{stem}.{number}.npy" if number > 1 else f"{stem}.npy"
        try:
            file = open(path, "xb")
            break
        except FileExistsError:
            debug_launches[kernel] += 1
        except OSError as error:
            return debug_error(f"cannot write {path}", error.errno)
    try:
        with file:
            file.write(data)
    except OSError as error:
        os.unlink(path)
        debug_error(f"cannot write {path}", error.errno)


debug_makers = {}  # by memory: the kernel that wrote it last
has_first_nan = False


def debug_begin():
    """Begins a run, which has a first NaN of its own."""
    global has_first_nan
    debug_makers.clear()
    has_first_nan = False


def find_first_nan(value, part, maker):
    """Prints the first tensor with a NaN. NaNs in an output before the launch do not count."""
    global has_first_nan
    if has_first_nan or part.nans == 0 or (not maker and value.is_output):
        return
    has_first_nan = True
    maker = maker or debug_makers.get(value.memory or value.name)
    origin = f"made by kernel '{maker}'" if maker else "an input of the program"
    debug_print(f"[first_nan] the first tensor with a NaN is '{value.buffer or value.name}' ({part.nans} of "
                f"{math.prod(value.array.shape)} elements), {origin}")


def debug_look(when, kernel, maker, values):
    for value in values:
        head = f"[{when} - {kernel} - {value.name}] "
        if value.number is not None:
            if DEBUG_LEVEL == 2:
                debug_print(head + value.number)
            continue
        if DEBUG_LEVEL == 1:
            debug_save(when, kernel, value)
        part = measure(value)
        if DEBUG_LEVEL == 2:
            unwritten = "(output) " if when == "before_launch" and value.is_output else ""
            debug_print(head + unwritten + debug_text(value, part))
        find_first_nan(value, part, maker)


def debug_inputs(program, values):
    if not is_timed:
        debug_look("program_inputs", program, None, values)


def debug_before(kernel, values):
    if not is_timed:
        debug_launches[kernel] = debug_launches.get(kernel, 0) + 1
        debug_look("before_launch", kernel, None, values)


def debug_wrote(kernel, memory):
    """Records the kernel that wrote some memory."""
    debug_makers.update(dict.fromkeys(memory, kernel))


def debug_after(kernel, memory, values):
    if not is_timed:
        debug_wrote(kernel, memory)
        debug_look("after_launch", kernel, kernel, values)

"""Calls kernels of the library on the tensors of this process, in its CUDA streams.

    import torch
    from autotune_telemetry.kernels import Kernel

    softmax = Kernel("softmax", device="cuda:0")
    x = torch.randn(4096, 2560, device="cuda", dtype=torch.float16)
    out = torch.empty_like(x)
    softmax(x, out=[out])  # in torch's current stream

Tensors are those of any library with DLPack, such as PyTorch, CuPy and, for an OpenCL device, NumPy. Nothing is copied. The
first call for a dtype and layout compiles the code. Later calls allocate no memory of the device and wait for nothing, so they
can be captured into a CUDA graph: make each call once before the capture.
"""

from __future__ import annotations

import ctypes
import json
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from autotune_telemetry._settings import from_environment

VERSION = 1  # of the library's interface: TELEMETRY_KERNELS_VERSION

_FILE = "libtelemetry-kernels.so"
_CPU = 1  # DLPack's number of the host's memory
_UNUSED_CAPSULE = b"dltensor"
_MOST_OUTPUTS = 64

# Own prototypes, because the types of ctypes.pythonapi's attributes belong to all modules of the process.
_new_capsule = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)(
    ("PyCapsule_New", ctypes.pythonapi)
)
_tensor_in = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(("PyCapsule_GetPointer", ctypes.pythonapi))
# In a destructor the capsule has no references left, so that only its address can be passed.
_is_unused = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_char_p)(("PyCapsule_IsValid", ctypes.pythonapi))
_tensor_at = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_char_p)(("PyCapsule_GetPointer", ctypes.pythonapi))


class _ManagedTensor(ctypes.Structure):
    """DLPack's DLManagedTensor on 64-bit systems; of the tensor, only the device is read."""

    _fields_ = (
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("rest", ctypes.c_byte * 32),
        ("manager_ctx", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p),
    )


_DELETER = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


def _delete(pointer: int) -> None:
    deleter = _ManagedTensor.from_address(pointer).deleter
    if deleter:
        _DELETER(deleter)(pointer)


def _drop_capsule(capsule: int) -> None:
    """Deletes the tensor of a capsule that no library has taken over."""
    if _is_unused(capsule, _UNUSED_CAPSULE):
        _delete(_tensor_at(capsule, _UNUSED_CAPSULE))


_DESTRUCTOR = ctypes.PYFUNCTYPE(None, ctypes.c_void_p)(_drop_capsule)


class Output:
    """Memory for an output of a kernel. One library takes it over, for example `torch.from_dlpack(output)`."""

    def __init__(self, pointer: int) -> None:
        managed = _ManagedTensor.from_address(pointer)
        self._device = (int(managed.device_type), int(managed.device_id))
        self._pointer: int | None = pointer

    def __dlpack_device__(self) -> tuple[int, int]:
        return self._device

    def __dlpack__(self, **_: Any) -> Any:
        if self._pointer is None:
            raise BufferError("another library has taken over this output")
        capsule = _new_capsule(self._pointer, _UNUSED_CAPSULE, ctypes.cast(_DESTRUCTOR, ctypes.c_void_p))
        self._pointer = None
        return capsule

    def __del__(self) -> None:
        if self._pointer is not None:
            _delete(self._pointer)


class Kernel:
    """A kernel of the library for one device and one config. Any thread may call it.

    Parameters
    ----------
    name
        The name of a kernel of `telemetry-worker kernels`.
    device
        A name of `telemetry-worker devices`, such as cuda:0.
    config
        The text of a config, such as the `config` that `telemetry-worker best` prints. Empty: the default config.
    library
        Path of libtelemetry-kernels.so. Default: AUTOTUNE_TELEMETRY_KERNELS, else the one in this package.

    Raises
    ------
    RuntimeError
        There is no such kernel or device, or the config is invalid.
    OSError
        The library cannot be loaded.
    """

    def __init__(self, name: str, device: str = "cuda:0", config: str = "", *, library: str | None = None) -> None:
        self._handle = ctypes.c_void_p()
        self._library = _load(library)
        self._check(self._library.telemetry_kernel_create(*_texts(device, name, config), ctypes.byref(self._handle)))
        described = json.loads(self._library.telemetry_kernel_describe(self._handle))
        self.name = name
        self.device: str = described["device"]
        self.tensors: tuple[str, ...] = tuple(described["tensors"])
        self.numbers: dict[str, float] = {number["name"]: number["default"] for number in described["numbers"]}
        self._on_host: bool = described["on_host"]

    def __del__(self) -> None:
        if self._handle:
            self._library.telemetry_kernel_destroy(self._handle)

    def __call__(self, *tensors: Any, out: Sequence[Any], stream: Any = None, **numbers: float) -> None:
        """Runs the kernel. On a CUDA device, returns when the launch is queued; on OpenCL, when it has finished.

        Parameters
        ----------
        tensors
            The tensors of the kernel, in the order of the attribute `tensors`. They may have strides.
        out
            A tensor for each output. Outputs are dense and share no memory with another tensor of the call.
        stream
            On a CUDA device: a stream of torch or CuPy, or the number of a CUstream. Default: the current stream of
            torch if the first tensor is torch's, else the legacy default stream.
        numbers
            Values of the kernel's numbers. Default: those of the attribute `numbers`.

        Raises
        ------
        RuntimeError
            The library refuses a tensor, or the launch failed; the message says why.
        TypeError
            The kernel has no such number.
        """
        capsules, inputs = _share(tensors)
        out_capsules, outputs = _share(out)
        handle = None if self._on_host else ctypes.byref(ctypes.c_uint64(_stream_handle(stream, tensors)))
        status = self._library.telemetry_kernel_run(
            self._handle, inputs, len(inputs), *self._values(numbers), outputs, len(outputs), handle
        )
        del capsules, out_capsules  # released only after the call
        self._check(status)

    def allocate(self, *tensors: Any, **numbers: float) -> list[Output]:
        """Allocates the outputs of a call with these arguments, not initialised. Raises the errors of a call."""
        capsules, inputs = _share(tensors)
        outputs = (ctypes.c_void_p * _MOST_OUTPUTS)()
        count = ctypes.c_size_t()
        status = self._library.telemetry_kernel_allocate(
            self._handle, inputs, len(inputs), *self._values(numbers), outputs, _MOST_OUTPUTS, ctypes.byref(count)
        )
        del capsules
        self._check(status)
        return [Output(pointer) for pointer in outputs[: count.value] if pointer is not None]

    def _values(self, numbers: dict[str, float]) -> tuple[Any, int]:
        unknown = numbers.keys() - self.numbers.keys()
        if unknown:
            raise TypeError(f"kernel '{self.name}' has no number '{min(unknown)}'; it has: {', '.join(self.numbers) or 'none'}")
        values = [float(numbers.get(name, default)) for name, default in self.numbers.items()]
        return (ctypes.c_double * len(values))(*values), len(values)

    def _check(self, status: int) -> None:
        if status != 0:
            raise RuntimeError(self._library.telemetry_kernels_error().decode())


def _texts(*texts: str) -> Iterable[bytes]:
    return (text.encode() for text in texts)


_loaded: dict[str, ctypes.CDLL] = {}


def _load(path: str | None) -> ctypes.CDLL:
    chosen = path or from_environment("KERNELS") or str(Path(__file__).with_name("lib") / _FILE)
    if chosen not in _loaded:
        library = ctypes.CDLL(chosen)
        if library.telemetry_kernels_version() != VERSION:
            raise OSError(f"{chosen} has version {library.telemetry_kernels_version()}; this package needs version {VERSION}")
        text, pointer, size = ctypes.c_char_p, ctypes.c_void_p, ctypes.c_size_t
        call: list[Any] = [pointer, pointer, size, pointer, size]
        library.telemetry_kernels_error.restype = text
        library.telemetry_kernel_describe.restype = text
        library.telemetry_kernel_describe.argtypes = [pointer]
        library.telemetry_kernel_create.argtypes = [text, text, text, pointer]
        library.telemetry_kernel_destroy.argtypes = [pointer]
        library.telemetry_kernel_destroy.restype = None
        library.telemetry_kernel_run.argtypes = [*call, pointer, size, pointer]
        library.telemetry_kernel_allocate.argtypes = [*call, pointer, size, pointer]
        _loaded[chosen] = library
    return _loaded[chosen]


def _share(tensors: Sequence[Any]) -> tuple[list[Any], Any]:
    """Returns capsules of the tensors, and an array of pointers into them that is valid as long as they exist."""
    capsules = []
    for tensor in tensors:
        # -1: without synchronisation, because the kernel runs in the stream that the caller orders.
        on_host = tensor.__dlpack_device__()[0] == _CPU
        capsules.append(tensor.__dlpack__() if on_host else tensor.__dlpack__(stream=-1))
    pointers = [_tensor_in(capsule, _UNUSED_CAPSULE) for capsule in capsules]
    return capsules, (ctypes.c_void_p * len(pointers))(*pointers)


def _stream_handle(stream: Any, tensors: Sequence[Any]) -> int:
    if stream is None:
        torch = sys.modules.get("torch")
        if torch is None or not tensors or not isinstance(tensors[0], torch.Tensor) or not tensors[0].is_cuda:
            return 0
        stream = torch.cuda.current_stream(tensors[0].device)
    for attribute in ("cuda_stream", "ptr"):  # of torch, of CuPy
        if hasattr(stream, attribute):
            return int(getattr(stream, attribute))
    return int(stream)

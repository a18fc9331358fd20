"""The part of CuPy that generated programs use, on NumPy and the first OpenCL device, for tests on machines without a GPU.

The kernels of such a program are OpenCL C. Arrays are in host memory, which a launch copies to the device and back.
"""

from __future__ import annotations

import pathlib
from typing import Any

import numpy as np

from . import cuda, opencl

float32 = np.float32
uint8 = np.uint8
uint32 = np.uint32


class Memory:
    """A pointer into memory, `offset` bytes behind its beginning."""

    def __init__(self, whole: np.ndarray, offset: int = 0) -> None:
        self.whole, self.offset = whole, offset

    def __add__(self, offset: int) -> Memory:
        return Memory(self.whole, self.offset + offset)

    def memset(self, value: int, size: int) -> None:
        self.whole[self.offset : self.offset + size] = value


class ndarray:
    """An array over memory. Strides are in bytes."""

    def __init__(self, shape: Any, dtype: Any, memory: Memory, strides: Any = None) -> None:
        self.data = memory
        self.host: np.ndarray = np.ndarray(shape, dtype, memory.whole, memory.offset, strides)
        self.shape, self.dtype, self.strides = self.host.shape, self.host.dtype, self.host.strides
        self.ndim, self.size, self.nbytes, self.itemsize = (
            self.host.ndim,
            self.host.size,
            self.host.nbytes,
            self.host.itemsize,
        )

    def set(self, values: np.ndarray) -> None:
        self.host[...] = values.reshape(self.shape)

    def astype(self, dtype: Any) -> ndarray:
        return asarray(self.host.astype(dtype))

    def view(self, dtype: Any) -> ndarray:
        return asarray(self.host.view(dtype))

    def __lshift__(self, bits: int) -> ndarray:
        return asarray(self.host << bits)


def empty(shape: Any, dtype: Any) -> ndarray:
    """Returns memory with a byte more than the elements need: OpenCL has no empty memory."""
    size = int(np.prod(shape)) * np.dtype(dtype).itemsize
    return ndarray(shape, dtype, Memory(np.zeros(size + 1, np.uint8)))


def asarray(values: np.ndarray) -> ndarray:
    array = empty(values.shape, values.dtype)
    array.host[...] = values
    return array


def asnumpy(array: ndarray) -> np.ndarray:
    return array.host.copy()


def concatenate(arrays: list[ndarray], axis: int, out: ndarray) -> ndarray:
    out.host[...] = np.concatenate([array.host for array in arrays], axis)
    return out


def matmul(x: ndarray, y: ndarray, out: ndarray | None = None) -> ndarray:
    """Multiplies in doubles, as the references of kernels do."""
    product = np.matmul(x.host.astype(np.float64), y.host.astype(np.float64))
    if out is None:
        return asarray(product.astype(x.dtype))
    out.host[...] = product
    return out


class Kernel:
    """A kernel of a program."""

    num_regs = 0
    max_dynamic_shared_size_bytes = 0

    def __init__(self, source: str, name: str) -> None:
        self.compiled = opencl.compile_kernel(source, name, cuda.nvrtc.options)

    def __call__(
        self, grid: tuple[int, ...], block: tuple[int, ...], arguments: tuple[Any, ...], shared_mem: int = 0
    ) -> None:
        given = [(a.data.whole, a.data.offset, a.nbytes) if isinstance(a, ndarray) else a for a in arguments]
        opencl.launch(self.compiled, grid, block, given, shared_mem)


class RawModule:
    """Compiled code in a file, which is the source itself."""

    def __init__(self, path: str) -> None:
        self.source = pathlib.Path(path).read_text()

    def get_function(self, name: str) -> Kernel:
        return Kernel(self.source, name)

"""Compiles and launches kernels on the first OpenCL device."""

from __future__ import annotations

import ctypes
import functools
from typing import Any

import numpy as np

_cl = ctypes.CDLL("libOpenCL.so.1")
for _name in ("clCreateContext", "clCreateCommandQueue", "clCreateProgramWithSource", "clCreateKernel", "clCreateBuffer",
              "clCreateSubBuffer"):
    getattr(_cl, _name).restype = ctypes.c_void_p

_DEVICE_ALL = 0xFFFFFFFF
_COMPUTE_UNITS = 0x1002
_READ_WRITE, _COPY_HOST_POINTER = 1, 1 << 5
_REGION = 0x1220


def _check(result: int, what: str) -> None:
    if result != 0:
        raise RuntimeError(f"{what}: OpenCL error {result}")


def _made(function: str, *arguments: Any) -> ctypes.c_void_p:
    error = ctypes.c_int()
    made = getattr(_cl, function)(*arguments, ctypes.byref(error))
    _check(error.value, function)
    return ctypes.c_void_p(made)


@functools.cache
def _device() -> ctypes.c_void_p:
    platform, device = ctypes.c_void_p(), ctypes.c_void_p()
    _check(_cl.clGetPlatformIDs(1, ctypes.byref(platform), None), "clGetPlatformIDs")
    kind = ctypes.c_uint64(_DEVICE_ALL)
    _check(_cl.clGetDeviceIDs(platform, kind, 1, ctypes.byref(device), None), "clGetDeviceIDs")
    return device


@functools.cache
def _context() -> ctypes.c_void_p:
    return _made("clCreateContext", None, 1, ctypes.byref(_device()), None, None)


@functools.cache
def _queue() -> ctypes.c_void_p:
    return _made("clCreateCommandQueue", _context(), _device(), ctypes.c_uint64(0))


def compute_units() -> int:
    units = ctypes.c_uint()
    _check(_cl.clGetDeviceInfo(_device(), _COMPUTE_UNITS, ctypes.c_size_t(4), ctypes.byref(units), None), "clGetDeviceInfo")
    return units.value


def compile_kernel(source: str, name: str, options: tuple[str, ...]) -> ctypes.c_void_p:
    text = ctypes.c_char_p(source.encode())
    program = _made("clCreateProgramWithSource", _context(), 1, ctypes.byref(text), None)
    result = _cl.clBuildProgram(program, 1, ctypes.byref(_device()), " ".join(options).encode(), None, None)
    _check(result, f"{name} does not compile")
    return _made("clCreateKernel", program, name.encode())


def launch(
    kernel: ctypes.c_void_p, grid: tuple[int, ...], block: tuple[int, ...], arguments: list[Any], shared_bytes: int
) -> None:
    """Launches a kernel and waits. An argument is a NumPy number, or memory with the offset and the number of the bytes
    that the argument has."""
    buffers: dict[int, tuple[ctypes.c_void_p, np.ndarray]] = {}
    views: list[ctypes.c_void_p] = []
    index = 0
    for argument in arguments:
        if isinstance(argument, tuple):
            whole, offset, size = argument
            if id(whole) not in buffers:
                flags = ctypes.c_uint64(_READ_WRITE | _COPY_HOST_POINTER)
                pointer = ctypes.c_void_p(whole.ctypes.data)
                made = _made("clCreateBuffer", _context(), flags, ctypes.c_size_t(whole.nbytes), pointer)
                buffers[id(whole)] = (made, whole)
            buffer = buffers[id(whole)][0]
            if offset > 0 and size > 0:
                region = (ctypes.c_size_t * 2)(offset, whole.nbytes - offset)
                flags = ctypes.c_uint64(_READ_WRITE)
                buffer = _made("clCreateSubBuffer", buffer, flags, _REGION, ctypes.byref(region))
                views.append(buffer)
            value, size = ctypes.byref(buffer), 8
        else:
            value, size = argument.tobytes(), argument.nbytes
        _check(_cl.clSetKernelArg(kernel, index, ctypes.c_size_t(size), value), "clSetKernelArg")
        index += 1
    if shared_bytes > 0:
        _check(_cl.clSetKernelArg(kernel, index, ctypes.c_size_t(shared_bytes), None), "clSetKernelArg")
    items = (ctypes.c_size_t * len(grid))(*(blocks * threads for blocks, threads in zip(grid, block, strict=True)))
    local = (ctypes.c_size_t * len(block))(*block)
    result = _cl.clEnqueueNDRangeKernel(_queue(), kernel, len(grid), None, items, local, 0, None, None)
    _check(result, "clEnqueueNDRangeKernel")
    _check(_cl.clFinish(_queue()), "clFinish")
    for view in views:
        _cl.clReleaseMemObject(view)
    for buffer, whole in buffers.values():
        size, pointer = ctypes.c_size_t(whole.nbytes), ctypes.c_void_p(whole.ctypes.data)
        _check(_cl.clEnqueueReadBuffer(_queue(), buffer, 1, ctypes.c_size_t(0), size, pointer, 0, None, None), "read")
        _cl.clReleaseMemObject(buffer)

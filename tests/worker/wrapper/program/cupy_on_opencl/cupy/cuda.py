"""The part of cupy.cuda that generated programs use."""

from __future__ import annotations

from . import opencl


class _Nvrtc:
    """Passes the source of a program through: RawModule compiles it."""

    options: tuple[str, ...] = ()

    class NVRTCError(Exception):
        """An error of the compiler."""

    def createProgram(self, source: str, name: str, headers: tuple[str, ...], names: tuple[str, ...]) -> str:
        return source

    def addNameExpression(self, program: str, name: str) -> None:
        """Does nothing: functions of OpenCL have their own names."""

    def getLoweredName(self, program: str, name: str) -> str:
        return name

    def compileProgram(self, program: str, options: tuple[str, ...]) -> None:
        self.options = options

    def getCUBIN(self, program: str) -> bytes:
        return program.encode()


class _Runtime:
    def getDeviceProperties(self, number: int) -> dict[str, int]:
        return {"multiProcessorCount": opencl.compute_units(), "l2CacheSize": 1 << 20}


class Device:
    id = 0

    def synchronize(self) -> None:
        """Does nothing: launches are complete when they return."""


nvrtc = _Nvrtc()
runtime = _Runtime()

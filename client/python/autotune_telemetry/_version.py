"""The version of this package. It equals that of the bundled telemetry-worker."""

__version__ = "0.1.0"

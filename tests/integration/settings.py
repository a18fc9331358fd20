"""Settings of a test run, read from environment variables. A value that cannot be used ends the program with a message:
a test never runs with another value than the one that was asked for."""

import os
import random


def number_from_environment(name, otherwise, least=1):
    """The whole number in the variable, or `otherwise` where the variable is unset."""
    text = os.environ.get(name)
    if text is None:
        return otherwise
    if text.isascii() and text.isdigit() and int(text) >= least:
        return int(text)
    raise SystemExit(f"cannot use {name}='{text}': expected a whole number of at least {least}; unset it for the default")


def faults(otherwise):
    """TELEMETRY_FAULTS: the number of faults that a test makes."""
    return number_from_environment("TELEMETRY_FAULTS", otherwise)


def seed():
    """TELEMETRY_SEED, or a random number where it is unset; printed, so that a run can be repeated."""
    chosen = number_from_environment("TELEMETRY_SEED", random.SystemRandom().getrandbits(32), least=0)
    print(f"TELEMETRY_SEED={chosen}", flush=True)
    return chosen

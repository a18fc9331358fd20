"""Settings of a test run, read from environment variables.

An invalid value ends the program with a message: a test never runs with a value other than the requested one.
"""

import os
import random


def number_from_environment(name, otherwise, least=1):
    """Returns the integer in the variable, or `otherwise` if the variable is unset."""
    text = os.environ.get(name)
    if text is None:
        return otherwise
    if text.isascii() and text.isdigit() and int(text) >= least:
        return int(text)
    raise SystemExit(f"cannot use {name}='{text}': expected a whole number of at least {least}; unset it for the default")


def faults(otherwise):
    """Returns TELEMETRY_FAULTS, the number of faults that a test makes."""
    return number_from_environment("TELEMETRY_FAULTS", otherwise)


def seed():
    """Returns TELEMETRY_SEED, or a random number if it is unset. Prints the value, so that a run can be repeated."""
    chosen = number_from_environment("TELEMETRY_SEED", random.SystemRandom().getrandbits(32), least=0)
    print(f"TELEMETRY_SEED={chosen}", flush=True)
    return chosen

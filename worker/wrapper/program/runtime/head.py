import functools
import os
import sys
import traceback


def could_not_run(*error):
    """Exits with 2, because 1, the exit status that Python uses, means wrong results."""
    traceback.print_exception(*error)
    sys.stdout.flush()
    os._exit(2)


sys.excepthook = could_not_run

import numpy as np

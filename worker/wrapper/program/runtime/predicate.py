# ---- Predicates of conditionals: one element, which is read from the device.


def is_true(predicate):
    return bool(cupy.asnumpy(predicate).any())

# ---- Elements of an array that are written, or combined, on the host in double precision. Elements out of range are not
# written.

REDUCTIONS = {"": lambda old, new: new, "sum": np.add, "prod": np.multiply, "amax": np.maximum, "amin": np.minimum}


def scatter(dtype, target, dimension, indices, values, reduce):
    elements, added = decode(dtype, cupy.asnumpy(target)), decode(dtype, cupy.asnumpy(values))
    for index, position in np.ndenumerate(cupy.asnumpy(indices)):
        if 0 <= position < elements.shape[dimension]:
            place = (*index[:dimension], position, *index[dimension + 1 :])
            elements[place] = REDUCTIONS[reduce](elements[place], added[index])
    target.set(encode(dtype, elements))

# ---- Elements of an array that are written, or combined, on the host in double precision. Elements out of range are not
# written.

REDUCTIONS = {"": lambda old, new: new, "sum": np.add, "prod": np.multiply, "amax": np.maximum, "amin": np.minimum,
              "mean": np.add}  # fmt: skip


def scatter(dtype, target, dimension, indices, values, reduce):
    elements, places = decode(dtype, cupy.asnumpy(target)), cupy.asnumpy(indices)
    is_number = isinstance(values, (int, float))
    added = np.full(places.shape, float(values)) if is_number else decode(dtype, cupy.asnumpy(values))
    counts = np.ones(elements.shape)
    for index, position in np.ndenumerate(places):
        if 0 <= position < elements.shape[dimension]:
            place = (*index[:dimension], position, *index[dimension + 1 :])
            elements[place] = REDUCTIONS[reduce](elements[place], added[index])
            counts[place] += 1
    if reduce == "mean":
        elements = elements / counts
    target.set(encode(dtype, elements))

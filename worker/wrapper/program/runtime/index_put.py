# ---- Rows of an array that are written, or added to, on the host in double precision. Rows out of range are not written.


def index_put(dtype, target, indices, values, accumulate):
    rows, added = decode(dtype, cupy.asnumpy(target)), decode(dtype, cupy.asnumpy(values))
    for position, row in zip(cupy.asnumpy(indices), added):
        if 0 <= position < len(rows):
            rows[position] = rows[position] + row if accumulate else row
    target.set(encode(dtype, rows))

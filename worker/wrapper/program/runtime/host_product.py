# ---- Products of matrices, or of batches of matrices, on the host in double precision.


def host_product(dtype, x, y, out):
    a, b = (decode(dtype, cupy.asnumpy(array)) for array in (x, y))
    out.set(encode(dtype, np.matmul(a, b)))

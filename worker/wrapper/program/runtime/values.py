# ---- Values, as they are stored in memory. NumPy has no dtype for bf16: its bits are stored as uint16.

DTYPES = {"f32": np.float32, "f16": np.float16, "bf16": np.uint16, "i32": np.int32, "bool": np.bool_}


def encode(dtype, values):
    """Encodes doubles, each rounded once to the nearest, ties to even."""
    if dtype != "bf16":
        return values.astype(DTYPES[dtype])
    bits = values.view(np.uint64)
    bits = (bits + ((bits >> 45) & 1) + ((1 << 44) - 1)) >> 45 << 45  # 7 of 52 bits of mantissa
    bits = np.where(np.isfinite(values), bits, values.view(np.uint64)).astype(np.uint64)
    return (bits.view(np.float64).astype(np.float32).view(np.uint32) >> 16).astype(np.uint16)


def decode(dtype, array):
    if dtype == "bf16":
        return (array.astype(np.uint32) << 16).view(np.float32).astype(np.float64)
    return array.astype(np.float64)


class Random:
    """SplitMix64 (Steele, Lea and Flood: Fast Splittable Pseudorandom Number Generators, 2014)."""

    STEP = 0x9E3779B97F4A7C15

    def __init__(self, seed):
        self.state = seed

    def take(self, count):
        words = np.arange(1, count + 1, dtype=np.uint64) * np.uint64(self.STEP) + np.uint64(self.state)
        self.state = (self.state + count * self.STEP) % 2**64
        words = (words ^ (words >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        words = (words ^ (words >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return words ^ (words >> np.uint64(31))

    def draw(self, dtype, elements, low, high):
        """Draws from a uniform distribution: floats from low to high, integers from low to high - 1."""
        part = (high - low) * ((self.take(elements) >> np.uint64(11)) * 2.0**-53)
        return encode(dtype, low + np.floor(part) if dtype in ("i32", "bool") else low + part)

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
    """The 64-bit Mersenne Twister of C++ (std::mt19937_64), 312 numbers at a time."""

    def __init__(self, seed):
        state = [seed]
        for i in range(1, 312):
            state.append((6364136223846793005 * (state[-1] ^ (state[-1] >> 62)) + i) % 2**64)
        self.state = np.array(state, np.uint64)
        self.left = np.empty(0, np.uint64)

    def twist(self):
        high, low = np.uint64(0xFFFFFFFF80000000), np.uint64(0x7FFFFFFF)
        matrix, one = np.uint64(0xB5026F5AA96619E9), np.uint64(1)
        old, new = self.state, np.empty_like(self.state)
        mixed = old & high
        mixed[:-1] |= old[1:] & low
        mixed = (mixed >> one) ^ ((mixed & one) * matrix)  # but for the last one, which is made below
        new[:156] = old[156:] ^ mixed[:156]
        new[156:] = new[:156] ^ mixed[156:]
        last = (old[311] & high) | (new[0] & low)
        new[311] = new[155] ^ (last >> one) ^ ((last & one) * matrix)
        self.state = new
        return new

    def take(self, count):
        parts, missing = [self.left], count - len(self.left)
        while missing > 0:
            parts.append(self.twist())
            missing -= 312
        words = np.concatenate(parts)
        words, self.left = words[:count].copy(), words[count:]
        words ^= (words >> np.uint64(29)) & np.uint64(0x5555555555555555)
        words ^= (words << np.uint64(17)) & np.uint64(0x71D67FFFEDA60000)
        words ^= (words << np.uint64(37)) & np.uint64(0xFFF7EEE000000000)
        return words ^ (words >> np.uint64(43))

    def draw(self, dtype, elements, low, high):
        """Draws from a uniform distribution: floats from low to high, integers from low to high - 1."""
        part = (high - low) * ((self.take(elements) >> np.uint64(11)) * 2.0**-53)
        return encode(dtype, low + np.floor(part) if dtype in ("i32", "bool") else low + part)

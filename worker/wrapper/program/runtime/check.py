# ---- The expected outputs. For many elements there are evenly spread samples. Stripes of neighbours, added up with
# signs that a hash of the position gives, cover all elements. Values that are not finite are counted instead.

wrong = 0  # number of comparisons that failed


def report(name, text):
    """Counts a wrong value; prints the first few."""
    global wrong
    wrong += 1
    if wrong <= 5:
        print(f"wrong: {name}{text}")


def is_near(actual, expected, tolerance):
    finite = np.isfinite(actual) & np.isfinite(expected)
    with np.errstate(invalid="ignore"):
        near = finite & (np.abs(actual - expected) <= tolerance)
    return near | (actual == expected) | (np.isnan(actual) & np.isnan(expected))


def signs_of(positions):
    bits = positions + np.uint64(0x9E3779B97F4A7C15)
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return 1.0 - 2.0 * (bits >> np.uint64(63))


def check_values(name, values, absolute, relative, not_finite, samples, length, stripes):
    """Checks `values`, an array of doubles. The tolerance of an element is absolute + relative * |expected|."""
    flat, samples = values.reshape(-1), np.array(samples)
    positions = np.arange(len(samples)) * (len(flat) - 1) // max(len(samples) - 1, 1)
    tolerances = absolute + relative * np.abs(samples)
    near = is_near(flat[positions], samples, tolerances)
    for i in np.flatnonzero(~near):
        where = ", ".join(str(index) for index in np.unravel_index(positions[i], values.shape))
        report(name, f"[{where}]: expected {samples[i]:.9g}, got {flat[positions[i]]:.9g}, tolerance {tolerances[i]:.3g}")
    for i, (expected, tolerance) in enumerate(stripes):
        stripe = flat[i * length : (i + 1) * length]
        signs = signs_of(np.arange(i * length, i * length + len(stripe), dtype=np.uint64))
        total = np.sum(signs * np.where(np.isfinite(stripe), stripe, 0))
        if not is_near(total, expected, tolerance):
            report(name, f", elements {i * length} to {i * length + len(stripe) - 1}: signed sum expected {expected:.9g}, "
                         f"got {total:.9g}, tolerance {tolerance:.3g}")
    count = np.count_nonzero(~np.isfinite(flat))
    if count != not_finite:
        report(name, f": expected {not_finite} values that are not finite, got {count}")

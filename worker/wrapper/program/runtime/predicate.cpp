// ---- Predicates of conditionals: one element, which is read from the device.

bool IsTrue(const Buffer& predicate) { return Decode(predicate.dtype, Download(predicate, 1).data()) != 0; }

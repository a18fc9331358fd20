# ---- Elements that are written, or combined. Sums and products of 16-bit elements are computed in f32 and rounded once.

for operation in ("scatter_.src", "scatter_reduce_.two"):
    torch.fx.has_side_effect(operator.attrgetter(operation)(torch.ops.aten))


def scatter(call, target, dimension, indices, values, reduce, is_narrow):
    places = call(torch.Tensor.to, indices, torch.int64)
    if not reduce:
        call(torch.ops.aten.scatter_.src, target, dimension, places, values)
    elif is_narrow:
        elements, added = [call(torch.Tensor.to, tensor, torch.float32) for tensor in (target, values)]
        combined = call(torch.ops.aten.scatter_reduce.two, elements, dimension, places, added, reduce)
        call(torch.ops.aten.copy_.default, target, combined)
    else:
        call(torch.ops.aten.scatter_reduce_.two, target, dimension, places, values, reduce)

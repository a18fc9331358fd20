# ---- The graph: nodes of torch.fx, and tensors of PyTorch.

import operator

import torch
import torch.fx

# Operations that write their arguments. Passes over a graph must not remove them.
for operation in ("bmm.out", "copy_.default", "index_put_.default", "mm.out"):
    torch.fx.has_side_effect(operator.attrgetter(operation)(torch.ops.aten))


def calls_of(graph):
    """Returns a function that adds a call to the graph and returns its node, which gets the name `name`."""

    def call(function, *arguments, name=None, **options):
        return graph.create_node("call_function", function, arguments, options, name)

    return call


def allocate(call, name, dtype, device, sizes, strides, elements):
    """Allocates more elements than the tensor has, because a later tensor reuses the memory."""
    memory = call(torch.empty, (elements,), dtype=dtype, device=device)
    return call(torch.as_strided, memory, sizes, strides, name=name)


def view_of_other(call, name, base, sizes, strides, offset):
    """Adds a view of a tensor that need not begin where its memory begins: one of the caller or of an operation."""
    begin = call(operator.add, call(torch.Tensor.storage_offset, base), offset)
    return call(torch.as_strided, base, sizes, strides, begin, name=name)


def make_input(dtype, sizes, strides, elements, low, high):
    values = random.draw(dtype, elements, low, high)
    memory = torch.from_numpy(values.view(np.int16)).view(torch.bfloat16) if dtype == "bf16" else torch.from_numpy(values)
    return torch.as_strided(memory.to(DEVICE), sizes, strides)


random = Random(SEED)


def check_output(tensor, name, *expected):
    check_values(name, tensor.to("cpu", torch.float64).numpy(), *expected)

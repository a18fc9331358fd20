class ShapeModule(torch.nn.Module):
    """The graph modules of all shapes. A call runs that of the shape whose inputs have the sizes of the call's."""

    def __init__(self, device=DEVICE):
        super().__init__()
        self.shapes = torch.nn.ModuleList(make(device) for _, _, make, _, _ in SHAPES)

    def forward(self, *inputs):
        given = tuple(tuple(tensor.shape) for tensor in inputs)
        for (_, sizes, *_), module in zip(SHAPES, self.shapes):
            if sizes == given:
                return module(*inputs)
        known = "".join(f"\n  {', '.join(names)}: {sizes}" for names, sizes, *_ in SHAPES)
        raise ValueError(f"no code for inputs of the sizes {given}; the shapes are:{known}")


def make_module(device=DEVICE):
    return ShapeModule(device)


def main():
    global random
    chosen, rest = chosen_shapes()
    if rest:
        print(f"usage: {sys.argv[0]} [--size SYMBOL=N]", file=sys.stderr)
        return 2
    module = make_module()
    for names, _, _, make_inputs, expected_outputs in chosen:
        print(f"at {', '.join(names)}:")
        # Each shape draws the inputs that a program of this shape alone draws.
        random = Random(SEED)
        for output, expected in zip(module(*make_inputs()), expected_outputs):
            check_output(output, *expected)
    print(f"WRONG in {wrong} places" if wrong else "the results are right")
    return 1 if wrong else 0

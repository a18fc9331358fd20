# ---- Conditionals: torch.cond. Its branches have no side effects: they are functions of the operands, which return the
# new values of the buffers that the conditional writes. These are copied after it.


def conditional(graph, modules, predicate, branches, operands, written):
    """Adds a conditional. `branches` has the names and the modules of both branches; `written` are operands."""
    call = calls_of(graph)
    modules.update(branches)
    functions = [graph.get_attr(name) for name in branches]
    condition = call(torch.Tensor.to, predicate, torch.bool)
    values = call(torch.ops.higher_order.cond, condition, *functions, operands)
    for i, buffer in enumerate(written):
        call(torch.ops.aten.copy_.default, buffer, call(operator.getitem, values, i))

@helion.kernel()
def softmax_two_pass(x: torch.Tensor) -> torch.Tensor:
    """softmax_two_pass, in a few words — café, "quotes", a back\slash and a tab	."""
    out = torch.empty_like(x)
    for tile in hl.tile(x.size(0)):
        out[tile] = softmax_two_pass_row(x[tile])
    return out

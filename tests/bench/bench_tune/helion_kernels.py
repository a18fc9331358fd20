"""The kernels of the cases of peers.py in Helion's language. Importing the module needs the package helion."""

import math

import helion
import helion.language as hl
import torch
from torch.nn import functional


@helion.kernel(static_shapes=True, autotune_effort="quick")
def softmax(x: torch.Tensor) -> torch.Tensor:
    out = torch.empty_like(x)
    for rows in hl.tile(x.size(0)):
        out[rows, :] = functional.softmax(x[rows, :].to(torch.float32), dim=1).to(x.dtype)
    return out


@helion.kernel(static_shapes=True, autotune_effort="quick")
def rms_norm(x: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    out = torch.empty_like(x)
    for rows in hl.tile(x.size(0)):
        values = x[rows, :].to(torch.float32)
        scale = torch.rsqrt(torch.mean(values * values, dim=-1) + 1e-5)
        out[rows, :] = (values * scale[:, None] * weight[:].to(torch.float32)).to(x.dtype)
    return out


@helion.kernel(static_shapes=True, autotune_effort="quick")
def matmul(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    out = torch.empty([x.size(0), y.size(1)], dtype=x.dtype, device=x.device)
    for rows, columns in hl.tile([x.size(0), y.size(1)]):
        sums = hl.zeros([rows, columns], dtype=torch.float32)
        for inner in hl.tile(x.size(1)):
            sums = torch.addmm(sums, x[rows, inner], y[inner, columns])
        out[rows, columns] = sums.to(x.dtype)
    return out


@helion.kernel(static_shapes=True, autotune_effort="quick")
def bmm(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    out = torch.empty([x.size(0), x.size(1), y.size(2)], dtype=x.dtype, device=x.device)
    for batch, rows, columns in hl.tile([x.size(0), x.size(1), y.size(2)]):
        sums = hl.zeros([batch, rows, columns], dtype=torch.float32)
        for inner in hl.tile(x.size(2)):
            sums = torch.baddbmm(sums, x[batch, rows, inner], y[batch, inner, columns])
        out[batch, rows, columns] = sums.to(x.dtype)
    return out


@helion.kernel(static_shapes=True, autotune_effort="quick")
def attention(q_in: torch.Tensor, k_in: torch.Tensor, v_in: torch.Tensor) -> torch.Tensor:
    queries, keys = q_in.size(-2), k_in.size(-2)
    head = hl.specialize(q_in.size(-1))
    q = q_in.reshape([-1, queries, head])
    k = k_in.reshape([-1, keys, head]).transpose(1, 2)
    v = v_in.reshape([-1, keys, head])
    out = torch.empty_like(q)
    scale = math.log2(math.e) / math.sqrt(head)
    for batch, rows in hl.tile([q.size(0), queries]):
        largest = hl.full([batch, rows], float("-inf"), dtype=torch.float32)
        total = torch.full_like(largest, 0.0)
        sums = hl.zeros([batch, rows, head], dtype=torch.float32)
        for columns in hl.tile(keys):
            scores = torch.bmm(q[batch, rows, :], k[batch, :, columns])
            larger = torch.maximum(largest, torch.amax(scores, -1) * scale)
            weights = torch.exp2(scores * scale - larger[:, :, None])
            shrink = torch.exp2(largest - larger)
            total = total * shrink + torch.sum(weights, -1)
            sums = torch.baddbmm(sums * shrink[:, :, None], weights.to(v.dtype), v[batch, columns, :])
            largest = larger
        out[batch, rows, :] = (sums / total[:, :, None]).to(out.dtype)
    return out.view(q_in.size())

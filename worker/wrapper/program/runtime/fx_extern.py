# ---- Kernels of external libraries, as operations of PyTorch. `dtype` is that of the first output. Operations that
# PyTorch would round to 16 bits between their steps are computed in f32.


def wide(call, tensor):
    return call(torch.Tensor.to, tensor, torch.float32)


def extern_add(call, dtype, x, y):
    return [call(torch.add, x, y)]


def extern_attention(call, dtype, q, k, v, causal):
    return [call(torch.nn.functional.scaled_dot_product_attention, q, k, v, is_causal=causal)]


def extern_bmm(call, dtype, x, y):
    return [call(torch.bmm, x, y)]


def extern_cross_entropy(call, dtype, logits, labels):
    classes = call(torch.Tensor.to, labels, torch.int64)
    return [call(torch.nn.functional.cross_entropy, wide(call, logits), classes, reduction="none")]


def extern_exp(call, dtype, x):
    return [call(torch.exp, x)]


def extern_geglu(call, dtype, a, b):
    gelu = call(torch.nn.functional.gelu, wide(call, a), approximate="tanh")
    return [call(torch.Tensor.to, call(torch.mul, gelu, wide(call, b)), dtype)]


def extern_layer_norm(call, dtype, x, weight, bias, eps):
    columns = call(torch.Tensor.size, weight)
    normed = call(torch.native_layer_norm, wide(call, x), columns, wide(call, weight), wide(call, bias), eps)
    out, mean, rstd = [call(operator.getitem, normed, i) for i in range(3)]
    return [call(torch.Tensor.to, out, dtype)] + [call(torch.flatten, statistic) for statistic in (mean, rstd)]


def extern_matmul(call, dtype, x, y):
    return [call(torch.mm, x, y)]


def extern_rms_norm(call, dtype, x, weight, eps):
    rows = wide(call, x)
    inv_rms = call(torch.rsqrt, call(torch.add, call(torch.mean, call(torch.square, rows), -1), eps))
    scaled = call(torch.mul, call(torch.mul, rows, call(torch.unsqueeze, inv_rms, -1)), wide(call, weight))
    return [call(torch.Tensor.to, scaled, dtype), inv_rms]


def extern_softmax(call, dtype, x):
    return [call(torch.softmax, x, -1)]


extern_softmax_two_pass = extern_softmax


def extern_sum(call, dtype, x):
    return [call(torch.sum, x, -1, dtype=dtype)]


extern_long_sum = extern_sum


def dense(call, name, tensor):
    return call(torch.Tensor.contiguous, tensor, name=name)


def copy_to(call, outputs, results):
    for output, result in zip(outputs, results):
        call(torch.ops.aten.copy_.default, output, result)

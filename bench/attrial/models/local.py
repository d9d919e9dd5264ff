"""Matrices (t, t) of one layer from what each position hands to each."""

import torch
from torch import Tensor


def length(parts: Tensor, output: Tensor) -> Tensor:
    """Euclidean norms of parts (..., t, d): (..., t)."""
    return parts.square().sum(dim=-1).sqrt()


def proximity(parts: Tensor, output: Tensor) -> Tensor:
    """How much nearer to zero, in absolute sums, an output (t, d) is without a part: (..., t).

    Never negative. Source: Ferrando, Gállego & Costa-jussà 2022 (ALTI).
    """
    left = (output - parts).abs().sum(dim=-1)
    return (output.abs().sum(dim=-1) - left).clamp(min=0)


def turned(outputs: Tensor, output: Tensor) -> Tensor:
    """Cosine distance, 0 to 2, of outputs (..., t, d) from an output (t, d): (..., t).

    A vector of length zero is as it was: distance 0.
    """
    product = (outputs * output).sum(dim=-1)
    lengths = length(outputs, output) * length(output, output)
    cosine = torch.where(lengths > 0, product / torch.where(lengths > 0, lengths, 1.0), 1.0)
    return (1 - cosine).clamp(min=0)


def rows(matrix: Tensor) -> Tensor:
    """Rows scaled to sum 1; one that is all zero keeps to itself (a row of the identity)."""
    total = matrix.sum(dim=-1, keepdim=True)
    identity = torch.eye(len(matrix), dtype=matrix.dtype, device=matrix.device)
    return torch.where(total > 0, matrix / torch.where(total > 0, total, 1.0), identity)


def shares(residual: Tensor, attended: Tensor) -> Tensor:
    """|x| / (|x| + |attention's output|) of each position on the diagonal; (t, d) -> (t, t)."""
    x, a = (length(v, v) for v in (residual, attended))
    return torch.diag(torch.where(x + a > 0, x / torch.where(x + a > 0, x + a, 1.0), 1.0))

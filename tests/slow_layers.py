"""What layers hand on, spelled out: hooks on named modules and loops over heads, queries and keys.

Names of modules are written down here for each family, where the engine finds its way without.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from transformers import PreTrainedModel

from attrial.masks import Floats


@dataclass(frozen=True)
class Names:
    """Where a family keeps the parts of layer ``i``.

    Attributes:
        layer: The layer.
        value: What makes its value vectors, or queries, keys and values in one.
        out: What heads are put together by.
        norm: The layer norm on the sum of attention and residual; empty where there is none.
        inner: The root-mean-square norm on attention's output before the sum.
        fused: Whether ``value`` makes queries and keys too.
        shared: Whether all layers are one module.
    """

    layer: str
    value: str
    out: str
    norm: str = ""
    inner: str = ""
    fused: bool = False
    shared: bool = False


def _bert(stem: str) -> Names:
    own = "attention."
    names = (own + "self.value", own + "output.dense", own + "output.LayerNorm")
    return Names(stem + ".encoder.layer.{i}", *names)


def _llama(**more: str) -> Names:
    return Names("model.layers.{i}", "self_attn.v_proj", "self_attn.o_proj", **more)  # type: ignore[arg-type]


NAMES: Mapping[str, Names] = {
    "bert": _bert("bert"),
    "roberta": _bert("roberta"),
    "electra": _bert("electra"),
    "distilbert": Names(
        "distilbert.transformer.layer.{i}", "attention.v_lin", "attention.out_lin", "sa_layer_norm"
    ),
    "albert": Names(
        "albert.encoder.albert_layer_groups.0.albert_layers.0",
        "attention.value",
        "attention.dense",
        "attention.LayerNorm",
        shared=True,
    ),
    "modernbert": Names("model.layers.{i}", "attn.Wqkv", "attn.Wo", fused=True),
    "gpt2": Names("transformer.h.{i}", "attn.c_attn", "attn.c_proj", fused=True),
    "llama": _llama(),
    "qwen3": _llama(),
    "gemma2": _llama(inner="post_attention_layernorm"),
    "vit": Names("vit.layers.{i}", "attention.v_proj", "attention.o_proj"),
}


@dataclass(frozen=True, eq=False)
class Seen:
    """One layer in one forward: arrays of what its named parts took and gave.

    Attributes:
        x: (t, d) into the layer.
        values: (t, heads, size).
        attended: (t, d) out of ``out``, before any norm.
        out: (t, d) out of the layer.
    """

    x: Floats
    values: Floats
    attended: Floats
    out: Floats


@contextmanager
def hooked(module: nn.Module, hook: Callable[..., object]) -> Iterator[None]:
    handle = module.register_forward_hook(hook)
    try:
        yield
    finally:
        handle.remove()


def first(output: object) -> Tensor:
    found = output[0] if isinstance(output, tuple) else output
    assert isinstance(found, Tensor)
    return found


@dataclass(frozen=True, eq=False)
class Slow:
    """A model with one input, its layers by name, and the attention weights of one of them."""

    model: PreTrainedModel
    run: Callable[[], object]
    names: Names
    i: int
    weights: Floats  # (heads, t, t)

    def part(self, name: str = "") -> nn.Module:
        layer = self.names.layer.format(i=self.i)
        return self.model.get_submodule(f"{layer}.{name}" if name else layer)

    @property
    def turn(self) -> int:
        """Which of the calls of a module is this layer's."""
        return self.i if self.names.shared else 0

    def see(self) -> Seen:
        """One forward."""
        outs: dict[str, list[Tensor]] = {"": [], self.names.value: [], self.names.out: []}
        ins: list[Tensor] = []

        def hook(name: str) -> Callable[..., None]:
            def keep(module: nn.Module, args: tuple[Tensor, ...], output: object) -> None:
                outs[name].append(first(output)[0])
                if not name:
                    ins.append(args[0][0])

            return keep

        with torch.no_grad(), hooked(self.part(), hook("")):
            with hooked(self.part(self.names.value), hook(self.names.value)):
                with hooked(self.part(self.names.out), hook(self.names.out)):
                    self.run()
        found = {name: tensors[self.turn].numpy() for name, tensors in outs.items()}
        heads = self._by_head(found[self.names.value])
        return Seen(ins[self.turn].numpy(), heads, found[self.names.out], found[""])

    def _by_head(self, made: Floats) -> Floats:
        """(t, wide) -> (t, heads, size): grouped values once for each query head."""
        own = np.split(made, 3, axis=1)[2] if self.names.fused else made
        module: Any = self.part(self.names.out)
        wide = module.weight.shape[0 if type(module).__name__ == "Conv1D" else 1]
        heads, size = len(self.weights), wide // len(self.weights)
        few = own.shape[1] // size
        grouped = [own[:, (h * few // heads) * size :][:, :size] for h in range(heads)]
        return np.stack(grouped, axis=1)

    def contributions(self, seen: Seen) -> Floats:
        """(t, t, d): what query i gets from key j, all heads together, without any bias."""
        module: Any = self.part(self.names.out)
        weight = module.weight.detach().numpy()
        weight = weight if type(module).__name__ == "Conv1D" else weight.T
        size, t = seen.values.shape[2], len(seen.x)
        out = np.zeros((t, t, weight.shape[1]))
        for h, rows in enumerate(self.weights):
            block = weight[h * size : (h + 1) * size]
            for i in range(t):
                for j in range(t):
                    out[i, j] += rows[i, j] * (seen.values[j, h] @ block)
        return out * self._inner(seen.attended)[:, None]

    def _inner(self, attended: Floats) -> Floats:
        """Factors (t, d) of a norm on attention's output; ones where there is none."""
        if not self.names.inner:
            return np.ones_like(attended)
        norm: Any = self.part(self.names.inner)
        scale = 1 / np.sqrt((attended**2).mean(1, keepdims=True) + norm.eps)
        return np.asarray(scale * (1 + norm.weight.detach().numpy()))

    def whole(self, seen: Seen) -> tuple[Floats, Floats]:
        """Parts (t, t, d) with the residual on the diagonal, behind the norm; and their goal."""
        parts = self.contributions(seen)
        for i, x in enumerate(seen.x):
            parts[i, i] += x
        total = seen.attended * self._inner(seen.attended) + seen.x
        if not self.names.norm:
            return parts, total
        norm: Any = self.part(self.names.norm)
        spread = np.sqrt(total.var(axis=1) + norm.eps)
        gain = norm.weight.detach().numpy()
        for i in range(len(total)):
            for j in range(len(total)):
                parts[i, j] = (parts[i, j] - parts[i, j].mean()) / spread[i] * gain
        with torch.no_grad():
            return parts, np.asarray(norm(torch.from_numpy(total)).numpy())

    def zeroed(self, j: int) -> Floats:
        """The layer's output (t, d) with the values of key j at zero: in its weights' output."""
        outs: list[Tensor] = []
        calls: list[int] = []

        def zero(module: nn.Module, args: object, output: Tensor) -> Tensor:
            calls.append(j)
            if len(calls) - 1 != self.turn:
                return output
            changed = output.clone()
            start = changed.shape[-1] * 2 // 3 if self.names.fused else 0
            changed[:, j, start:] = 0
            return changed

        def keep(module: nn.Module, args: object, output: object) -> None:
            outs.append(first(output)[0])

        with torch.no_grad(), hooked(self.part(self.names.value), zero):
            with hooked(self.part(), keep):
                self.run()
        return np.asarray(outs[self.turn].numpy())


def normalised(matrix: Floats) -> Floats:
    """Rows over their sums; the identity's where there is nothing."""
    out = np.eye(len(matrix))
    for i, row in enumerate(matrix):
        if row.sum() > 0:
            out[i] = row / row.sum()
    return out


def matrix(slow: Slow, kind: str) -> Floats:
    """One layer's matrix (t, t) of a kind."""
    seen = slow.see()
    t = len(seen.x)
    cells = np.zeros((t, t))
    if kind == "mixing":
        attended = seen.attended * slow._inner(seen.attended)
        for i in range(t):
            x, a = np.linalg.norm(seen.x[i]), np.linalg.norm(attended[i])
            cells[i, i] = x / (x + a)
        return cells
    parts, goal = slow.whole(seen) if kind != "norm" else (slow.contributions(seen), seen.x)
    turned = [slow.zeroed(j) for j in range(t)] if kind == "value_zeroing" else []
    for i in range(t):
        for j in range(t):
            if kind == "alti":
                left = np.abs(goal[i]).sum() - np.abs(goal[i] - parts[i, j]).sum()
                cells[i, j] = max(0.0, left)
            elif kind == "value_zeroing":
                a, b = seen.out[i], turned[j][i]
                cosine = a @ b / np.sqrt((a @ a) * (b @ b))
                cells[i, j] = 0.0 if (a == b).all() else max(0.0, 1 - cosine)
            else:
                cells[i, j] = np.sqrt((parts[i, j] ** 2).sum())
    return normalised(cells)

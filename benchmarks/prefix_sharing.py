"""Do rows of a causal model gain from the key-value cache of what stands before the first removal?

Run: python benchmarks/prefix_sharing.py (a minute on one thread). It prints, for random GPT-2s and
for the rows that occlusion, Shapley sampling and a deletion curve ask for, seconds of whole rows in
batches of fixed shapes, and of rows whose prefix comes from one cache of the full input.
"""

import copy
import time
from collections.abc import Callable
from functools import partial

import numpy as np
import torch
from torch import Tensor
from transformers import AutoConfig, AutoModelForCausalLM, DynamicCache, PreTrainedModel

from attrial.batching import plan
from attrial.masks import Masks, all_but_each, prefixes

TOKENS, UNK, REPEATS = 256, 1, 2
SIZES = {"6 layers of 384": (6, 384), "12 layers of 768": (12, 768)}


def model(layers: int, wide: int) -> PreTrainedModel:
    """A random GPT-2."""
    torch.manual_seed(0)
    config = AutoConfig.for_model(
        "gpt2",
        n_layer=layers,
        n_embd=wide,
        n_head=wide // 64,
        vocab_size=8000,
        bos_token_id=0,
        eos_token_id=0,
    )
    made: PreTrainedModel = AutoModelForCausalLM.from_config(config)  # type: ignore[no-untyped-call]
    return made.eval()  # type: ignore[no-untyped-call, no-any-return]


def rows_asked(n: int) -> dict[str, Masks]:
    """Masks (k, n) of three askers."""
    rng = np.random.default_rng(0)
    orders = [prefixes(rng.permutation(n)) for _ in range(4)]
    return {
        "occlusion": all_but_each(n),
        "Shapley, 4 orders": np.concatenate(orders),
        "deletion curve": ~prefixes(rng.permutation(n)),
    }


def whole(made: PreTrainedModel, ids: Tensor) -> Tensor:
    """Last logits (k, V) of rows (k, t), in batches of one shape."""
    found = []
    for batch in plan([ids.shape[1]] * len(ids), tokens=TOKENS):
        logits = made(input_ids=ids[batch.rows], use_cache=False, logits_to_keep=1).logits
        found.append(logits[: batch.fresh, -1])
    return torch.cat(found)


def shared(made: PreTrainedModel, ids: Tensor, full: Tensor) -> Tensor:
    """The same with the prefix that a row has in common with the full input from one cache."""
    known = made(input_ids=full[None], use_cache=True, logits_to_keep=1).cache
    same = (ids == full).long().cumprod(dim=1).sum(dim=1).clamp(max=len(full) - 1)
    out = torch.empty(len(ids), made.config.vocab_size)
    for start in sorted(set(same.tolist())):
        here = (same == start).nonzero().flatten()
        out[here] = _after(made, ids[here], copy.deepcopy(known), start)
    return out


def _after(made: PreTrainedModel, ids: Tensor, known: DynamicCache, start: int) -> Tensor:
    """Last logits of rows whose first ``start`` tokens are known."""
    if not start:
        logits: Tensor = made(input_ids=ids, use_cache=False, logits_to_keep=1).logits
        return logits[:, -1]
    known.crop(start - ids.shape[1])
    known.batch_repeat_interleave(len(ids))
    places = torch.arange(start, ids.shape[1])[None]
    logits = made(
        input_ids=ids[:, start:], position_ids=places, cache=known, use_cache=True, logits_to_keep=1
    ).logits
    return logits[:, -1]


def seconds(run: Callable[[], Tensor]) -> tuple[float, Tensor]:
    """The fastest of some runs."""
    times = []
    for _ in range(REPEATS):
        start = time.perf_counter()
        found = run()
        times.append(time.perf_counter() - start)
    return min(times), found


def main() -> None:
    """Print one line a model and asker."""
    torch.set_num_threads(1)
    with torch.inference_mode():
        for name, size in SIZES.items():
            made = model(*size)
            full = torch.randint(2, 8000, (31,))
            for asker, masks in rows_asked(len(full)).items():
                ids = torch.where(torch.from_numpy(masks), full, UNK)
                a, one = seconds(partial(whole, made, ids))
                b, two = seconds(partial(shared, made, ids, full))
                apart = float((one - two).abs().max())
                print(
                    f"{name}, {asker}, {len(ids)} rows: {a:.2f} s whole, {b:.2f} s shared "
                    f"({a / b:.2f} times as fast), apart by {apart:.1e}"
                )


if __name__ == "__main__":
    main()

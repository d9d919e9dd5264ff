"""How much faster are rows of a causal model that share work than whole rows?

Run: python benchmarks/prefix_sharing.py [SIZE ...] (some minutes on one thread). It prints, for
random GPT-2s and Llamas, seconds of CPU time of whole rows and of rows that go on from what was
read before, or are read from longer rows, as the product does it; and how far the two are apart.
"""

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import torch
from transformers import AutoConfig, AutoModelForCausalLM, PreTrainedModel

from attrial.example import FIXED, Example
from attrial.masks import Floats, Masks, all_but_each
from attrial.models.continuing import Continuing
from attrial.models.growing import grown
from attrial.models.probing import forward_of
from attrial.models.remembering import remembering
from attrial.removal import Rows, with_token

UNK, WORDS, TOKENS, REPEATS = 1, 8000, 256, 2
SIZES = {
    "gpt2 2x64": ("gpt2", 2, 64),
    "gpt2 6x384": ("gpt2", 6, 384),
    "gpt2 12x768": ("gpt2", 12, 768),
    "llama 6x384": ("llama", 6, 384),
    "llama 12x768": ("llama", 12, 768),
}


@dataclass(frozen=True, eq=False)
class Case:
    """Rows of some examples; ``joined`` where longer rows speak for their beginnings."""

    name: str
    parts: Sequence[Rows]
    joined: bool = False


def model(family: str, layers: int, wide: int) -> PreTrainedModel:
    """A random causal model whose answers depend on what it reads."""
    torch.manual_seed(0)
    own = {"n_layer": layers, "n_embd": wide, "n_head": wide // 64}
    llama = {
        "num_hidden_layers": layers,
        "hidden_size": wide,
        "num_attention_heads": wide // 64,
        "intermediate_size": 8 * wide // 3,
    }
    sizes = own if family == "gpt2" else llama
    config = AutoConfig.for_model(
        family, vocab_size=WORDS, bos_token_id=0, eos_token_id=0, pad_token_id=None, **sizes
    )
    made: PreTrainedModel = AutoModelForCausalLM.from_config(config)  # type: ignore[no-untyped-call]
    for parameter in made.parameters():
        if parameter.ndim > 1:
            parameter.data *= 2
    return made.eval()  # type: ignore[no-untyped-call, no-any-return]


def example(fixed: int, players: int, options: tuple[tuple[int, ...], ...] = ((7,),)) -> Example:
    """A prompt of fixed tokens and then one player a token."""
    t = fixed + players
    ids = np.random.default_rng(t).integers(2, WORDS, t)
    owner = np.concatenate([np.full(fixed, FIXED), np.arange(players)])
    names = tuple(map(str, range(players)))
    return Example("x", names, ids, np.zeros(t, int), owner, read=t - 1, options=options)


def rows(x: Example, masks: Masks) -> Rows:
    """Rows whose removed tokens read UNK."""
    return replace(with_token(x, x.to_positions(masks), UNK, "unk"), full=x.ids)


def half(x: Example, count: int) -> Masks:
    """Random sets."""
    return np.random.default_rng(1).random((count, x.n)) < 0.5


def written(fixed: int, players: int, count: int) -> Iterator[Rows]:
    """All leave-one-out rows of each of some tokens that a model wrote."""
    x, said = example(fixed, players), list(range(2, 2 + count))
    for i in range(count):
        step = replace(grown(x, said[:i], [""] * i), options=((said[i],),))
        yield rows(step, all_but_each(step.n))


def cases() -> Iterator[Case]:
    """What users do."""
    for fixed, players in ((32, 32), (64, 24), (200, 40)):
        x = example(fixed, players)
        yield Case(f"{fixed} fixed tokens, {players} players, 32 sets", [rows(x, half(x, 32))])
    for count, length, t in ((2, 2, 16), (2, 3, 40), (4, 3, 40), (10, 4, 80)):
        options = tuple(tuple(range(c + 2, c + 2 + length)) for c in range(count))
        x = example(0, t, options)
        name = f"{count} continuations of {length} tokens, {t} players, 16 sets"
        yield Case(name, [rows(x, half(x, 16))])
    yield Case("12 tokens written after 24 players", list(written(0, 24, 12)), joined=True)
    for n in (31, 64, 128, 256):
        x = example(0, n)
        yield Case(f"occlusion of {n} players", [rows(x, all_but_each(n)[:: max(1, n // 32)])])


def seconds(run: Callable[[], Floats]) -> tuple[float, Floats]:
    """The least CPU time of some runs."""
    times = []
    for _ in range(REPEATS):
        start = time.process_time()
        found = run()
        times.append(time.process_time() - start)
    return min(times), found


def main() -> None:
    """Print one line a model and case."""
    torch.set_num_threads(1)
    for name in sys.argv[1:] or SIZES:
        tokens = 1024 if name == "gpt2 2x64" else TOKENS
        found = forward_of(model(*SIZES[name]), pad=0, tokens=tokens, kinds=(Continuing,))
        assert isinstance(found, Continuing)
        able = remembering(found)
        print(f"{name}: {able.remembered} bytes a token", flush=True)
        for case in cases():
            fast = replace(able, joined=case.joined)
            a, one = seconds(partial(found.outputs, case.parts))
            b, two = seconds(partial(fast.outputs, case.parts))
            apart = float(np.nanmax(np.abs(one - two)))
            print(
                f"  {case.name}: {a:.2f} s whole, {b:.2f} s shared, {a / b:.2f} times as fast, "
                f"apart by {apart:.0e} of {np.nanmax(np.abs(one)):.0f}",
                flush=True,
            )


if __name__ == "__main__":
    main()

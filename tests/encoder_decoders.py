"""Small random encoder-decoders with a language head, whose answers need every source word."""

from collections.abc import Sequence
from functools import cache

import torch
from torch import Tensor
from transformers import AutoConfig, AutoModelForSeq2SeqLM, PreTrainedModel

from attrial.example import Example
from attrial.masks import Ints
from attrial.models.seq2seq import Seq2SeqModel
from tests import families, tiny

FAMILIES = ("t5", "bart", "mbart")
TEXT = "the plot was not bright"
PREFIX = "a good"
SINGLE, PAIR = ("film",), ("film", "story")
LONGER = ("very dull acting", "bad", "the film")
ASKED = (SINGLE, PAIR, ("very dull acting",), LONGER)
Ids = Sequence[int] | Ints
OTHERS = ("a film", "the dull acting is very very bad and not good at brighter story")


def plain(model: PreTrainedModel, ids: Ids, said: Sequence[int], **more: Tensor) -> Tensor:
    """Logits (t', V) of all decoder positions in float64, by transformers alone."""
    given = {} if "inputs_embeds" in more else {"input_ids": torch.tensor([[int(i) for i in ids]])}
    logits: Tensor = model(**given, decoder_input_ids=torch.tensor([list(said)]), **more).logits
    return logits[0].double()


def chances(model: PreTrainedModel, x: Example, ids: Ids, **more: Tensor) -> Tensor:
    """Log-probabilities of each option, token after token, and of anything else than a single one.

    A second derivation: each option is a forward of its own, and probabilities are multiplied.
    """
    found = []
    for option in x.options:
        logits = plain(model, ids, [*x.prefix, *option], **more)
        steps = [logits[len(x.prefix) - 1 + j].softmax(-1)[t] for j, t in enumerate(option)]
        found.append(torch.stack(steps).prod())
    if len(found) == 1:
        found.append(1 - found[0])
    return torch.stack(found).log()


def moves(made: PreTrainedModel, name: str) -> Tensor:
    """How far exchanging each source word moves the contrast of two words; transformers alone."""
    words = families.tokenizer(name)
    ids = words(TEXT)["input_ids"]
    film, story = words("film story", add_special_tokens=False)["input_ids"]
    start = [made.config.decoder_start_token_id]

    def contrast(row: Sequence[int]) -> Tensor:
        logits = plain(made, row, start)[-1]
        return logits[film] - logits[story]

    with torch.no_grad():
        whole = contrast(ids)
        changed = [[*ids[:i], words.unk_token_id, *ids[i + 1 :]] for i in range(1, len(ids) - 1)]
        return torch.stack([(contrast(row) - whole).abs() for row in changed])


@cache
def model(name: str) -> PreTrainedModel:
    """A random model with teeth, in eval mode; it is shared: don't change it."""
    with torch.random.fork_rng():
        torch.manual_seed(1)
        config = AutoConfig.for_model(name, **(tiny.SIZES | dict(families.FAMILIES[name].sizes)))
        made: PreTrainedModel = AutoModelForSeq2SeqLM.from_config(config)  # type: ignore[no-untyped-call]
    made.eval()  # type: ignore[no-untyped-call]
    for _ in range(40):
        if moves(made, name).min() >= tiny.TEETH:
            return made
        for parameter in made.parameters():
            if parameter.ndim > 1:
                parameter.data *= 1.1
    raise AssertionError(f"no scale gives a random {name} teeth")


@cache
def translator(name: str) -> Seq2SeqModel:
    """The model with its tokenizer behind the questions; shared."""
    return Seq2SeqModel.of(model(name), families.tokenizer(name), batch_tokens=1024)


def example(name: str, options: Sequence[str] = PAIR, text: str = TEXT) -> Example:
    """A source text with continuations of a prefix."""
    return translator(name).encode("x", [text], options=options, prefix=PREFIX)

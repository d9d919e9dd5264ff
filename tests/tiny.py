"""Small random classifiers of five families, made in memory, whose answers depend on every input.

On a freshly initialised model removing a word moves a logit by 1e-5, so that any equality holds.
The weights here are scaled until the typical removal moves the log-odds by at least ``TEETH``.
"""

import copy
from collections.abc import Mapping
from functools import cache

import numpy as np
import torch
from tokenizers import Tokenizer, normalizers, pre_tokenizers, processors
from tokenizers.models import WordPiece
from transformers import (
    AutoConfig,
    PreTrainedModel,
    PreTrainedTokenizerFast,
)
from transformers import AutoModelForSequenceClassification as Auto

from attrial.masks import Masks
from attrial.models.text import TextClassifier

torch.set_num_threads(1)  # matrices this small gain nothing from a second one

TEETH = 0.1
WORDS = tuple("the a film plot was is not very good bad dull bright story act and".split())
PIECES = ("##s", "##ing", "##er", "##ly")
TEXT = "the plot was not very good and the acting dull"
OTHERS = (
    "a film",
    "the story is bright",
    "a dull plot was acting and the film is very very bad and not good at brighter",
)
PLACES = 40  # positions that the models have room for
ROBERTA = ("<s>", "<pad>", "</s>", "<unk>", "<mask>")
BERT = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
VOCABULARY = 5 + len(WORDS) + len(PIECES)


SIZES: dict[str, int] = {
    "vocab_size": VOCABULARY,
    "hidden_size": 32,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "intermediate_size": 64,
    "max_position_embeddings": PLACES,
    "num_labels": 3,
}
FAMILIES: Mapping[str, dict[str, int]] = {
    "bert": {},
    "roberta": {"max_position_embeddings": PLACES + 2, "type_vocab_size": 1, "pad_token_id": 1},
    "distilbert": {"dim": 32, "n_layers": 2, "n_heads": 4, "hidden_dim": 64},
    "electra": {"embedding_size": 16},
    "albert": {"embedding_size": 16},
}


@cache
def tokenizer(family: str = "bert") -> PreTrainedTokenizerFast:
    """A word-piece tokenizer with the special tokens of the family."""
    special = ROBERTA if family == "roberta" else BERT
    pad, unk, cls, sep, mask = (
        special[i] for i in ((1, 3, 0, 2, 4) if special is ROBERTA else range(5))
    )
    names = [*special, *WORDS, *PIECES]
    backend = Tokenizer(WordPiece({name: i for i, name in enumerate(names)}, unk_token=unk))
    backend.normalizer = normalizers.BertNormalizer(lowercase=True)
    backend.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    second = 0 if family == "roberta" else 1
    backend.post_processor = processors.TemplateProcessing(
        single=f"{cls}:0 $A:0 {sep}:0",
        pair=f"{cls}:0 $A:0 {sep}:0 $B:{second} {sep}:{second}",
        special_tokens=[(cls, names.index(cls)), (sep, names.index(sep))],
    )
    segments = ["token_type_ids"] if family in ("bert", "electra", "albert") else []
    return PreTrainedTokenizerFast(  # type: ignore[no-untyped-call]
        tokenizer_object=backend,
        pad_token=pad,
        unk_token=unk,
        cls_token=cls,
        sep_token=sep,
        mask_token=mask,
        model_max_length=PLACES,
        model_input_names=["input_ids", "attention_mask", *segments],
    )


def log_odds(logits: torch.Tensor) -> torch.Tensor:
    """Of the first class, a second derivation: log p - log(1 - p)."""
    p = logits.double().softmax(dim=-1)[..., 0]
    return p.log() - (1 - p).log()


def moves(model: PreTrainedModel, family: str) -> torch.Tensor:
    """How far masking each word of TEXT moves the log-odds of class 0; by transformers alone."""
    words = tokenizer(family)
    ids = torch.tensor([words(TEXT)["input_ids"]])
    with torch.no_grad():
        whole = log_odds(model(input_ids=ids).logits)
        moved = []
        for place in range(1, ids.shape[1] - 1):
            masked = ids.clone()
            masked[0, place] = words.mask_token_id
            moved.append(log_odds(model(input_ids=masked).logits) - whole)
    return torch.cat(moved)


def model(family: str, *, seed: int = 0) -> PreTrainedModel:
    """A fresh copy of a random classifier of three classes with teeth, in eval mode."""
    return copy.deepcopy(_model(family, seed))


@cache
def _model(family: str, seed: int) -> PreTrainedModel:
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        config = AutoConfig.for_model(family, **(SIZES | FAMILIES[family]))
        made: PreTrainedModel = Auto.from_config(config)  # type: ignore[no-untyped-call]
    made.eval()  # type: ignore[no-untyped-call]
    for _ in range(20):
        if moves(made, family).abs().median() >= TEETH:
            return made
        for parameter in made.parameters():
            if parameter.ndim > 1:
                parameter.data *= 1.25
    raise AssertionError(f"no scale gives a random {family} teeth")


def classifier(family: str = "bert", *, seed: int = 0, batch_tokens: int = 128) -> TextClassifier:
    """A fresh classifier with its tokenizer behind the questions."""
    return TextClassifier.of(model(family, seed=seed), tokenizer(family), batch_tokens=batch_tokens)


def masks(n: int, k: int, *, seed: int = 0) -> Masks:
    """Random masks (k, n), the first of them full and the second empty."""
    drawn = np.random.default_rng(seed).random((k, n)) < 0.5
    drawn[0], drawn[1] = True, False
    return drawn

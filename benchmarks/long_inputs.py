"""What long inputs cost: the memory of rollout on 2,000 tokens, every method's time on 512.

    python benchmarks/long_inputs.py memory
    python benchmarks/long_inputs.py methods [METHOD ...]

The models are random and made in memory: cost doesn't depend on the weights.
"""

import resource
import sys
import time
from collections.abc import Sequence

import torch
from tokenizers import Tokenizer, pre_tokenizers, processors
from tokenizers.models import WordLevel
from transformers import BertConfig, BertForSequenceClassification, PreTrainedTokenizerFast

from attrial import plugin_call, registry
from attrial.budget import within
from attrial.errors import NotApplicable
from attrial.example import Example
from attrial.filling import corpus_of
from attrial.models.text import TextClassifier
from attrial.subject import Subject
from attrial.target import Target
from attrial.value import Value, answer

WORDS = 1000
SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
ROWS = 64  # model rows that a method which samples gets
A_PLAYER = {"shap_permutation": 2}  # rows a player, and one: it says nothing for fewer
MEGABYTE = 1024  # ru_maxrss is in kilobytes


def tokenizer(limit: int) -> PreTrainedTokenizerFast:
    """Words without pieces: as many tokens as words, and two special ones."""
    names = [*SPECIAL, *(f"w{i}" for i in range(WORDS))]
    backend = Tokenizer(WordLevel({name: i for i, name in enumerate(names)}, unk_token="[UNK]"))
    backend.pre_tokenizer = pre_tokenizers.Whitespace()
    backend.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    return PreTrainedTokenizerFast(  # type: ignore[no-untyped-call]
        tokenizer_object=backend,
        pad_token="[PAD]",
        unk_token="[UNK]",
        cls_token="[CLS]",
        sep_token="[SEP]",
        mask_token="[MASK]",
        model_max_length=limit,
    )


def subject(layers: int, width: int, heads: int, tokens: int) -> tuple[TextClassifier, Example]:
    """A random BERT and a text of so many tokens, special ones included."""
    torch.manual_seed(0)
    config = BertConfig(
        vocab_size=len(SPECIAL) + WORDS,
        hidden_size=width,
        num_hidden_layers=layers,
        num_attention_heads=heads,
        intermediate_size=4 * width,
        max_position_embeddings=tokens + 64,
    )
    model = BertForSequenceClassification(config)
    model.eval()  # type: ignore[no-untyped-call]
    it = TextClassifier.of(model, tokenizer(tokens))
    x = it.encode("long", [" ".join(f"w{i * 7 % WORDS}" for i in range(tokens - 2))])
    assert len(x.ids) == tokens
    return it.filled_by(corpus_of([x])), x


def explain(value: Value, x: Example, method: str) -> str:
    """What came of one method on one example; rows that others asked are remembered."""
    asked = plugin_call.method(method)(x, 0)
    try:
        (got,) = answer(value, [(Subject(x, "mask", Target(0)), asked)])
    except NotApplicable as why:
        return f"not applicable: {why}"
    return "scores" if got.result is not None else f"undefined: {got.undefined}"


def peak() -> float:
    """The most memory that this process has held, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / MEGABYTE


def memory(tokens: int = 2000) -> None:
    """Rollout of a model of twelve layers of the size of BERT-base."""
    it, x = subject(12, 768, 12, tokens)
    before, started = peak(), time.process_time()
    told = explain(Value(it), x, "attention_rollout")
    seconds = time.process_time() - started
    print(f"attention_rollout, {tokens} tokens: {told}, {seconds:.1f} CPU s")
    print(f"peak {peak():.0f} MB; {before:.0f} MB with the model loaded")


def methods(chosen: Sequence[str], tokens: int = 512) -> None:
    """Every method on a model of six layers of width 384."""
    it, x = subject(6, 384, 12, tokens)
    value, total, began = Value(it), 0.0, time.monotonic()
    for name in chosen or registry.plugins("methods"):
        rows = max(ROWS, A_PLAYER.get(name, 0) * x.n + 1)
        started = time.process_time()
        told = explain(value, x, within(name, rows))
        seconds = time.process_time() - started
        total += seconds
        print(f"{name}\t{seconds:.1f}\t{peak():.0f}\t{told}", flush=True)
    print(f"all\t{total:.1f}\t{peak():.0f}\t{time.monotonic() - began:.0f} s by the clock")


if __name__ == "__main__":
    command, *rest = sys.argv[1:] or ("memory",)
    if command == "memory":
        memory()
    else:
        methods(rest)

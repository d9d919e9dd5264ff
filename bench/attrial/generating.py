"""What notebooks and commands call to explain a text token by token, a model's own or a given."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from attrial import plugin_call
from attrial.classifiers import ModelLike, classifier_of
from attrial.errors import AttrialError
from attrial.example import Example
from attrial.explaining import check, conversing, ready
from attrial.generation import Generation, matrix
from attrial.masks import Floats, everything
from attrial.models.causal import CausalModel
from attrial.models.continuing import Continuing
from attrial.models.seq2seq import Seq2SeqModel
from attrial.models.text import TextClassifier
from attrial.plugin_call import PluginMethod
from attrial.target import Target
from attrial.value import Subject, Value, answer


def explain_generation(
    model: ModelLike,
    prompt: str,
    *,
    method: str = "integrated_gradients",
    continuation: str | None = None,
    max_new_tokens: int = 20,
    function: str = "log_odds",
    players: str = "words",
    removal: str | None = None,
    chat: bool = False,
    seed: int = 0,
    infill: str | Path | None = None,
    dtype: str | None = None,
    device: str | None = None,
) -> Generation:
    """Let a model continue a prompt greedily, and explain each token that it writes.

    What it writes is fixed once, on the full prompt. Each token is then explained by what stood
    before it: the players of the prompt, and every token written earlier, which is a player too.
    An encoder-decoder translates the prompt, or whatever else it was trained for. With a
    ``continuation`` its tokens are explained likewise, in place of what the model would write.

    Args:
        model: A language model, causal or an encoder-decoder: a folder, a Hub id, or a loaded
            pair (model, tokenizer).
        prompt: The text.
        method: A call such as ``shapley`` or ``integrated_gradients(steps=30)``.
        continuation: Text whose tokens are explained, each given those before it.
        max_new_tokens: How many tokens it may write; it ends where its config says so.
        function: What of each token is explained: ``log_odds`` (nats), ``probability``,
            ``log_probability`` or ``logit`` (here the log-probability too).
        players: ``words`` or ``tokens``, of the prompt.
        removal: As for ``explain``.
        chat: As for ``explain``.
        seed: Of the method's draws.
        infill: As for ``explain``.
        dtype: As for ``explain``.
        device: As for ``explain``.

    Raises:
        AttrialError: As ``explain``; if the model is none that continues a text.
    """
    asked = plugin_call.method(method)
    check(seed, function)
    writer = _writer(conversing(classifier_of(model, dtype=dtype, device=device), chat))
    if max_new_tokens < 1:
        raise AttrialError(f"max_new_tokens={max_new_tokens}; it takes 1 or more")
    given = () if continuation is None else (continuation,)
    x = writer.encode("text", (prompt,), players=players, options=given)
    said = x.options[0] if given else writer.generate(x, max_new_tokens)
    steps = _steps(writer, x, said)
    answering, removal = ready(_joined(writer), steps[-1], removal, infill, asked)
    subjects = [Subject(step, removal, Target(0, function)) for step in steps]
    return Generation(
        sources=steps[-1].players,
        targets=writer.shown(said),
        scores=matrix(_scores(answering, subjects, asked, seed)),
        probabilities=_probabilities(answering, subjects),
        method=asked.bound.text,
        removal=removal,
        function=function,
        prompt=x.n,
        signed=asked.bound.signed,
        given=continuation is not None,
    )


def _writer(model: TextClassifier) -> CausalModel | Seq2SeqModel:
    if not isinstance(model, CausalModel | Seq2SeqModel):
        raise AttrialError(f"{model.spec.name} is no language model: it writes nothing")
    return model


def _joined(model: CausalModel | Seq2SeqModel) -> CausalModel | Seq2SeqModel:
    """The same model, which computes rows that are beginnings of others together with those.

    What stood before a token is the beginning of what stood before the next one, so that one
    forward of a row with all that was written answers for every step which removes the same.
    """
    assert isinstance(model.forward, Continuing)
    return replace(model, forward=replace(model.forward, joined=True))


def _steps(model: CausalModel | Seq2SeqModel, x: Example, said: Sequence[int]) -> list[Example]:
    """What stood before each token, with the token as the only continuation asked about."""
    return [
        replace(
            model.grown(x, said[:i]), id=f"token {i}", options=((token,),), labels=(text,),
            explained=0,
        )
        for i, (token, text) in enumerate(zip(said, model.shown(said), strict=True))
    ]  # fmt: skip


def _scores(
    model: TextClassifier, subjects: Sequence[Subject], method: PluginMethod, seed: int
) -> list[Floats]:
    """Scores of each step's players; all steps are asked side by side."""
    found = answer(Value(model), [(s, method(s.example, seed)) for s in subjects])
    for subject, got in zip(subjects, found, strict=True):
        if got.result is None:
            raise AttrialError(
                f"method {method.bound.text} gave no scores for {subject.example.id}: "
                f"{got.undefined}"
            )
    return [got.result for got in found if got.result is not None]


def _probabilities(model: TextClassifier, subjects: Sequence[Subject]) -> tuple[float, ...]:
    outputs = model.keep([(s, everything(s.example.n)) for s in subjects])
    return tuple(float(Target(0, "probability").read(rows)[0]) for rows in outputs)

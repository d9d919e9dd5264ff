"""Methods and metrics made ready to ask: a plugin, its arguments checked, and a typed call."""

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from types import ModuleType
from typing import Protocol, cast, get_type_hints

import numpy as np
from pydantic import JsonValue, TypeAdapter, ValidationError

from attrial import registry
from attrial.ask import Asking
from attrial.errors import AttrialError, Undefined, near
from attrial.example import Example
from attrial.masks import Scores
from attrial.named import named, number_of, scores_of
from attrial.record import MetricFacts, PluginSpec

Function = Callable[..., object]
Also = Mapping[str, Mapping[str, tuple[str, ...]]]  # argument, its value, questions


@dataclass(frozen=True)
class Bound:
    """A plugin with every argument filled in."""

    plugin: registry.Plugin
    module: ModuleType
    text: str
    args: dict[str, object]

    @property
    def spec(self) -> PluginSpec:
        """What goes into the record; a file's content stands in for its distribution's version."""
        version = getattr(self.module, "VERSION", 1)
        args = cast(
            dict[str, JsonValue], TypeAdapter(dict[str, object]).dump_python(self.args, mode="json")
        )
        declared = self.constant("CLASS_SPECIFIC", None)
        return PluginSpec(
            name=self.plugin.name,
            args=args,
            version=version,
            shipped_by=self._shipped_by,
            class_specific=declared if isinstance(declared, bool) else None,
        )

    @property
    def _shipped_by(self) -> str:
        if not self.plugin.module.startswith("file:"):
            return self.plugin.shipped_by
        digest = registry.content_digest(self.plugin.path)
        return f"{self.plugin.shipped_by} sha256 {digest}"

    @property
    def signed(self) -> bool:
        """Whether a negative score of this method speaks against the target."""
        return self.constant("SIGN", "signed") == "signed"

    @property
    def class_blind(self) -> bool:
        """Whether this method gives every class the same scores."""
        return self.constant("CLASS_SPECIFIC", True) is False

    def constant(self, name: str, default: object) -> object:
        """A declaration of the plugin's module."""
        return getattr(self.module, name, default)


def bind(kind: str, text: str) -> Bound:
    """Find the plugin that ``text`` calls and check its arguments against the signature.

    Raises:
        AttrialError: For an unknown plugin or argument (near names offered), or a wrong value.
    """
    call = registry.parse_call(text)
    plugin = registry.plugin(kind, call.name)
    function = plugin.function()
    options = {
        name: p for name, p in inspect.signature(function).parameters.items() if _is_option(name, p)
    }
    for name in call.args:
        if name not in options:
            raise AttrialError(f"{plugin.name} has no argument {name!r}; {near(name, options)}")
    hints = get_type_hints(function)
    args = {name: p.default for name, p in options.items()}
    args |= {k: _checked(plugin.name, k, v, hints.get(k, object)) for k, v in call.args.items()}
    missing = [k for k, v in args.items() if v is inspect.Parameter.empty]
    if missing:
        raise AttrialError(f"{plugin.name} needs the argument {missing[0]!r}")
    label = (
        call.text if not call.name.endswith(".py") else call.text.replace(call.name, plugin.name)
    )
    return Bound(plugin, plugin.load(), label, args)


def _is_option(name: str, parameter: inspect.Parameter) -> bool:
    return parameter.kind is inspect.Parameter.KEYWORD_ONLY and name != "seed"


def _checked(owner: str, name: str, value: object, hint: object) -> object:
    try:
        return TypeAdapter(cast(type[object], hint)).validate_python(value, strict=True)
    except ValidationError as error:
        why = error.errors()[0]["msg"]
        raise AttrialError(f"{owner}: argument {name}={value!r}: {why}") from None


class Method(Protocol):
    """What gives scores: a plugin, or attributions that were made elsewhere."""

    @property
    def asks(self) -> tuple[str, ...]:
        """The questions that it needs answered."""

    @property
    def spec(self) -> PluginSpec:
        """What goes into the record."""

    def __call__(self, x: Example, seed: int) -> Asking[Scores]:
        """The asker that attributes one example: (n,), finite."""


@dataclass(frozen=True)
class PluginMethod:
    """A method's plugin ready to be asked about examples."""

    bound: Bound

    def __call__(self, x: Example, seed: int) -> Asking[Scores]:
        """The asker that attributes one example; its scores are checked: (n,), finite.

        Raises:
            AttrialError: If they are not, or for whatever the plugin raises: one line that
                names it and the example.
        """
        who = f"method {self.bound.text}"
        found = yield from named(who, x, lambda: self._asker(x, seed))
        return scores_of(who, x, found)

    def _asker(self, x: Example, seed: int) -> Asking[object]:
        function = self.bound.plugin.function()
        return cast(Asking[object], function(x, seed=seed, **self.bound.args))

    @property
    def spec(self) -> PluginSpec:
        """What goes into the record."""
        return self.bound.spec

    @property
    def asks(self) -> tuple[str, ...]:
        """The questions that it needs answered, those of its arguments' values included."""
        also = cast(Also, self.bound.constant("ALSO_ASKS", {}))
        chosen = [
            (name, value) for name, value in self.bound.args.items() if isinstance(value, str)
        ]
        more = [
            question for name, value in chosen for question in also.get(name, {}).get(value, ())
        ]
        return (*cast(tuple[str, ...], self.bound.constant("ASKS", ("keep",))), *more)


@dataclass(frozen=True)
class Metric:
    """A metric ready to be asked about scores.

    With ``rationale`` the evidence is what people hold to be the reason: agreement with it is
    plausibility, which never stands in one table with planted evidence. ``senseless`` says why it
    has no value on this model, whatever is asked.
    """

    bound: Bound
    rationale: bool = False
    senseless: str = ""

    def value(self, x: Example, scores: Scores, seed: int) -> Asking[float]:
        """The asker that scores one attribution (n,)."""
        function = self.bound.plugin.function()
        return self._number(x, lambda: function(x, scores, seed=seed, **self.bound.args))

    def extremes(self, x: Example, seed: int) -> Asking[tuple[Scores, Scores]]:
        """The asker that finds scores of the best and of the worst order."""
        function = cast(Function, self.bound.constant("extremes", None))

        def start() -> Asking[tuple[Scores, Scores]]:
            self._sensible()
            found = function(x, seed=seed, **self.bound.args)
            return cast(Asking[tuple[Scores, Scores]], found)

        return named(self._who, x, start)

    @property
    def has_extremes(self) -> bool:
        """Whether it knows the best and the worst order."""
        return self.bound.constant("extremes", None) is not None

    def expected(self, x: Example, seed: int) -> Asking[float]:
        """The asker for the value of a random order: its closed form, or constant scores."""
        function = cast(Function | None, self.bound.constant("expected", None))
        if function is None:
            return self.value(x, np.zeros(x.n), seed)
        return self._number(x, lambda: function(x, seed=seed, **self.bound.args))

    def _number(self, x: Example, start: Callable[[], object]) -> Asking[float]:
        self._sensible()
        found = yield from named(self._who, x, lambda: cast(Asking[object], start()))
        return number_of(self._who, x, found)

    def _sensible(self) -> None:
        if self.senseless:
            raise Undefined(self.senseless)

    @property
    def _who(self) -> str:
        return f"metric {self.bound.text}"

    @property
    def reads(self) -> str:
        """The function of the target that its questions are answered in."""
        return str(self.bound.constant("READS", "probability"))

    @property
    def asks(self) -> tuple[str, ...]:
        """The questions that it needs answered."""
        return cast(tuple[str, ...], self.bound.constant("ASKS", ("keep",)))

    @property
    def depends_on_removal(self) -> bool:
        """Whether the way in which players are removed can change its value."""
        return self.facts.family == "faithfulness" and "keep" in self.asks

    @property
    def facts(self) -> MetricFacts:
        """What a table must know of it."""
        family = str(self.bound.constant("FAMILY", "faithfulness"))
        return MetricFacts(
            higher_is_better=self.bound.constant("DIRECTION", "higher") == "higher",
            family="plausibility" if family == "evidence" and self.rationale else family,
            unit=str(self.bound.constant("UNIT", "")),
        )


@cache
def method(text: str) -> PluginMethod:
    """A method by name, call or path: ``occlusion``, ``lime(samples=500)``, ``./mine.py``."""
    return PluginMethod(bind("methods", text))


@cache
def metric(text: str) -> Metric:
    """A metric by name, call or path."""
    return Metric(bind("metrics", text))

"""Plugins are found by file, read without importing, and asked for by name, call or path."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from attrial import plugin_call, registry
from attrial.errors import AttrialError


def test_a_wrong_name_is_answered_with_near_ones() -> None:
    with pytest.raises(AttrialError, match="no method 'oclusion'; did you mean occlusion"):
        registry.plugin("methods", "oclusion")


@pytest.mark.parametrize(
    "text", ["f(", "f(1)", "f(**{})", "f(a=open('x'))", "f(a=b)", "f(a=1) or g()", "f(a=1)(b=2)"]
)
def test_only_literal_keyword_arguments_are_read(text: str) -> None:
    with pytest.raises(AttrialError, match="literals only"):
        registry.parse_call(text)


literals = st.one_of(
    st.integers(),
    st.text(),
    st.booleans(),
    st.none(),
    st.floats(allow_nan=False, allow_infinity=False),
)


@given(st.dictionaries(st.from_regex(r"[a-z]{1,8}_", fullmatch=True), literals, max_size=4))
def test_a_call_reads_back_what_was_written(args: dict[str, object]) -> None:
    text = f"name({', '.join(f'{k}={v!r}' for k, v in args.items())})"
    call = registry.parse_call(text)
    assert (call.name, call.args) == ("name", args)


def test_every_plugin_of_code_declares_itself_and_loads() -> None:
    for kind in registry.CODE:
        for plugin in registry.plugins(kind).values():
            found = registry.declared(plugin)
            assert found.summary.endswith("."), plugin
            assert isinstance(found.constants["VERSION"], int), plugin
            assert callable(plugin.function())


@pytest.mark.parametrize(
    ("call", "said"),
    [
        ("integrated_gradients(stepz=3)", "no argument 'stepz'; did you mean steps"),
        ("integrated_gradients(steps='many')", "argument steps='many'"),
        ("integrated_gradients(steps=2.5)", "argument steps=2.5"),
    ],
)
def test_a_wrong_argument_is_named(call: str, said: str) -> None:
    with pytest.raises(AttrialError, match=said):
        plugin_call.method(call)


def test_arguments_left_out_are_filled_in_for_the_record() -> None:
    spec = plugin_call.method("integrated_gradients(steps=30)").bound.spec
    assert spec.args["steps"] == 30 and "baseline" in spec.args
    assert spec.shipped_by.startswith("attrial ")


MINE = '''"""Mine."""
import numpy as np
from attrial.ask import Asking, Scores, keep
from attrial.example import Example
from attrial.masks import Scores
VERSION = 1
def mine(x: Example, *, seed: int, scale: float = 2.0) -> Asking[Scores]:
    """All the same."""
    yield from keep(np.ones((1, x.n), bool))
    return np.full(x.n, scale)
'''


def test_a_method_comes_from_a_file(tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    path.write_text(MINE.replace("Asking, Scores, keep", "Asking, keep"))
    bound = plugin_call.method(f"{path}(scale=3.0)").bound
    assert bound.text == "mine(scale=3.0)" and bound.args == {"scale": 3.0}
    assert bound.spec.shipped_by.startswith("file mine.py sha256 ")


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("def other(x): ...", "must define a function named 'mine'"),
        ("import nowhere_at_all", "fails to import: ModuleNotFoundError"),
        ("def mine(", "fails to import: SyntaxError"),
    ],
)
def test_a_bad_file_is_told_in_one_line(tmp_path: Path, source: str, said: str) -> None:
    path = tmp_path / "mine.py"
    path.write_text(source)
    with pytest.raises(AttrialError, match=said):
        plugin_call.method(str(path))


def test_a_package_that_fails_to_import_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "broken_plugins").mkdir()
    (tmp_path / "broken_plugins" / "mine.py").write_text("import nowhere_at_all")
    monkeypatch.syspath_prepend(str(tmp_path))
    plugin = registry.Plugin("mine", "broken_plugins.mine", tmp_path, "others 2.0")
    with pytest.raises(AttrialError, match=r"mine of others 2\.0 fails to import: ModuleNotFound"):
        plugin.load()


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(AttrialError, match="no file"):
        plugin_call.method(str(tmp_path / "gone.py"))

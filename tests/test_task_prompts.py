"""Templates, continuations, spans, further forms of files: what comes out, what is refused."""

import json
import string
import tarfile
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attrial._data_prompt import columns_of, fields, fill, split_pair
from attrial.errors import AttrialError
from attrial.task import Item, items, load_task

HEAD = 'description = "d"\n'


def read(folder: Path, toml: str, row: dict[str, object], name: str = "d.jsonl") -> Item:
    (folder / "mine.toml").write_text(HEAD + toml)
    (folder / name).write_text(json.dumps(row))
    return items(load_task(folder / "mine.toml"), data=folder / name)[0]


def refused(folder: Path, toml: str, row: dict[str, object]) -> str:
    with pytest.raises(AttrialError) as caught:
        read(folder, toml, row)
    assert "\n" not in str(caught.value)
    return str(caught.value)


TEXT = st.text(string.ascii_letters + " {}[]!", min_size=1, max_size=12)


@given(TEXT, TEXT, TEXT)
def test_a_filled_template_holds_each_text_as_it_is(a: str, b: str, word: str) -> None:
    literal = word.replace("{", "{{").replace("}", "}}")
    filled = fill(f"{literal}{{a}}{literal}{{b c}}!", {"a": a, "b c": b})
    assert filled.text == word + a + word + b + "!"
    assert filled.text[filled.starts["a"] :].startswith(a)
    assert filled.text[filled.starts["b c"] :].startswith(b)
    stays = "".join(filled.text[start:end] for _, start, end in filled.fixed)
    assert stays == (word * 2 if word.strip() else "") + "!"


@pytest.mark.parametrize(
    "template", ["{a.b}", "{a[0]}", "{a!r}", "{a:>9}", "{}", "no field", "{a", "{a.__class__}"]
)
def test_a_field_is_a_columns_name_alone(tmp_path: Path, template: str) -> None:
    with pytest.raises(ValueError):
        fields(template)
    assert "template: " in refused(tmp_path, f'template = "{template}"', {"a": "b"})


def test_a_template_moves_evidence_and_fixes_its_own_words(tmp_path: Path) -> None:
    toml = (
        'text = ["premise", "claim"]\ntemplate = "So {claim}? As {premise}."\n'
        'rationale = {column = "why", form = "flags"}'
    )
    row: dict[str, object] = {
        "premise": "rain falls",
        "claim": "all is wet",
        "why": [1, 0, 0, 0, 1],
    }
    item = read(tmp_path, toml, row)
    text = "So all is wet? As rain falls."
    assert item.texts == (text,)
    assert item.evidence is not None
    assert [text[a:b] for _, a, b in item.evidence] == ["rain", "wet"]
    assert [text[a:b] for _, a, b in item.fixed] == ["So ", "? As ", "."]
    assert columns_of("{b} {a} {b}") == ("b", "a")


def test_one_continuation_two_or_a_list(tmp_path: Path) -> None:
    row: dict[str, object] = {"text": "the keys", "a": "are", "b": " is", "c": ["x", "y", "z"]}
    one = read(tmp_path, 'continuation = {right = "a"}', row)
    assert one.options == (" are",)
    two = read(tmp_path, 'continuation = {right = "a", foil = "b"}', row)
    assert two.options == (" are", " is")
    three = read(tmp_path, 'continuation = {column = "c", joint = ""}', row)
    assert three.options == ("x", "y", "z")
    ended = read(tmp_path, 'continuation = {right = "a"}', {**row, "text": "the keys\n"})
    assert ended.options == ("are",)


def test_label_words_are_a_classifier(tmp_path: Path) -> None:
    toml = (
        'label = "y"\nlabels = ["no", "yes"]\ntemplate = "{text} It was"\n'
        'continuation = {words = ["bad", "good"]}'
    )
    item = read(tmp_path, toml, {"text": "fine .", "y": 1})
    assert item.texts == ("fine . It was",)
    assert (item.options, item.label) == ((" bad", " good"), 1)


def test_a_minimal_pair_is_a_text_and_two_continuations(tmp_path: Path) -> None:
    row: dict[str, object] = {"g": "the  keys to it are here", "b": "the keys to it is here"}
    word = read(tmp_path, 'continuation = {minimal_pair = ["g", "b"]}', row)
    assert (word.texts, word.options) == (("the keys to it",), (" are", " is"))
    end = read(tmp_path, 'continuation = {minimal_pair = ["g", "b"], until = "end"}', row)
    assert end.options == (" are here", " is here")


@given(st.lists(st.sampled_from("ab"), min_size=1), st.lists(st.sampled_from("ab"), min_size=1))
def test_what_a_pair_is_split_into_makes_it_again(one: list[str], two: list[str]) -> None:
    parts = [i for i, (a, b) in enumerate(zip(one, two, strict=False)) if a != b]
    if not parts or parts[0] == 0:
        with pytest.raises(ValueError):
            split_pair(" ".join(one), " ".join(two), "end")
        return
    text, first, second = split_pair(" ".join(one), " ".join(two), "end")
    assert (f"{text} {first}".split(), f"{text} {second}".split()) == (one, two)
    assert first.split()[0] != second.split()[0]


PAIR = 'continuation = {minimal_pair = ["g", "b"]}'
FAULTS: list[tuple[str, dict[str, object], str]] = [
    (PAIR, {"g": "a c", "b": "b c"}, "row 0: the two sentences begin with different words"),
    (PAIR, {"g": "a c", "b": "a c"}, "row 0: the two sentences do not part"),
    (PAIR, {"g": "a"}, "no column 'b'"),
    ('continuation = {right = "a"}', {"text": "t", "a": ""}, "continuation '' is no text"),
    ('continuation = {right = "a"}', {"text": "t", "a": 3}, "continuation 3 is no text"),
    ('continuation = {right = "a", foil = "b"}', {"text": "t", "a": "x", "b": "x"}, "must differ"),
    ('continuation = {column = "a"}', {"text": "t", "a": "x"}, "continuations 'x' are no list"),
    ('continuation = {right = "a", column = "b"}', {}, "continuation: give exactly one of right"),
    ('continuation = {foil = "b"}', {}, "continuation: give exactly one of right"),
    ('continuation = {words = ["a"], foil = "b"}', {}, "continuation: a foil needs a right one"),
    ('labels = ["a"]\ncontinuation = {words = ["a", "b"]}', {}, "words and labels differ"),
    (f'text = "t"\n{PAIR}', {}, "the text of a minimal pair is what both sentences begin with"),
    ('text = "t"\ntemplate = "{u}"', {}, "text names a column that the template lacks"),
    ('players = "spans"', {}, 'players = "spans" and a [spans] table need each other'),
    ('spans = {column = "c"}', {}, "need each other"),
    ("data = {hub = 'h', split = 's[:9]', streaming = true}", {}, "streamed split has no slices"),
    ("data = {path = 'h', streaming = true}", {}, "only data of the hub are streamed"),
    ("given = {encoding = 'latin-11'}", {}, "given.encoding: no encoding 'latin-11'"),
    ("given = {formt = 'csv'}", {}, "no field 'given.formt'; did you mean format"),
]


@pytest.mark.parametrize(("toml", "row", "message"), FAULTS, ids=range(len(FAULTS)))
def test_what_can_not_be_asked(
    tmp_path: Path, toml: str, row: dict[str, object], message: str
) -> None:
    assert message in refused(tmp_path, toml, row)


def test_players_from_a_column_of_word_ranges(tmp_path: Path) -> None:
    toml = 'players = "spans"\nspans = {column = "np", form = "ranges"}'
    item = read(tmp_path, toml, {"text": "the old keys of it", "np": [[0, 3], [4, 5]]})
    assert item.spans == ((0, 0, 12), (0, 16, 18))


FORMS: dict[str, tuple[object, list[str]]] = {
    "ranges": ([[1, 3]], ["so very"]),
    "texts": (["very\ngood", "not"], ["very good", "not"]),
    "words": ("0, 2", ["not", "very"]),
    "flags": ("0 1 0 1", ["so", "good"]),
    "marked": ("not *so* very *good*", ["so", "good"]),
}


@pytest.mark.parametrize("form", FORMS)
def test_evidence_of_further_forms(tmp_path: Path, form: str) -> None:
    told, expected = FORMS[form]
    toml = f'rationale = {{column = "why", form = "{form}"}}'
    item = read(tmp_path, toml, {"text": "not so very good", "why": told})
    assert item.evidence is not None
    assert [item.texts[0][a:b] for _, a, b in item.evidence] == expected


def test_evidence_in_a_column_for_each_text(tmp_path: Path) -> None:
    toml = 'text = ["a", "b"]\nrationale = {column = ["m", "n"], form = "words"}'
    row: dict[str, object] = {"a": "one two", "b": "three four", "m": "{}", "n": "1"}
    assert read(tmp_path, toml, row).evidence == ((1, 6, 10),)
    assert read(tmp_path, toml, {**row, "n": None, "m": ""}).evidence is None


@pytest.mark.parametrize(
    ("form", "told", "message"),
    [
        ("texts", ["so good"], "evidence 'so good' is not in the text"),
        ("texts", [3], "is not of the form 'texts'"),
        ("ranges", [[0, 9]], "outside the 4 words"),
        ("ranges", [3], "is not of the form 'ranges'"),
        ("marked", "not *other* words *here*", "has other words than the text"),
    ],
)
def test_evidence_that_is_not_there(tmp_path: Path, form: str, told: object, message: str) -> None:
    toml = f'rationale = {{column = "why", form = "{form}"}}'
    assert message in refused(tmp_path, toml, {"text": "not so very good", "why": told})


GIVEN = """
label = "label"
labels = ["world", "sports"]
given = {header = ["class", "title", "body"], template = "{title} {body}", label = "class", \
label_values = ["1", "2"]}
"""


def test_given_files_may_be_written_otherwise(tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text(HEAD + GIVEN)
    task = load_task(tmp_path / "mine.toml")
    (tmp_path / "bare.csv").write_text('"2","A win, at last","It was late."\n')
    (item,) = items(task, data=tmp_path / "bare.csv")
    assert (item.texts, item.label) == (("A win, at last It was late.",), 1)
    (tmp_path / "own.csv").write_text("label,text\n1,A win\n")
    assert items(task, data=tmp_path / "own.csv") == [Item("0", ("A win",), 1)]
    frame = pd.DataFrame({"label": [0], "text": ["b"]})
    assert items(task, data=frame) == [Item("0", ("b",), 0)]


def test_labels_count_up_to_a_mark_and_encodings_are_named(tmp_path: Path) -> None:
    toml = 'label = "label"\nlabels = ["LOC", "NUM"]\nlabel_until = ":"\n'
    (tmp_path / "t.train").write_bytes("NUM:dist How far is caf\xe9 ?\n".encode("latin-1"))
    (tmp_path / "mine.toml").write_text(HEAD + toml)
    with pytest.raises(AttrialError, match=r"it isn't utf-8; name its encoding in the task"):
        items(load_task(tmp_path / "mine.toml"), data=tmp_path / "t.train")
    (tmp_path / "mine.toml").write_text(HEAD + toml + 'given.encoding = "latin-1"')
    found = items(load_task(tmp_path / "mine.toml"), data=tmp_path / "t.train")
    assert found == [Item("0", ("How far is caf\xe9 ?",), 1)]


def release(folder: Path) -> Path:
    """A tiny release of the ERASER kind, packed."""
    (folder / "m" / "docs").mkdir(parents=True)
    (folder / "m" / "docs" / "a.txt").write_text("it was dull\nso dull .\n")
    evidence = [[{"docid": "a.txt", "start_token": 4, "end_token": 5}]]
    row = {"annotation_id": "a.txt", "classification": "NEG", "evidences": evidence}
    (folder / "m" / "val.jsonl").write_text(json.dumps(row) + "\n")
    with tarfile.open(folder / "m.tar.gz", "w:gz") as archive:
        archive.add(folder / "m", "m")
    return folder / "m.tar.gz"


def test_a_release_of_rationales_packed_and_unpacked(tmp_path: Path) -> None:
    toml = (
        'text = "review"\nlabel = "label"\nlabels = ["NEG", "POS"]\n'
        'rationale = {column = "evidences", form = "texts"}'
    )
    (tmp_path / "mine.toml").write_text(HEAD + toml)
    task, packed = load_task(tmp_path / "mine.toml"), release(tmp_path)
    for place in (packed, tmp_path / "m"):
        (item,) = items(task, data=place, split="validation")
        assert (item.texts, item.label) == (("it was dull\nso dull .\n",), 0)
        assert item.evidence == ((0, 15, 19),)  # the second "dull", told by its number
        with pytest.raises(AttrialError, match=r"can't be read as eraser: no test\.jsonl in it"):
            items(task, data=place)


def test_verbs_with_their_other_forms_are_minimal_pairs(tmp_path: Path) -> None:
    (tmp_path / "v.text").write_text("the keys to it are here <eos>\n")
    (tmp_path / "v.gold").write_text("4\tare\tis\t0\n")
    toml = 'continuation.minimal_pair = ["sentence_good", "sentence_bad"]\ngiven.format = "verbs"'
    (tmp_path / "mine.toml").write_text(HEAD + toml)
    (item,) = items(load_task(tmp_path / "mine.toml"), data=tmp_path / "v.text")
    assert (item.texts, item.options) == (("the keys to it",), (" are", " is"))
    (tmp_path / "v.gold").write_text("3\tare\tis\t0\n")
    with pytest.raises(AttrialError, match="line 1: word 3 is 'it', not 'are'"):
        items(load_task(tmp_path / "mine.toml"), data=tmp_path / "v.text")

"""The shipped tasks: what they need, what they generate, and real files in their forms.

Real data lie beside the repository in ``../shared/data``, or where ``ATTRIAL_SHARED`` says.
"""

import os
from pathlib import Path

import pytest

from attrial import registry
from attrial.errors import AttrialError
from attrial.task import Item, Task, items, load_task

SHARED = Path(os.environ.get("ATTRIAL_SHARED", Path(__file__).parents[2] / "shared")) / "data"
SHIPPED = sorted(registry.plugins("tasks"))
MARKS = 25  # lines of a task file at most


def shared(path: str) -> Path:
    if not (SHARED / path).exists():
        pytest.skip(f"no real data: {SHARED / path} is absent; ATTRIAL_SHARED names its folder")
    return SHARED / path


def quotes(item: Item) -> list[str]:
    return [item.texts[i][start:end] for i, start, end in item.evidence or ()]


@pytest.mark.parametrize("name", SHIPPED)
def test_a_task_is_a_short_file_that_says_what_it_needs(name: str) -> None:
    path, task = registry.plugin("tasks", name).path, load_task(name)
    assert len(path.read_text().splitlines()) <= MARKS
    for word in ("Hub", "--data"):
        assert word not in task.needs or word in task.description
    assert not task.needs or "Needs" in task.description


def test_wanted_tasks_are_there() -> None:
    wanted = """
    sst2 imdb ag_news mnli rte esnli movie_rationales trec toxicity subject_verb_agreement blimp
    indirect_object greater_than
    """
    assert set(wanted.split()) <= set(SHIPPED)


REAL: dict[str, tuple[str, str | None, int, int]] = {  # task -> file, split, rows, classes
    "sst2": ("sst2/stsa.binary.dev", None, 872, 2),
    "sick": ("sick/SICK_trial.txt", None, 500, 3),
    "trec": ("trec/TREC.train", None, 5452, 6),
    "ag_news": ("ag_news/test.csv", None, 7600, 4),
    "movie_rationales": ("movie_rationales/movies.tar.gz", "test", 199, 2),
    "sst_rationales": ("sst_rationales/SST_annot_after_processing.csv", None, 1578, 2),
}


@pytest.mark.parametrize("name", REAL)
def test_real_files_are_read_whole(name: str) -> None:
    path, split, rows, classes = REAL[name]
    found = items(load_task(name), data=shared(path), split=split)
    assert len(found) == rows
    assert {item.label for item in found} == set(range(classes))
    assert {len(item.texts) for item in found} == {2 if name == "sick" else 1}


@pytest.mark.parametrize("name", ["movie_rationales", "sst_rationales"])
def test_what_people_point_at_is_what_the_files_quote(name: str) -> None:
    found = items(load_task(name), data=shared(REAL[name][0]), limit=20)
    assert all(item.evidence is not None for item in found)
    first = {
        "movie_rationales": ["i even giggled", "something about these films causes me to lower my"],
        "sst_rationales": ["most", "annoying", "who", "obviously", "knows", "nothing"],
    }[name]
    for expected, told in zip(first, quotes(found[0]), strict=False):
        assert " ".join(told.split()).startswith(expected)


AGREEMENT = {
    "distractor_agreement_relational_noun.jsonl": "A niece of most senators",
    "distractor_agreement_relative_clause.jsonl": "This customer who had visited most children",
    "subj_agr_filtered.text": "as a consequence of being mostly privately owned , the town",
}


@pytest.mark.parametrize("file", AGREEMENT)
def test_agreement_asks_for_one_verb_against_the_other(file: str) -> None:
    path = shared(f"agreement/{file}")
    found = items(load_task("subject_verb_agreement"), data=path)
    assert len(found) == (7485 if file.endswith("text") else 1000)
    assert found[0].texts == (AGREEMENT[file],)
    assert all(len(item.options) == 2 for item in found)
    assert all(option.startswith(" ") for item in found for option in item.options)


def test_blimp_goes_on_to_the_end() -> None:
    path = shared("agreement/distractor_agreement_relational_noun.jsonl")
    first = items(load_task("blimp"), data=path, limit=1)[0]
    assert first.options[0].startswith(" hasn't descended") and first.options[0].endswith(".")


@pytest.mark.parametrize("name", ["indirect_object", "greater_than"])
def test_generated_prompts_hold_their_evidence_and_repeat_themselves(name: str) -> None:
    task = load_task(name)
    found = items(task, limit=40)
    assert found[:10] == items(task, limit=10)
    assert found != items(task, limit=40, seed=1)
    assert len({item.texts for item in found}) == 40
    for item in found:
        right, foil = (option.strip() for option in item.options)
        (_hold_years if name == "greater_than" else _hold_names)(item, right, foil)


def _hold_years(item: Item, right: str, foil: str) -> None:
    (year,) = quotes(item)
    assert year[:2] == right[:2] == foil[:2]
    assert int(foil) < int(year) < int(right)
    assert right not in item.texts[0] and foil not in item.texts[0]


def _hold_names(item: Item, right: str, foil: str) -> None:
    assert quotes(item) == [right, foil]
    words = item.texts[0].replace(",", "").split()
    assert (words.count(right), words.count(foil)) == (1, 2)
    assert item.evidence is not None
    assert item.evidence[1][1] == item.texts[0].rindex(foil)


def test_each_name_comes_first_in_half_of_the_prompts() -> None:
    found = items(load_task("indirect_object"), limit=100)
    first = [item.texts[0].index(item.options[0].strip()) < 8 for item in found]
    assert sum(first) == 50


def test_marked_evidence_of_e_snli(tmp_path: Path) -> None:
    path = tmp_path / "esnli_dev.csv"
    path.write_text(
        "gold_label,Sentence1,Sentence2,Sentence1_marked_1,Sentence2_marked_1\n"
        "contradiction,A dog runs.,A cat sleeps.,A *dog* runs.,A *cat* *sleeps.*\n"
    )
    (item,) = items(load_task("esnli"), data=path)
    assert (item.label, quotes(item)) == (2, ["dog", "cat", "sleeps."])


def test_a_task_without_data_of_its_own_says_so() -> None:
    with pytest.raises(AttrialError, match="task trec has no data of its own; give some with"):
        items(load_task("trec"))
    assert Task(name="t", description="d").needs == "--data FILE, --model DIR"

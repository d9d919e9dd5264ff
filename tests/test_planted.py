"""Planted tasks: their evidence is right by a second, slow rule that reads nothing but the text."""

import importlib
from collections import Counter
from collections.abc import Callable, Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attrial.task import Item
from attrial_tasks._words import FILLER, TRAINING

KINDS = {
    "planted_keyword": (
        {"heron", "robin", "sparrow", "swallow"},
        {"copper", "iron", "silver", "zinc"},
    ),
    "planted_majority": (
        {"amber", "azure", "crimson", "green", "purple", "white"},
        {"apple", "banana", "cherry", "grape", "lemon", "peach"},
    ),
    "planted_xor": ({"birch", "cedar", "maple", "willow"}, {"chisel", "drill", "pliers", "wrench"}),
}
TABLE = {  # France, Italy, Japan, Spain
    "capital": "paris rome tokyo madrid",
    "currency": "franc lira yen peseta",
    "drink": "cognac grappa sake sherry",
    "fighter": "musketeer gladiator samurai matador",
    "food": "crepe pizza sushi paella",
    "language": "french italian japanese spanish",
    "painter": "monet titian hokusai goya",
    "poet": "hugo dante basho lorca",
}
Judged = tuple[int | None, set[int]]  # the class, None where the text leaves it open; its evidence


def keyword(words: Sequence[str]) -> Judged:
    found = {i for i, w in enumerate(words) if any(w in kind for kind in KINDS["planted_keyword"])}
    if len(found) != 1:
        return None, found
    (where,) = found
    return int(words[where] in KINDS["planted_keyword"][1]), found


def majority(words: Sequence[str]) -> Judged:
    colours, fruits = KINDS["planted_majority"]
    balance = sum(w in fruits for w in words) - sum(w in colours for w in words)
    winner = fruits if balance > 0 else colours
    return (int(balance > 0) if balance else None), {i for i, w in enumerate(words) if w in winner}


def xor(words: Sequence[str]) -> Judged:
    trees, tools = KINDS["planted_xor"]
    cues = {i for i, w in enumerate(words) if w in trees | tools}
    if len(cues) != 2:
        return None, cues
    return int(sum(words[i] in tools for i in cues) == 1), cues


def lookup(words: Sequence[str]) -> Judged:
    queries = [(i, w) for i, w in enumerate(words) if w in TABLE]
    if len(queries) != 1:
        return None, set()
    where, key = queries[0]
    entries = [i for i, w in enumerate(words) if w in TABLE[key].split()]
    if len(entries) != 1:
        return None, {where, *entries}
    return TABLE[key].split().index(words[entries[0]]), {where, entries[0]}


RULES: dict[str, Callable[[Sequence[str]], Judged]] = {
    "planted_keyword": keyword,
    "planted_majority": majority,
    "planted_xor": xor,
    "planted_lookup": lookup,
}
each_task = pytest.mark.parametrize("task", RULES)
seeds = st.integers(0, TRAINING - 1)


def made(task: str, count: int, seed: int) -> list[Item]:
    found: list[Item] = importlib.import_module(f"attrial_tasks.{task}").items(
        count=count, seed=seed
    )
    return found


def marked(item: Item) -> set[int]:
    """Numbers of the words that the spans cover, each span exactly one word."""
    (text,) = item.texts
    assert item.evidence is not None
    starts = {(m, m + len(w)): i for i, (m, w) in enumerate(placed(text))}
    return {starts[start, end] for part, start, end in item.evidence if part == 0}


def placed(text: str) -> list[tuple[int, str]]:
    at, found = 0, []
    for word in text.split(" "):
        found.append((at, word))
        at += len(word) + 1
    return found


@each_task
@given(seed=seeds)
def test_label_and_evidence_follow_from_the_text(task: str, seed: int) -> None:
    for item in made(task, 8, seed):
        label, evidence = RULES[task](item.texts[0].split())
        assert (label, evidence) == (item.label, marked(item))
        assert item.evidence is not None
        assert len(item.evidence) == len(evidence)


@each_task
@given(seed=seeds)
def test_evidence_alone_decides_and_no_part_of_it_may_go(task: str, seed: int) -> None:
    for item in made(task, 4, seed):
        words, evidence = item.texts[0].split(), marked(item)
        alone = [w if i in evidence else "[MASK]" for i, w in enumerate(words)]
        assert RULES[task](alone)[0] == item.label
        without = [RULES[task]([w for i, w in enumerate(words) if i != gone]) for gone in evidence]
        if task == "planted_majority":  # one word less may still be a majority, never another one
            assert all(label in (item.label, None) for label, _ in without)
        else:
            assert all(label is None for label, _ in without)


@each_task
@given(seed=seeds, count=st.integers(1, 40))
def test_every_prefix_is_balanced_in_classes_and_lengths(task: str, seed: int, count: int) -> None:
    found = made(task, count, seed)
    assert [item.id for item in found] == [str(i) for i in range(count)]
    assert found[: count // 2] == made(task, count // 2, seed)  # an item is its seed's and number's
    lengths = [len(item.texts[0].split()) for item in found]
    assert 6 <= min(lengths) <= max(lengths) <= 30
    assert sum(n <= 12 for n in lengths) * 3 >= count
    counts = Counter(item.label for item in found)
    classes = 4 if task == "planted_lookup" else 2
    assert max(counts.values()) - min(counts[c] for c in range(classes)) <= 1


@each_task
def test_no_position_and_no_filler_tells_the_class(task: str) -> None:
    places: dict[int, list[float]] = {}
    filler: dict[int, Counter[str]] = {}
    for item in made(task, 4000, 11):
        assert item.label is not None
        words = item.texts[0].split()
        at = [(i + 0.5) / len(words) for i in marked(item)]
        places.setdefault(item.label, []).extend(at)
        filler.setdefault(item.label, Counter()).update(set(words) & set(FILLER))
    for evident in places.values():  # uniform over the text: mean 1/2, variance 1/12
        assert abs(np.mean(evident) - 0.5) < 4.5 * np.sqrt(1 / 12 / len(evident))
        shares = np.histogram(evident, bins=4, range=(0, 1))[0] / len(evident)
        assert np.allclose(shares, 0.25, atol=0.05)
    z = [(filler[0][w] - filler[1][w]) / np.sqrt(filler[0][w] + filler[1][w]) for w in FILLER]
    assert np.max(np.abs(z)) < 4.5
    assert 0.7 < np.mean(np.square(z)) < 1.3


def test_neither_query_nor_entry_tells_alone() -> None:
    """Values all differ and more than one is left out: by symmetry nothing favours the answer."""
    entries = {w: (k, v) for k, row in TABLE.items() for v, w in enumerate(row.split())}
    asked, places = Counter[tuple[int, int]](), Counter[int]()
    for item in made("planted_lookup", 3000, 5):
        shown = [entries[w] for w in item.texts[0].split() if w in entries]
        keys, values = zip(*shown, strict=True)
        assert len(set(keys)) == len(set(values)) == len(shown) in (2, 3)
        assert item.label is not None
        asked[len(shown), sorted(values).index(item.label)] += 1
        places[item.label] += 1
    for count in (2, 3):  # the answer is the lowest, middle or highest value shown equally often
        hits = [asked[count, rank] for rank in range(count)]
        assert max(abs(h - sum(hits) / count) for h in hits) < 4.5 * np.sqrt(sum(hits) / 4)
    assert set(places.values()) == {750}


def test_majorities_are_often_narrow_and_sometimes_unanimous() -> None:
    margins = Counter[int]()
    for item in made("planted_majority", 400, 5):
        words = item.texts[0].split()
        colours, fruits = (sum(w in kind for w in words) for kind in KINDS["planted_majority"])
        margins[abs(colours - fruits)] += 1
        assert 3 <= colours + fruits <= min(11, len(words) - 1)
    assert margins[1] > 100
    assert set(margins) <= {1, 3, 5, 7, 9, 11}
    assert margins[9] + margins[11] > 0


@each_task
def test_training_and_trial_never_share_a_text(task: str) -> None:
    trained = {item.texts for item in made(task, 5000, TRAINING)}
    assert not trained & {item.texts for item in made(task, 500, 0)}


@each_task
def test_no_word_has_two_roles(task: str) -> None:
    words = importlib.import_module(f"attrial_tasks.{task}").VOCABULARY
    assert len(words) == len(set(words))
    used = {w for item in made(task, 3000, 1) for w in item.texts[0].split()}
    assert used == set(words)

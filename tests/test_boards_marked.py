"""What boards tell apart and mark: models that draw stand-ins, and methods that see no class."""

from pathlib import Path

from attrial import leaderboard, plugin_call, report
from attrial.record import PluginSpec
from attrial.report.account import document
from attrial.report.parts_markdown import markdown
from attrial.report.tables import BLIND, sections
from attrial.store import Entry, Store
from attrial.trust import trust
from tests.hand_made import By, entry

VALUES = [0.1 * k for k in range(8)]


def drawn(label: str, infill: str | None, *, level: float = 0.0) -> Entry:
    """A record that stand-ins of this model went into."""
    made = entry(By(label, {"aopc": [v + level for v in VALUES]}))
    model = made.record.spec.model.model_copy(update={"infill": infill})
    spec = made.record.spec.model_copy(update={"model": model})
    return Entry(made.record.model_copy(update={"spec": spec}), made.trials)


def test_two_models_that_draw_stand_ins_make_two_boards() -> None:
    entries = [drawn(m, infill) for m in "ab" for infill in ("corpus of 9", "bert")]
    rows = leaderboard.rows(entries)
    assert {(r.infill, r.rank_high) for r in rows} == {("bert", 2), ("corpus of 9", 2)}
    assert [s.title for s in sections(rows)] == [
        "hand · stand-ins by bert",
        "hand · stand-ins by corpus of 9",
    ]
    assert len(trust(entries).parts) == 2
    text = markdown(document(entries))
    assert "## hand · model · stand-ins by bert" in text and "stand-ins by: bert" in text


def test_a_run_without_stand_ins_joins_the_only_board_there_is() -> None:
    one = [drawn("a", "bert"), drawn("b", None, level=1.0)]
    assert {r.infill for r in leaderboard.rows(one)} == {"bert"}
    assert len(trust(one).parts) == 1
    again = leaderboard.rows([*one, drawn("a", None)])  # what the board holds already
    assert [r.method for r in again] == [r.method for r in leaderboard.rows(one)]
    apart = leaderboard.rows([*one, drawn("a", "corpus")])
    assert {r.infill for r in apart} == {"bert", "corpus", None}
    assert [s.head.infill for s in sections(apart)] == [None, "bert", "corpus"]


def declared(label: str, class_specific: bool | None) -> Entry:
    made = entry(By(label, {"aopc": VALUES}))
    method = PluginSpec(name=label, class_specific=class_specific)
    spec = made.record.spec.model_copy(update={"method": method})
    assert spec.digest == made.record.spec.digest  # a declaration renames no record
    return Entry(made.record.model_copy(update={"spec": spec}), made.trials)


def test_class_blind_methods_are_marked_on_every_board() -> None:
    entries = [declared("blind", False), declared("sees", True), declared("old", None)]
    rows = leaderboard.rows(entries)
    text = report.to_markdown(rows)
    assert "`blind`† |" in text and "`sees` " in text and "`old` " in text and text.count("†") == 2
    assert BLIND in text and BLIND in report.page(entries)
    assert "\\texttt{blind}$^\\dagger$" in report.to_latex(rows)
    assert "blind†" in markdown(document(entries))
    assert "†" not in report.to_markdown(leaderboard.rows(entries[1:]))


def test_a_record_knows_what_its_method_declares() -> None:
    blind, sees = (plugin_call.method(m).spec for m in ("attention_rollout", "occlusion"))
    assert (blind.class_specific, sees.class_specific) == (False, True)


def test_old_records_declare_nothing_and_runs_keep_their_names() -> None:
    entries = Store(Path(__file__).with_name("golden") / "record-v1").all()
    assert entries and all(e.record.spec.method.class_specific is None for e in entries)
    name = "05a1d0a15373d884"  # as it was before methods' declarations were kept
    assert entry(By("a", {"aopc": [0.1]})).record.spec.digest == name

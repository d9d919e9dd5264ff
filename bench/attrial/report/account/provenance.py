"""Where the numbers come from: data, models, plugins, versions, and the command. Pure."""

from collections.abc import Sequence

from attrial.record import PluginSpec
from attrial.report import ledger
from attrial.report.parts import Cell, Code, Part, Table, head, plain
from attrial.report.phrases import DASH
from attrial.store import Entry
from attrial.trust import Ground


def provenance(entries: Sequence[Entry], grounds: Sequence[Ground], command: str) -> list[Part]:
    """Everything that is needed to make the report, and its records, again."""
    methods = [e.record.spec.method for e in entries if not e.record.spec.control]
    metrics = [m for e in entries for m in e.record.spec.metrics.values()]
    made: list[Part] = [plain("Made by"), Code(command)] if command else []
    return [
        *made,
        _data(grounds),
        _plugins("method", methods),
        _plugins("metric", metrics),
        Table(
            head("made with", "version"),
            tuple((Cell(k), Cell(v)) for k, v in ledger.versions(entries).items()),
        ),
    ]


def _data(grounds: Sequence[Ground]) -> Table:
    return Table(
        head("task", "source", "revision", "split", "examples", "digest", "model", "revision",
             "weights", "dtype", "players", "target", "explained under", "seed"),
        tuple(_line(g) for g in grounds),
        "Data and models",
    )  # fmt: skip


def _line(ground: Ground) -> tuple[Cell, ...]:
    s = ground.spec
    data = (s.data.task, s.data.source, s.data.revision or DASH, s.data.split or DASH)
    model = (s.model.name, s.model.revision or DASH, s.model.weights[:16], s.model.dtype)
    told = (s.players, s.target, s.explained_under, str(s.seed))
    cells = (*data, str(s.data.count), s.data.digest[:16], *model, *told)
    return tuple(Cell(text) for text in cells)


def _plugins(kind: str, specs: Sequence[PluginSpec]) -> Table:
    return Table(
        head(f"{kind} with all arguments", "version", "shipped by"),
        tuple(
            (Cell(p.label, code=True), Cell(str(p.version)), Cell(p.shipped_by or DASH))
            for p in ledger.plugins(specs)
        ),
    )

"""Questions that a method asks for single values of its arguments are known beforehand."""

import pytest

from attrial import plugin_call
from attrial.errors import NotApplicable
from attrial.subject import Subject
from attrial.target import Target
from attrial.value import Value, answer
from tests import families

NORMS = "attention_rollout(residual='norms')"


def test_rollout_asks_for_layers_where_the_residual_is_measured_alone() -> None:
    assert plugin_call.method("attention_rollout").asks == ("attend",)
    assert plugin_call.method("attention_rollout(residual=0.3)").asks == ("attend",)
    assert plugin_call.method(NORMS).asks == ("attend", "layers")


@pytest.mark.parametrize("family", ["bert", "deberta", "xlnet"])
def test_what_is_declared_is_what_is_refused(family: str) -> None:
    c = families.classifier(family)
    x = c.encode("x", [families.TEXT])
    for call in ("attention_rollout", NORMS):
        method = plugin_call.method(call)
        asked = [(Subject(x, "delete", Target(1)), method(x, 0))]
        if set(method.asks) <= c.answers:
            assert answer(Value(c), asked)[0].result is not None
            continue
        assert call == NORMS and family != "bert"
        with pytest.raises(NotApplicable):
            answer(Value(c), asked)

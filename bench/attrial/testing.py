"""Games with known answers, and the contract that plugins keep: for their authors.

    game = testing.game(3, lambda masks: masks @ [2.0, 1.0, 0.0])
    testing.attribute("shapley", game)                    # -> array([2., 1., 0.])
    testing.score("deletion_auc", game, [2.0, 1.0, 0.0])  # -> 0.833...

A package that ships methods runs the same contract over them::

    @pytest.mark.parametrize("check", testing.CHECKS, ids=lambda check: check.__name__)
    def test_contract(check): check("my_method")
"""

from attrial.contract import CHECKS as CHECKS
from attrial.contract import Check as Check
from attrial.games import Game as Game
from attrial.games import Playable as Playable
from attrial.games import Smooth as Smooth
from attrial.games import game as game
from attrial.games import smooth as smooth
from attrial.games import toy as toy
from attrial.plays import attempt as attempt
from attrial.plays import attribute as attribute
from attrial.plays import score as score

__all__ = [
    "CHECKS",
    "Check",
    "Game",
    "Playable",
    "Smooth",
    "attempt",
    "attribute",
    "game",
    "score",
    "smooth",
    "toy",
]

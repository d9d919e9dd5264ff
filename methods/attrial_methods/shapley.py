"""Shapley values: the mean rise of the value when a player joins (Shapley 1953)."""

from attrial.ask import Asking, keep
from attrial.example import Example
from attrial.masks import Scores, all_subsets
from attrial_methods._all_sets import shapley_values
from attrial_methods._gap import gap_noted
from attrial_methods._options import at_least
from attrial_methods._orders import antithetic, mean_rises, walks
from attrial_methods._sets import affordable

SIGN = "signed"
CLASS_SPECIFIC = True
ADDITIVE = True
STOCHASTIC = True
ASKS = ("keep",)
BUDGET = "samples"
VERSION = 1


def shapley(x: Example, *, seed: int, samples: int = 1000, exact_up_to: int = 12) -> Asking[Scores]:
    """Score each player by its Shapley value: exact for few players, sampled above.

    Up to ``exact_up_to`` players, or where ``samples`` pays for it, all 2^n sets are asked. Above,
    orders are drawn in antithetic pairs (each with its reverse) while ``samples`` model rows last:
    n - 1 an order. Either way the scores sum to v(all) - v(none).

    Formula:
        s_i = Σ_{S without i} |S|! (n − 1 − |S|)! / n! · [v(S + i) − v(S)]

    Source:
        Shapley, Contributions to the Theory of Games II, 1953; antithetic orders: Mitchell et al.,
        JMLR 2022, arXiv:2104.12199.

    Traps:
        It averages over inputs of every size, most of which are no text: the value under the
        removal is what it explains. With captum's 25 orders long texts are noise. A masker that
        merges neighbouring gaps changes the length of the input, and with it the game. Players that
        are needed together share equally, whatever their order.

    Args:
        x: The example.
        seed: Of the orders, where they are drawn.
        samples: Model rows, where not all sets are asked.
        exact_up_to: Players up to which all 2^n sets are asked, whatever ``samples`` says.
    """
    at_least("shapley", "samples", samples, 1)
    if affordable(x.n, samples, exact_up_to=exact_up_to):
        values = yield from keep(all_subsets(x.n))
        return (yield from gap_noted(shapley_values(values, x.n), values[-1] - values[0]))
    orders = antithetic(x.n, max(1, (samples - 2) // max(1, 2 * (x.n - 1))), seed)
    values = yield from keep(walks(orders))
    return (yield from gap_noted(mean_rises(values, orders), values[1] - values[0]))

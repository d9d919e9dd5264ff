"""Uncertainty of paired comparisons: intervals, tests, corrections, ranks, strengths, power.

The unit is the input example, and methods are paired: they are compared on the same examples only.
Nothing here draws without a seed, and nothing returns NaN: what can't be computed raises.
"""

from attrial.stats.blocks import Friedman as Friedman
from attrial.stats.blocks import Ranking as Ranking
from attrial.stats.blocks import average_ranks as average_ranks
from attrial.stats.blocks import cliques as cliques
from attrial.stats.blocks import critical_difference as critical_difference
from attrial.stats.blocks import friedman as friedman
from attrial.stats.blocks import kendall_w as kendall_w
from attrial.stats.blocks import ranking as ranking
from attrial.stats.corrections import benjamini_hochberg as benjamini_hochberg
from attrial.stats.corrections import holm as holm
from attrial.stats.effects import cliffs_delta as cliffs_delta
from attrial.stats.effects import win_rate as win_rate
from attrial.stats.groups import LETTERS as LETTERS
from attrial.stats.groups import rank_intervals as rank_intervals
from attrial.stats.groups import tied_groups as tied_groups
from attrial.stats.intervals import bca_mean as bca_mean
from attrial.stats.intervals import bootstrap_mean as bootstrap_mean
from attrial.stats.intervals import hierarchical_mean as hierarchical_mean
from attrial.stats.pairs import Comparison as Comparison
from attrial.stats.pairs import above as above
from attrial.stats.pairs import compare as compare
from attrial.stats.pairs import compare_signed_ranks as compare_signed_ranks
from attrial.stats.pairs import paired as paired
from attrial.stats.pairs import sign_flip as sign_flip
from attrial.stats.pairs import sign_flips as sign_flips
from attrial.stats.power import detectable_difference as detectable_difference
from attrial.stats.power import least_examples as least_examples
from attrial.stats.power import needed_examples as needed_examples
from attrial.stats.strengths import Strengths as Strengths
from attrial.stats.strengths import bradley_terry as bradley_terry
from attrial.stats.strengths import bradley_terry_intervals as bradley_terry_intervals

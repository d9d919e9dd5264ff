"""The algebra of attention matrices, free of any model.

Conventions: ``A[l][i, j]`` is the attention of query i to key j; every visible row sums to 1;
layer 0 is nearest the input. A composed ``R[i, j]`` is the share of output i that came from
input position j, so that ``R = A_L ... A_1``: later layers stand on the left.
"""

from attrial.algebra.encoder_decoder import chefer_encoder_decoder as chefer_encoder_decoder
from attrial.algebra.joined import joined as joined
from attrial.algebra.matrices import add_residual as add_residual
from attrial.algebra.matrices import discard as discard
from attrial.algebra.matrices import fuse as fuse
from attrial.algebra.matrices import fuse_any as fuse_any
from attrial.algebra.matrices import uniform as uniform
from attrial.algebra.maximum_flow import flow as flow
from attrial.algebra.paths import chefer as chefer
from attrial.algebra.paths import rollout as rollout
from attrial.algebra.paths import rollout_encoder_decoder as rollout_encoder_decoder

__all__ = [
    "add_residual",
    "chefer",
    "chefer_encoder_decoder",
    "discard",
    "flow",
    "fuse",
    "fuse_any",
    "joined",
    "rollout",
    "rollout_encoder_decoder",
    "uniform",
]

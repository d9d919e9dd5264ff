"""How far a board can be trusted: findings from records alone, without a model."""

from attrial.trust.evidence import Concord as Concord
from attrial.trust.findings import Findings as Findings
from attrial.trust.findings import Trust as Trust
from attrial.trust.findings import trust as trust
from attrial.trust.ground import Grid as Grid
from attrial.trust.ground import Ground as Ground
from attrial.trust.ground import grounds as grounds
from attrial.trust.leaders import Lead as Lead
from attrial.trust.metrics import Matrix as Matrix
from attrial.trust.power import Power as Power
from attrial.trust.ranking import Blocks as Blocks
from attrial.trust.stability import Change as Change
from attrial.trust.stability import Halves as Halves

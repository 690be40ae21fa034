"""Pictures of explanations."""

import io
from collections.abc import Callable, Sequence
from typing import Any

GROUND, FRAME = (250, 250, 248), (190, 190, 190)
MARGIN, QUERY_SIDE, TILE_SIDE, COLUMNS = 16, 480, 232, 3
MATCHES = 5
COLOURS = [(214, 62, 62), (35, 120, 200), (40, 150, 80), (205, 120, 20), (140, 80, 190), (20, 150, 160)]
"""Of the training images that are shown."""


def leads(explanations: Sequence[Any]) -> list[tuple[Any, float]]:
    """What favours the first class over the second: its pieces with their leads over the same pieces there, the
    largest first. Alone: its pieces and what they add."""
    best, *others = explanations[:2]
    theirs = {(piece.kind, piece.position): piece.value for other in others for piece in other.pieces}
    found = [(piece, piece.value - theirs.get((piece.kind, piece.position), 0.0)) for piece in best.pieces]
    return sorted(found, key=lambda one: -one[1])


def draw(query: Any, explanations: Sequence[Any], find: Callable[[Any], Any]) -> tuple[bytes, int]:
    """The image beside the training images that decided most, each framed in a colour; circles and lines of that colour
    join the most decisive pieces. A PNG file, and how many of the training images ``find`` did not have."""
    from PIL import Image, ImageDraw

    tiles: dict[int, tuple[Any, list[Any], list[float]]] = {}
    for piece, lead in leads(explanations):
        if lead > 0 and piece.matched is not None:
            _, pieces, sums = tiles.setdefault(piece.matched.id, (piece.matched, [], []))
            pieces.append(piece)
            sums.append(lead)
    shown = sorted(tiles.values(), key=lambda tile: (-sum(tile[2]), tile[0].id))[: len(COLOURS)]
    width = MARGIN * (COLUMNS + 2) + QUERY_SIDE + COLUMNS * TILE_SIDE
    canvas = Image.new("RGB", (width, QUERY_SIDE + 2 * MARGIN), GROUND)
    pen = ImageDraw.Draw(canvas)

    def place(picture: Any, corner: tuple[int, int], side: int) -> Callable[[tuple[float, float]], tuple[float, float]]:
        """Puts a picture into the middle of a square; where a place of it is then."""
        scale = side / max(picture.size)
        small = picture.resize([max(1, int(length * scale)) for length in picture.size], Image.Resampling.BICUBIC)
        left, top = (start + (side - length) // 2 for start, length in zip(corner, small.size))
        canvas.paste(small, (left, top))
        return lambda position: (left + (position[0] + 0.5) * scale, top + (position[1] + 0.5) * scale)

    def box(corner: tuple[int, int], side: int, colour: tuple[int, int, int], lines: int) -> None:
        pen.rectangle([*corner, corner[0] + side - 1, corner[1] + side - 1], outline=colour, width=lines)

    box((MARGIN, MARGIN), QUERY_SIDE, FRAME, 1)
    at_query, missing = place(query, (MARGIN, MARGIN), QUERY_SIDE), 0
    for number, (matched, pieces, _) in enumerate(shown):
        corner = (
            2 * MARGIN + QUERY_SIDE + number % COLUMNS * (TILE_SIDE + MARGIN),
            MARGIN + number // COLUMNS * (TILE_SIDE + MARGIN),
        )
        picture, colour = find(matched), COLOURS[number]
        box(corner, TILE_SIDE, colour, 3)
        if picture is None:
            missing += 1
            continue
        at_tile = place(picture, corner, TILE_SIDE)
        box(corner, TILE_SIDE, colour, 3)
        for piece in pieces[:MATCHES]:
            ends = at_query(piece.position), at_tile(piece.matched.position)
            pen.line(ends, fill=colour)
            for (x, y), radius in zip(ends, [7, 5]):
                pen.ellipse([x - radius, y - radius, x + radius, y + radius], outline=colour)
                pen.ellipse([x - 2, y - 2, x + 2, y + 2], fill=colour)
    out = io.BytesIO()
    canvas.save(out, "PNG")
    return out.getvalue(), missing

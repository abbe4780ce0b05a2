"""The network converging, as a GIF: what the paper shows as a video."""

from __future__ import annotations

import io
from typing import Any

from occamkit.errors import UserError
from occamkit.report.content import Content, Frame
from occamkit.report.drawing import edges, size, spots

PAPER, INK, LINE = (255, 255, 255), (29, 36, 51), (57, 73, 171)
HEAD = 30
MILLISECONDS = 160
LAST_MILLISECONDS = 2500


def gif(content: Content) -> bytes:
    """Return a film of all frames that were kept, the last one standing longer."""
    if not content.frames:
        raise UserError("the run has no pictures of its network to animate")
    image, _, _ = _pillow()
    width = max(size(frame.layout, content.leaves)[0] for frame in content.frames)
    height = max(size(frame.layout, content.leaves)[1] for frame in content.frames) + HEAD
    pictures = [_picture(frame, content, width, height) for frame in content.frames]
    palette = [picture.convert("P", palette=image.Palette.ADAPTIVE, colors=64) for picture in pictures]
    file = io.BytesIO()
    durations = [*[MILLISECONDS] * (len(palette) - 1), LAST_MILLISECONDS]
    palette[0].save(file, format="GIF", save_all=True, append_images=palette[1:], duration=durations, loop=0)
    return file.getvalue()


def _pillow() -> tuple[Any, Any, Any]:
    try:
        from PIL import Image, ImageDraw, ImageFont
    except ModuleNotFoundError:
        raise UserError("films need Pillow: pip install 'occamkit[report]'") from None
    return Image, ImageDraw, ImageFont


def _picture(frame: Frame, content: Content, width: int, height: int) -> Any:
    image, draw_on, _ = _pillow()
    picture = image.new("RGB", (width, height), PAPER)
    draw, font = draw_on.Draw(picture), _font(12)
    names = [output.name for output in content.outputs]
    places = spots(frame.layout, content.leaves, names)
    at = [(60 + spot.x * (width - 120), HEAD + 10 + spot.y * (height - HEAD - 20)) for spot in places]
    draw.text((10, 8), f"step {frame.step}   start {frame.start}", fill=INK, font=font)
    for edge in edges(frame):
        shade = tuple(round(paper + (line - paper) * edge.probability) for paper, line in zip(PAPER, LINE, strict=True))
        draw.line([at[edge.source], at[edge.target]], fill=shade, width=1 + round(3 * edge.probability))
    for spot, (x, y) in zip(places, at, strict=True):
        label = spot.label if len(spot.label) <= 12 else f"{spot.label[:11]}…"
        half = draw.textlength(label, font=font) / 2
        draw.rounded_rectangle([x - half - 6, y - 9, x + half + 6, y + 9], radius=9, fill=PAPER, outline=INK)
        draw.text((x, y), label, fill=INK, font=font, anchor="mm")
    return picture


def _font(points: int) -> Any:
    """Return a font that knows mathematical signs, matplotlib's own if it is there."""
    _, _, fonts = _pillow()
    try:
        from matplotlib import font_manager
    except ModuleNotFoundError:
        return fonts.load_default(points)
    return fonts.truetype(font_manager.findfont("DejaVu Sans"), points)

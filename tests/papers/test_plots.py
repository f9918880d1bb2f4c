from __future__ import annotations

from katachi.papers.documents import COLORS, label_axes, plot


def test_the_same_data_give_the_same_bytes_and_text_stays_text(tmp_path):
    for name in ("a", "b"):
        with plot(tmp_path / f"{name}.svg") as (axes,):
            axes.plot([1, 2, 3], [10, 2000, 30], color=COLORS[1], label="wins of somebody")
            label_axes(axes, "A title", "games", "wins")
    drawn = (tmp_path / "a.svg").read_bytes()
    assert drawn == (tmp_path / "b.svg").read_bytes()
    for text in (b"A title", b"wins of somebody", b"2,000", COLORS[1].encode()):
        assert text in drawn

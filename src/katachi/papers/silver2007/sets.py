"""The sets of the final agents: all shapes up to 3×3, location independent and dependent (section 10)."""

from __future__ import annotations

from typing import Final

from katachi.features.windows import TABLE_SIZES
from katachi.shapes.sets import Location, ShapeSet

UP_TO_3X3: Final = tuple(ShapeSet(*size, location).name for location in Location for size in TABLE_SIZES)

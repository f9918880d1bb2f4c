"""Small games that were played to a settled end, in which one stone is dead, as records.

```
O . X O .
X X X O O
. X X O .
X X X O O
. X X O .
```

White's stone in the corner is dead. Black owns the three columns on the left: by area he is five points ahead, by
territory two.
"""

from __future__ import annotations

from itertools import zip_longest

BLACK_STONES = ("ca", "ab", "bb", "cb", "bc", "cc", "ad", "bd", "cd", "be", "ce")
WHITE_STONES = ("aa", "da", "db", "eb", "dc", "dd", "ed", "de")
MARKS = "TB[aa][ba][ac][ae]TW[ea][ec][ee]"
OWNERSHIP = [1, 1, 1, -1, -1] * 5


def settled_record(result: str, rules: str = "Chinese", *, komi: str = "0.5", marks: str = "", name: str = "") -> str:
    """The game as a record with these facts; ``name`` makes records of the same game differ."""
    pairs = zip_longest(BLACK_STONES, WHITE_STONES, fillvalue="")
    moves = "".join(f";B[{black}];W[{white}]" for black, white in pairs)
    root = f"GM[1]SZ[5]RE[{result}]" + (f"RU[{rules}]" if rules else "") + (f"KM[{komi}]" if komi else "")
    return f"(;{root}PB[{name}]{moves}" + (f";{marks}" if marks else "") + ")"

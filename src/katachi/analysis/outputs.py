"""Everything that an analysis of many files writes, from the lines of its journal (``analysis/journal.py`` lists the
files).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from katachi.analysis.batches import Watcher, analyze_files, find_games
from katachi.analysis.journal import LINES, AnalysisError, Journal, read_lines
from katachi.analysis.report import format_report
from katachi.analysis.settings import JudgeSettings
from katachi.analysis.tables import check_parquet, write_parquet
from katachi.core.disk import write_atomically
from katachi.sgf import save_sgf

REPORT: Final = "report.html"
TABLE: Final = "analysis.parquet"


@dataclass(frozen=True, slots=True)
class Outputs:
    """A folder, and what is wanted in it beside the lines and the records."""

    folder: Path
    html: bool = True
    parquet: bool = False

    def write(
        self,
        files: Sequence[Path],
        settings: JudgeSettings,
        *,
        resume: bool = False,
        jobs: int = 1,
        watch: Watcher | None = None,
    ) -> int:
        """Judge the games of files, write it all, and tell how many games there are.

        Raises AnalysisError if there is none, or the folder holds another analysis, or one that is not to be resumed.
        """
        if self.parquet:
            check_parquet()
        if not any(found.game for found in find_games(files, settings)):  # before there is a folder that is in the way
            raise AnalysisError("there is no game that can be judged")
        sections: list[str] = []
        count = 0
        with Journal(self.folder, settings, resume=resume) as journal:
            for analysis in analyze_files(files, settings, journal, jobs=jobs, watch=watch):
                save_sgf(self.folder / f"{analysis.game.game}.sgf", analysis.annotated())
                sections += [analysis.to_html()] if self.html else []
                count += 1
            if self.html:
                write_atomically(self.folder / REPORT, format_report("Games explained", sections))
            if self.parquet:
                write_parquet(self.folder / TABLE, read_lines(self.folder / LINES))
        return count

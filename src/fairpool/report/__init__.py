"""What people read: the operator's report, each party's letter, and their charts."""

from fairpool.report.letter import Letter, render_letter
from fairpool.report.report import Context, render_report
from fairpool.report.scores import Scores, score_models

__all__ = ["Context", "Letter", "Scores", "render_letter", "render_report", "score_models"]

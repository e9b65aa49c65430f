"""phi_i: how much each party contributes."""

from fairpool.contributions.banzhaf import banzhaf
from fairpool.contributions.contributions import Contributions
from fairpool.contributions.naive import leave_one_out, standalone
from fairpool.contributions.shapley import shapley

__all__ = ["Contributions", "banzhaf", "leave_one_out", "shapley", "standalone"]

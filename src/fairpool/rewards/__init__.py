"""r_i: how valuable each party's model reward is, and which incentives that gives."""

from fairpool.rewards.incentives import check_incentives
from fairpool.rewards.monotonicity import check_party_monotonicity, check_strict_monotonicity
from fairpool.rewards.scheme import RewardScheme

__all__ = [
    "RewardScheme",
    "check_incentives",
    "check_party_monotonicity",
    "check_strict_monotonicity",
]

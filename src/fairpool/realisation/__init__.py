"""D_i^r: the noise variance, the noisy labels, the reward model, and its file."""

from fairpool.realisation.level import Level
from fairpool.realisation.mechanism import Mechanism
from fairpool.realisation.mechanisms import MECHANISMS, mechanism_of
from fairpool.realisation.model_reward import ModelReward, Update
from fairpool.realisation.models import Models
from fairpool.realisation.noise_variance import NoiseLevel, noise_levels
from fairpool.realisation.realise import realise
from fairpool.realisation.reward_file import load_reward
from fairpool.realisation.update import update

__all__ = [
    "MECHANISMS",
    "Level",
    "Mechanism",
    "ModelReward",
    "Models",
    "NoiseLevel",
    "Update",
    "load_reward",
    "mechanism_of",
    "noise_levels",
    "realise",
    "update",
]

"""Sec. 2: the parties, by their rows or by sums over them, and their pooled data."""

from fairpool.parties.class_coding import ClassCoding
from fairpool.parties.class_summary import ClassSummary, SummedClassRows
from fairpool.parties.noisy_summary import NoisySummary, NoisySums, without_noise
from fairpool.parties.party import Party
from fairpool.parties.party_data import FeatureBounds, PartyData, Statistics, Told, UnequalRows
from fairpool.parties.pool import Pool, check_names, check_parties
from fairpool.parties.summary import PartySummary, SummedRows

__all__ = [
    "ClassCoding",
    "ClassSummary",
    "FeatureBounds",
    "NoisySummary",
    "NoisySums",
    "Party",
    "PartyData",
    "PartySummary",
    "Pool",
    "Statistics",
    "SummedClassRows",
    "SummedRows",
    "Told",
    "UnequalRows",
    "check_names",
    "check_parties",
    "without_noise",
]

"""fairpool: pool data, be paid back in models, fairly.

    parties' tables -> v_C, the value of every coalition's data       InformationGain
                    -> phi_i, Shapley values                          shapley
                    -> r_i, rho-fair rewards                          RewardScheme, check_incentives
                    -> one model per party, worth exactly its reward  realise

and all of it at once: `collaborate`.

>>> import numpy as np
>>> from sklearn.gaussian_process.kernels import RBF
>>> import fairpool as fp
>>> x = np.linspace(0, 1, 30)[:, None]
>>> y = np.sin(6 * x[:, 0])
>>> parties = [fp.Party("north", x[:20], y[:20]), fp.Party("south", x[20:], y[20:])]
>>> model = fp.GaussianProcess(RBF(0.2), noise_variance=0.1)
>>> result = fp.collaborate(parties, model, rho="rational", rng=1)
>>> print(result.explain()[0])
north receives the best model, because nobody contributes more.
>>> mean, variance = result.models[1].predict([[0.5]])
"""

from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from fairpool.__about__ import __version__

if TYPE_CHECKING:
    from fairpool.audit import (
        compare_with_alone,
        find_duplicates,
        find_near_copies,
        held_out_residuals,
        judge_evidence,
        uncheckable_information,
    )
    from fairpool.client import Client
    from fairpool.collaboration import Collaboration, collaborate, load_collaboration
    from fairpool.contributions import Contributions, banzhaf, leave_one_out, shapley, standalone
    from fairpool.encoding import TableEncoding
    from fairpool.errors import FairpoolError, FairpoolWarning
    from fairpool.export import export_reward
    from fairpool.keyed_noise import Secret
    from fairpool.models import (
        BayesianLinearRegression,
        Classifier,
        FourierGaussianProcess,
        GaussianProcess,
        NetworkFeatures,
        SparseGaussianProcess,
        fourier_frequencies,
        inducing_points,
        mnlp,
    )
    from fairpool.parties import ClassSummary, Party, PartySummary
    from fairpool.realisation import ModelReward, load_reward, noise_levels, realise
    from fairpool.rewards import (
        RewardScheme,
        check_incentives,
        check_party_monotonicity,
        check_strict_monotonicity,
    )
    from fairpool.values import (
        EvidenceGain,
        Game,
        InformationGain,
        TableGame,
        ValidationGain,
        check_properties,
    )

__all__ = [
    "BayesianLinearRegression",
    "ClassSummary",
    "Classifier",
    "Client",
    "Collaboration",
    "Contributions",
    "EvidenceGain",
    "FairpoolError",
    "FairpoolWarning",
    "FourierGaussianProcess",
    "Game",
    "GaussianProcess",
    "InformationGain",
    "ModelReward",
    "NetworkFeatures",
    "Party",
    "PartySummary",
    "RewardScheme",
    "Secret",
    "SparseGaussianProcess",
    "TableEncoding",
    "TableGame",
    "ValidationGain",
    "__version__",
    "banzhaf",
    "check_incentives",
    "check_party_monotonicity",
    "check_properties",
    "check_strict_monotonicity",
    "collaborate",
    "compare_with_alone",
    "export_reward",
    "find_duplicates",
    "find_near_copies",
    "fourier_frequencies",
    "held_out_residuals",
    "inducing_points",
    "judge_evidence",
    "leave_one_out",
    "load_collaboration",
    "load_reward",
    "mnlp",
    "noise_levels",
    "realise",
    "shapley",
    "standalone",
    "uncheckable_information",
]

HOMES = {
    "BayesianLinearRegression": "models",
    "ClassSummary": "parties",
    "Classifier": "models",
    "Client": "client",
    "Collaboration": "collaboration",
    "Contributions": "contributions",
    "EvidenceGain": "values",
    "FairpoolError": "errors",
    "FairpoolWarning": "errors",
    "FourierGaussianProcess": "models",
    "Game": "values",
    "GaussianProcess": "models",
    "InformationGain": "values",
    "ModelReward": "realisation",
    "NetworkFeatures": "models",
    "Party": "parties",
    "PartySummary": "parties",
    "RewardScheme": "rewards",
    "Secret": "keyed_noise",
    "SparseGaussianProcess": "models",
    "TableEncoding": "encoding",
    "TableGame": "values",
    "ValidationGain": "values",
    "banzhaf": "contributions",
    "check_incentives": "rewards",
    "check_party_monotonicity": "rewards",
    "check_properties": "values",
    "check_strict_monotonicity": "rewards",
    "collaborate": "collaboration",
    "compare_with_alone": "audit",
    "export_reward": "export",
    "find_duplicates": "audit",
    "find_near_copies": "audit",
    "fourier_frequencies": "models",
    "held_out_residuals": "audit",
    "inducing_points": "models",
    "judge_evidence": "audit",
    "leave_one_out": "contributions",
    "load_collaboration": "collaboration",
    "load_reward": "realisation",
    "mnlp": "models",
    "noise_levels": "realisation",
    "realise": "realisation",
    "shapley": "contributions",
    "standalone": "contributions",
    "uncheckable_information": "audit",
}
"""The module that each public name comes from.

It is loaded when the name is first used, since few programs use all.
"""


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


# A type checker has the imports above; with this function it would accept every misspelt name.
if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        if name in HOMES:
            home = import_module(f"{__name__}.{HOMES[name]}")
            value = getattr(home, name)
            globals()[name] = value  # from now on Python does not call this function for it
            return value
        if name.isidentifier() and not name.startswith("_") and find_spec(f"{__name__}.{name}"):
            return import_module(f"{__name__}.{name}")
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

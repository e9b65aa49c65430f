"""Names that outside code relies on: a change here is a change for every user."""

import dataclasses
import inspect

import fairpool as fp

SIGNATURES = {
    "Party": "(name, X, y, noise_variance)",
    "GaussianProcess": "(kernel, noise_variance)",
    "SparseGaussianProcess": "(kernel, noise_variance, inducing_points)",
    "FourierGaussianProcess": "(kernel, noise_variance, frequencies)",
    "BayesianLinearRegression": "(noise_variance, prior_variance, prior_mean, features, bias)",
    "EvidenceGain": "(model, parties)",
    "InformationGain": "(model, parties)",
    "ValidationGain": "(model, parties, X, y)",
    "TableEncoding": "(columns, target, ids)",
    "TableGame": "(values, names)",
    "RewardScheme": "(game, contributions)",
    "mnlp": "(y, mean, variance)",
    "shapley": "(game, method, rng, evaluations, target_standard_error, executor)",
    "banzhaf": "(game, method, rng, evaluations, executor)",
    "standalone": "(game)",
    "leave_one_out": "(game)",
    "check_properties": "(game)",
    "check_incentives": "(game, phi, rewards, structure)",
    "check_party_monotonicity": "(game, party, phi, game_after, phi_after)",
    "check_strict_monotonicity": "(game, party, rewards, game_after, rewards_after)",
    "noise_levels": "(game, rewards)",
    "realise": (
        "(game, rewards, rng, noise, draws, secret, mechanism, covariance, colluding, public,"
        " declared)"
    ),
    "load_collaboration": "(path)",
    "load_reward": "(path)",
    "collaborate": (
        "(parties, model, rho, rng, contributions, evaluations, precision, executor, mechanism,"
        " covariance, colluding, secret)"
    ),
    "compare_with_alone": "(game, models, X, y, rows, target)",
    "export_reward": "(reward, path, share_inputs, known_noise, share_labels)",
    "find_duplicates": "(parties)",
    "find_near_copies": "(parties)",
    "held_out_residuals": "(game, parties)",
    "judge_evidence": "(game, level, rng, simulations, executor)",
    "uncheckable_information": "(game, rows)",
    "fourier_frequencies": "(kernel, inputs, features)",
    "inducing_points": "(X, count, method, kernel, rng, least_rows)",
}
ATTRIBUTES = {
    "Contributions": {"values", "standard_errors", "method", "concept"},
    "ModelReward": {
        "party",
        "target",
        "value",
        "eta",
        "tau",
        "posterior",
        "predict",
        "save",
        "with_encoding",
        "as_regressor",
        "as_classifier",
    },
    "TableEncoding": {"of_table", "features", "encode", "encode_target"},
    "Secret": {"fresh", "read", "write", "fingerprint"},
    "RewardScheme": {"rho_rational", "rho_stable", "rewards"},
    "Game": {"n", "value", "values", "total", "alone"},
    "GaussianProcess": {"fit_hyperparameters", "posterior", "log_marginal_likelihood"},
    "FourierGaussianProcess": {"fit_hyperparameters", "fit_from_sums", "posterior", "summarise"},
    "SparseGaussianProcess": {
        "fit_from_sums",
        "fit_hyperparameters",
        "posterior",
        "log_marginal_likelihood",
        "summarise",
    },
    "BayesianLinearRegression": {
        "fit_hyperparameters",
        "posterior",
        "log_marginal_likelihood",
        "summarise",
    },
    "Classifier": {"fit_hyperparameters", "posterior", "log_marginal_likelihood", "summarise"},
    "ClassSummary": {"grams", "sums", "counts"},
    "Client": {
        "given",
        "account",
        "parts",
        "as_party",
        "as_operator",
        "as_auditor",
        "begin",
        "accept_invitation",
    },
    "Collaboration": {
        "game",
        "contributions",
        "scheme",
        "rewards",
        "incentives",
        "models",
        "to_dict",
        "report",
        "save",
        "plot",
    },
    "PartySummary": {"gram", "moment", "under"},
    "NetworkFeatures": {"train", "of"},
    "FairpoolError": {"args"},
    "FairpoolWarning": {"args"},
}


def test_every_public_name_is_accounted_for():
    assert set(fp.__all__) == set(SIGNATURES) | set(ATTRIBUTES) | {"__version__"}


def test_signatures():
    for name, expected in SIGNATURES.items():
        assert f"({', '.join(inspect.signature(getattr(fp, name)).parameters)})" == expected, name


def test_attributes():
    for name, expected in ATTRIBUTES.items():
        thing = getattr(fp, name)
        fields = (
            {f.name for f in dataclasses.fields(thing)}
            if dataclasses.is_dataclass(thing)
            else set()
        )
        assert expected <= fields | set(dir(thing)), name


def test_errors_are_value_errors_and_warnings_are_user_warnings():
    assert issubclass(fp.FairpoolError, ValueError)
    assert issubclass(fp.FairpoolWarning, UserWarning)

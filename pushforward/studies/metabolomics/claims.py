"""Published statements about GromovMatcher, measured on simulated tables."""

from collections.abc import Callable

import numpy as np

from pushforward.statistics.matching.distances import (
    CorrelationDistance,
    MassGate,
    admissible_pairs,
    joint_distances,
)
from pushforward.statistics.matching.joint_matching import match_jointly
from pushforward.studies import Claim, at_least, at_most, open_claim, within
from pushforward.studies.metabolomics.paired_tables import (
    MEDIUM,
    simulate_cohort,
    split_cohort,
    split_many,
    stepwise,
)
from pushforward.studies.metabolomics.study import (
    NAME,
    PAPER,
    SETTINGS,
    Parameters,
    Setting,
    accuracies,
)
from pushforward.transport import SparseGromov

# An independent program measured two pairs per cell; they are .01 apart.
BAND = 0.02


def precision_band(setting: Setting, parameters: Parameters) -> Claim:
    """Precision with transport is that of an independent program."""
    text = f"precision at {setting.name} noise, {parameters.features} features"
    measured = accuracies(parameters, setting)[0][0]
    predicted = setting.matcher[0]
    return within(NAME, text, PAPER, "experiment", measured, predicted, BAND)


def recall_band(setting: Setting, parameters: Parameters) -> Claim:
    """Recall with transport is that of an independent program."""
    text = f"recall at {setting.name} noise, {parameters.features} features"
    measured = accuracies(parameters, setting)[0][1]
    predicted = setting.matcher[1]
    return within(NAME, text, PAPER, "experiment", measured, predicted, BAND)


def transport_adds(setting: Setting, parameters: Parameters) -> Claim:
    """F1 with transport exceeds that of mass and time alone."""
    with_transport, _, without = accuracies(parameters, setting)
    f1, f1_without = (2 * p * r / (p + r) for p, r in (with_transport, without))
    text = f"transport adds to mass and time alone, {setting.name}: difference of F1"
    note = (
        f"without transport precision {without[0]:.3f}, recall {without[1]:.3f}; "
        f"{setting.ablation[0]:.2f}, {setting.ablation[1]:.2f} with another generator"
    )
    return at_least(NAME, text, PAPER, "experiment", f1 - f1_without, 0.02, note)


def published_medium_noise(parameters: Parameters) -> Claim:
    """Medium noise: recall above .95 at every overlap."""
    measured = min(accuracies(parameters, s)[0][1] for s in SETTINGS[:3])
    text = "medium noise, every overlap: recall above .95"
    return at_least(NAME, text, PAPER, "experiment", measured, 0.95)


def published_low_overlap(parameters: Parameters) -> Claim:
    """Medium noise, 25 % overlap: precision above .80."""
    measured = accuracies(parameters, SETTINGS[0])[0][0]
    text = "medium noise, overlap 25 %: precision above .80"
    return at_least(NAME, text, PAPER, "experiment", measured, 0.80)


def published_all_noise(parameters: Parameters) -> Claim:
    """50 % overlap: recall above .89 at every noise, thresholded or not."""
    measured = min(
        accuracies(parameters, SETTINGS[k])[case][1]
        for k in (1, 3, 4)
        for case in (0, 1)
    )
    text = "overlap 50 %, every noise, thresholded or not: recall above .89"
    return at_least(NAME, text, PAPER, "experiment", measured, 0.89)


def sparse_equals_dense(parameters: Parameters) -> Claim:
    """The coupling on admissible pairs equals POT's dense one."""
    text = "the sparse coupling equals dense fused unbalanced Gromov-Wasserstein"
    try:
        from ot.gromov import fused_unbalanced_gromov_wasserstein
    except ImportError:
        why = "POT is not installed; run `pip install POT`"
        return open_claim(NAME, text, PAPER, "identity", why)
    pair = split_cohort(simulate_cohort(300, 200, seed=3), 0.6, MEDIUM, seed=4)
    A, B = pair.A, pair.B
    D_A, D_B = joint_distances(A, B, CorrelationDistance())
    ours = SparseGromov().couple(D_A, D_B, admissible_pairs(A.mz, B.mz, MassGate()))
    dense, _ = fused_unbalanced_gromov_wasserstein(
        D_A,
        D_B,
        reg_marginals=0.05,
        epsilon=0.005,
        unbalanced_solver="sinkhorn_log",
        alpha=1.0,
        M=3.0 * (np.abs(A.mz[:, None] - B.mz[None, :]) > 0.01),
        tol=1e-10,
        max_iter_ot=2000,
        tol_ot=1e-10,
    )
    error = float(np.abs(ours.dense() - dense).max())
    return at_most(NAME, text, PAPER, "identity", error, 1e-8, "largest difference")


def joint_beats_stepwise(parameters: Parameters) -> Claim:
    """Four tables at once, against the same matchings added one table at a time."""
    text = "four tables: F1 of joint matching above that of tables added stepwise"
    cohort = simulate_cohort(1200, 240, seed=parameters.seed + 7)
    many = split_many(cohort, 4, 0.6, MEDIUM, seed=parameters.seed + 17)
    joint = match_jointly(many.tables)
    ours, steps = (m.accuracy(many.truth).f1 for m in (joint, stepwise(joint)))
    note = f"joint {ours:.4f}, stepwise {steps:.4f}"
    return at_least(NAME, text, PAPER, "experiment", ours - steps, 0.0, note)


def closed_cohorts(parameters: Parameters) -> Claim:
    """The EPIC tables."""
    text = "EPIC cohorts: precision .989, recall .978 (CS-HCC, positive mode)"
    why = "the EPIC tables are not public; MTBLS1684 and the tutorial are not shipped"
    return open_claim(NAME, text, PAPER, "experiment", why)


def _in(
    setting: Setting, claim: Callable[[Setting, Parameters], Claim]
) -> Callable[[Parameters], Claim]:
    """A claim about one setting, as a named function of the parameters."""

    def measured(parameters: Parameters) -> Claim:
        return claim(setting, parameters)

    place = "".join(c if c.isalnum() else "_" for c in setting.name)
    measured.__name__ = f"{claim.__name__}_{place}"
    measured.__doc__ = claim.__doc__
    return measured


CLAIMS = (
    *(
        _in(setting, claim)
        for setting in SETTINGS
        for claim in (precision_band, recall_band, transport_adds)
    ),
    published_medium_noise,
    published_low_overlap,
    published_all_noise,
    sparse_equals_dense,
    joint_beats_stepwise,
    closed_cohorts,
)

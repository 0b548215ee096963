"""Random cases and the results of scipy, statsmodels, scikit-learn, or of a paper's definition.

    python generate.py fixtures.json
"""
import itertools
import json
import math
import sys
import warnings
from collections import Counter
from fractions import Fraction

import numpy as np
from philox import Drawn
from scipy import stats
from scipy.special import erfc
from sklearn.metrics import cohen_kappa_score
from statsmodels.stats import contingency_tables
from statsmodels.stats.inter_rater import cohens_kappa
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.power import NormalIndPower
from statsmodels.stats.proportion import proportion_confint

warnings.filterwarnings("ignore")
rng = np.random.default_rng(20241126)
CASES = 120


def number(value):
    value = float(value)
    return None if math.isnan(value) else value


def pass_at_k():
    for _ in range(CASES):
        n = int(rng.integers(1, 200))
        c, k = int(rng.integers(0, n + 1)), int(rng.integers(1, n + 1))
        # The chance of no right one among k draws without replacement.
        yield [n, c, k], 1 - Fraction(math.comb(n - c, k), math.comb(n, k))


def majority_at_k():
    """Wang et al. 2022 by its definition: every choice of k samples, ties shared."""
    for _ in range(CASES):
        n = int(rng.integers(1, 10))
        k = int(rng.integers(1, n + 1))
        kinds = int(rng.integers(1, 5))
        answers = [int(a) for a in rng.integers(0, kinds + 1, n)]
        scores = [int(s) for s in rng.integers(0, 5, kinds + 1)]  # in quarters
        total = Fraction(0)
        for chosen in itertools.combinations(answers, k):
            votes = Counter(a for a in chosen if a > 0)  # 0 stands for no answer
            if not votes:
                continue
            most = max(votes.values())
            best = [a for a, count in votes.items() if count == most]
            total += Fraction(sum(scores[a] for a in best), 4 * len(best))
        yield [answers, scores, k], total / math.comb(n, k)


def bootstrap():
    """scipy.stats.bootstrap over clusters, with the resamples that Saccade draws."""
    for case in range(CASES):
        groups = int(rng.integers(3, 25))
        sizes = rng.integers(1, 6, groups)
        level = float(rng.choice([0.9, 0.95, 0.99]))
        method = ["percentile", "bca"][case % 2]
        resamples = int(rng.integers(50, 150))
        values = [[int(v) for v in rng.integers(0, 9, size)] for size in sizes]
        clusters = sorted((sum(own), len(own)) for own in values)
        sums, counts = np.array(clusters, dtype=float).T

        def ratio(s, n, axis=-1):
            return s.sum(axis=axis) / n.sum(axis=axis)

        result = stats.bootstrap(
            (sums, counts),
            ratio,
            paired=True,
            vectorized=True,
            n_resamples=resamples,
            confidence_level=level,
            method={"percentile": "percentile", "bca": "BCa"}[method],
            rng=Drawn(case, "bootstrap"),
        )
        interval = result.confidence_interval
        if math.isnan(interval.low) or math.isnan(interval.high):
            continue  # scipy has no BCa interval where all resamples lie on one side
        yield [values, case, resamples, level, method], [
            ratio(sums, counts), interval.low, interval.high, result.standard_error
        ]  # fmt: skip


def permutation():
    for case in range(CASES):
        n = int(rng.integers(2, 11))
        a, b = rng.integers(0, 9, (2, n)) / 8
        side = ["two-sided", "greater", "less"][case % 3]
        result = stats.permutation_test(
            (a, b),
            lambda x, y, axis=-1: (x - y).mean(axis=axis),
            permutation_type="samples",
            vectorized=True,
            n_resamples=np.inf,
            alternative=side,
        )
        yield [a.tolist(), b.tolist(), side], [result.statistic, result.pvalue]


def mcnemar():
    for case in range(CASES * 2):
        top = [12, 60, 2000][case % 3]
        b, c = (int(v) for v in rng.integers(0, top, 2))
        if b + c == 0:
            continue
        table = [[5, b], [c, 7]]

        def test(**options):
            return contingency_tables.mcnemar(table, **options).pvalue

        exact = stats.binomtest(min(b, c), b + c, 0.5).pvalue
        assert math.isclose(min(1, test(exact=True)), min(1, exact), rel_tol=1e-9)
        mid = 2 * stats.binom.cdf(min(b, c), b + c, 0.5) - stats.binom.pmf(min(b, c), b + c, 0.5)
        yield [b, c], [
            exact, min(1, mid),
            test(exact=False, correction=False), test(exact=False, correction=True),
        ]  # fmt: skip


def wilcoxon():
    for case in range(CASES * 2):
        n = int(rng.integers(2, 50 if case % 2 else 120))
        if case % 2:  # no ties: exact
            a, b = rng.permutation(n * 3)[:n] * 1.0, np.zeros(n)
            a *= rng.choice([-1, 1], n)
            a = a[a != 0]
            b = b[: len(a)]
            method = "exact"
        else:
            a, b = rng.integers(1, 6, (2, n)) * 1.0
            method = "asymptotic"
            if (a == b).all() or len(set(abs((a - b)[a != b]))) == (a != b).sum():
                continue  # without ties it is exact
        result = stats.wilcoxon(a, b, zero_method="wilcox", correction=False, method=method)
        yield [a.tolist(), b.tolist(), method], result.pvalue


def wilson():
    for _ in range(CASES):
        n = int(rng.integers(1, 400))
        c = int(rng.integers(0, n + 1))
        level = float(rng.choice([0.8, 0.9, 0.95, 0.99, 0.999]))
        yield [c, n, level], list(proportion_confint(c, n, alpha=1 - level, method="wilson"))


def kappa():
    for case in range(CASES * 2):
        kinds = int(rng.integers(2, 6))
        n = int(rng.integers(2, 80))
        first = rng.integers(0, kinds, n)
        copied = rng.random(n) < rng.random()
        second = np.where(copied, first, rng.integers(0, kinds, n))
        weights = ["none", "linear", "quadratic"][case % 3]
        labels = list(range(kinds))
        wt = None if weights == "none" else weights
        value = cohen_kappa_score(first, second, weights=wt, labels=labels)
        if math.isnan(value):
            continue
        table = np.zeros((kinds, kinds))
        np.add.at(table, (first, second), 1)
        # statsmodels' weights are distances of scores; its interval is Fleiss, Cohen & Everitt's.
        result = cohens_kappa(table, wt=wt)
        assert math.isclose(result.kappa, value, abs_tol=1e-9), (result.kappa, value)
        if not result.var_kappa >= 0:
            continue
        yield [first.tolist(), second.tolist(), kinds, weights], [
            value, result.kappa_low, result.kappa_upp
        ]  # fmt: skip


def mean_relative_accuracy():
    """VSI-Bench §3.3 in rational numbers; the benchmark's code compares with <= instead."""
    thresholds = [Fraction(50 + 5 * i, 100) for i in range(10)]
    for case in range(CASES * 2):
        truth = Fraction(int(rng.integers(1, 400)), 20) * int(rng.choice([-1, 1]))
        # Every other estimate lies exactly on a bound.
        error = Fraction(int(rng.integers(1, 14)), 20) if case % 2 else Fraction(int(rng.integers(0, 999)), 1000)
        estimate = truth * (1 + error * int(rng.choice([-1, 1])))
        relative = abs(estimate - truth) / abs(truth)
        paper = Fraction(sum(relative < 1 - theta for theta in thresholds), 10)
        code = Fraction(sum(relative <= 1 - theta for theta in thresholds), 10)
        if case % 2 == 0 and truth > 0 and all(relative != 1 - theta for theta in thresholds):
            # The benchmark's own lines (thinking-in-space, utils.py), away from the bounds.
            points = np.linspace(0.5, 0.95, int((0.95 - 0.5) / 0.05 + 2))
            theirs = (abs(float(estimate) - float(truth)) / float(truth) <= 1 - points).mean()
            assert math.isclose(theirs, paper, abs_tol=1e-12), (theirs, paper)
        yield [float(estimate), float(truth)], [paper, code]


def power():
    for _ in range(CASES * 2):
        difference = float(rng.uniform(0.02, 0.5))
        deviation = float(rng.uniform(0.05, 1.5))
        level, chance = float(rng.choice([0.9, 0.95, 0.99])), float(rng.uniform(0.5, 0.99))
        # ratio=0: one sample of differences.
        needed = NormalIndPower().solve_power(
            difference / deviation, alpha=1 - level, power=chance, ratio=0, alternative="two-sided"
        )
        count = int(rng.integers(2, 400))
        found = NormalIndPower().power(difference / deviation, count, 1 - level, ratio=0)
        if not math.isfinite(needed) or abs(needed - round(needed)) < 1e-4:
            continue  # no solution, or the solver's own error decides where it is rounded to
        yield [difference, deviation, level, chance, count], [max(1, math.ceil(needed)), found]


def holm():
    for _ in range(CASES):
        values = rng.random(int(rng.integers(1, 12))) ** 3
        yield values.tolist(), multipletests(values, method="holm")[1].tolist()


def normal():
    for _ in range(CASES):
        x = float(rng.uniform(-9, 30))
        p = float(10 ** rng.uniform(-300, 0)) if rng.random() < 0.5 else float(rng.uniform(0, 1))
        yield [x, p], [0.5 * erfc(x / math.sqrt(2)), stats.norm.ppf(p)]


def plain(value):
    if isinstance(value, (list, tuple)):
        return [plain(one) for one in value]
    if isinstance(value, (Fraction, float, np.floating)):
        return number(value)
    return int(value) if isinstance(value, np.integer) else value


families = [
    pass_at_k, majority_at_k, bootstrap, permutation, mcnemar, wilcoxon, wilson, kappa,
    mean_relative_accuracy, power, holm, normal,
]  # fmt: skip
made = {family.__name__: [plain(case) for case in family()] for family in families}
for name, cases in made.items():
    assert len(cases) >= 100, (name, len(cases))
with open(sys.argv[1], "w") as file:
    rows = [
        f"{json.dumps(name)}:[\n" + ",\n".join(json.dumps(c, separators=(",", ":")) for c in cases) + "\n]"
        for name, cases in made.items()
    ]
    file.write("{\n" + ",\n".join(rows) + "\n}\n")

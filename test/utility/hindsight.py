"""The error of the best limit that somebody who knows all rows could have set, computed without drawing noise.

Three ways to limit what a unit adds to the groups of one count, sum or average, with the noise that hides one unit:

- groups and rows: at most k groups of a unit, chosen at random, and m rows in each (for a sum, m times the
  larger bound).  Noise of sigma m sqrt(k).
- L1: the vector over groups is scaled to a sum of at most C, noise of sigma C;
- L2: it is scaled to a Euclidean norm of at most C, noise of sigma C.

sigma is 1 / sqrt(2 rho) for counts and sums, which are in units of their larger bound.  The error is the root of the
mean over the groups of the squared bias and the variance.

Different values have their own limits: m values of a unit in a group, chosen at random, in k groups; or a value counts
the sum of what its units' vectors are scaled to, at most 1 (Distinct, below).

An average has two such vectors, rows and values between -1 (the lower bound) and 1.  A limit on the
rows scales both, and each gets half of rho.  Its error is that of their noisy quotient.
"""
import collections
import math
import statistics

GROUPS = (1, 2, 3, 4, 5, 7, 10, 14, 20, 30, 50)
ROWS = (1, 2, 3, 4, 5, 7, 10, 15, 20, 30, 45, 60, 80, 100)
NORMS = tuple(2 ** (i / 8) for i in range(-64, 65))
COUNT_NORMS = tuple(sorted({n for n in NORMS if n >= 1} | {math.sqrt(n) for n in range(1, 17)} | set(map(float, range(1, 21)))))

# deviates at equal steps of probability, in an order that pairs each with all others
DEVIATES = [statistics.NormalDist().inv_cdf((i + 0.5) / 89) for i in range(89)]
PAIRS = [(DEVIATES[i], DEVIATES[34 * i % 89]) for i in range(89)]


def inverse(n, sigma):
    """1 / n, of a noisy n."""
    return 1 / max(n + sigma * sigma / n, 1 / n) if n > 0 else 0


class Question:
    """cells: (unit, group, rows or amount, value) of all rows of a unit in a group; value is None but for averages."""

    def __init__(self, cells):
        self.is_mean = any(cell[3] is not None for cell in cells)
        units, l1, l2 = collections.Counter(), collections.Counter(), collections.Counter()
        for unit, group, n, value in cells:
            units[unit] += 1
            l1[unit] += n
            l2[unit] += n * n
        self.units = len(units)
        self.truth = self.group_sums((group, 1, n, value or 0) for unit, group, n, value in cells)
        self.groups = len(self.truth)
        # cells that limits treat alike
        self.truncated = self.alike((group, (units[unit], n), n, value) for unit, group, n, value in cells)
        self.by_l1 = self.alike((group, l1[unit], n, value) for unit, group, n, value in cells)
        self.by_l2 = self.alike((group, l2[unit] ** 0.5, n, value) for unit, group, n, value in cells)
        self.most = (max(units.values()), max(n for _, _, n, _ in cells), max(l1.values()), max(l2.values()) ** 0.5)
        self.candidates = None

    @staticmethod
    def alike(cells):
        sums = {}
        for group, what, n, value in cells:
            both = sums.setdefault((group, what), [0.0, 0.0])
            both[0] += n
            both[1] += value or 0
        return [(group, what, n, value) for (group, what), (n, value) in sums.items()]

    @staticmethod
    def group_sums(cells):
        """cells: (group, factor, n, value)"""
        sums = {}
        for group, factor, n, value in cells:
            both = sums.setdefault(group, [0.0, 0.0])
            both[0] += factor * n
            both[1] += factor * value
        return sums

    def mean_error2(self, limited, noise):
        """Squared error of the quotient as dp_avg takes it (src/math/moments.c), where n and value have this noise."""
        total = 0
        for group, (n, value) in self.truth.items():
            n1, value1 = limited[group]
            true, mean = value / n, value1 / n1
            if noise < n1 / 10:
                total += (mean - true) ** 2 + (noise / n1) ** 2 * (1 + mean * mean)
            else:
                total += math.fsum((max(-1, min(1, (value1 + noise * a) * inverse(n1 + noise * b, noise))) - true) ** 2
                                   for a, b in PAIRS) / len(PAIRS)
        return total / self.groups

    def error(self, limited, noise):
        if self.is_mean:
            return math.sqrt(self.mean_error2(limited, noise * math.sqrt(2)))
        bias2 = math.fsum((n - limited[group][0]) ** 2 for group, (n, _) in self.truth.items()) / self.groups
        return math.sqrt(bias2 + noise * noise)

    def limits(self):
        """(way, noise, what is left of each group) of each candidate.  Limits above what any unit has are worse than the least such one."""
        most_groups, most_n, most_l1, most_l2 = self.most

        def enough(limits, most):
            limits = sorted(limits)
            return [limit for i, limit in enumerate(limits) if i == 0 or limits[i - 1] < most]

        result = []
        for k in enough({k for k in GROUPS if k <= self.groups} | {self.groups}, most_groups):
            for m in enough(ROWS, most_n):
                result.append(("truncated", m * math.sqrt(k), self.group_sums(
                    (group, min(1, k / groups) * min(1, m / n), sum_n, value)
                    for group, (groups, n), sum_n, value in self.truncated if n)))
        whole = self.is_mean or all(float(n).is_integer() for _, (_, n), _, _ in self.truncated)
        for way, cells, most in (("L1", self.by_l1, most_l1), ("L2", self.by_l2, most_l2)):
            for c in enough(COUNT_NORMS if whole else NORMS, most):
                result.append((way, c, self.group_sums(
                    (group, min(1, c / norm), n, value) for group, norm, n, value in cells if norm)))
        return [(way, noise, collections.defaultdict(lambda: [0.0, 0.0], left)) for way, noise, left in result]

    def best(self, rho):
        """The least error of each way, in units of the larger bound, or of half of the distance of an average's bounds."""
        if self.candidates is None:
            self.candidates = self.limits()
        least = {}
        for way, noise, left in self.candidates:
            error = self.error(left, noise / math.sqrt(2 * rho))
            least[way] = min(error, least.get(way, math.inf))
        return least


class Distinct(Question):
    """count(DISTINCT x).  cells: (unit, group, value) that are in the rows."""

    def __init__(self, cells):
        values, groups = collections.Counter(), collections.Counter()
        for unit, group, _ in cells:
            values[unit, group] += 1
        for unit, _ in values:
            groups[unit] += 1
        l1, l2 = collections.Counter(), collections.Counter()
        for (unit, _), n in values.items():
            l1[unit] += n
            l2[unit] += n * n
        self.is_mean = False
        self.units = len(groups)
        # of each value of a group how much its units have
        self.holders = collections.defaultdict(list)
        for unit, group, value in cells:
            self.holders[group, value].append((groups[unit], values[unit, group], l1[unit], l2[unit] ** 0.5))
        self.truth = self.counts(lambda holders: 1)
        self.groups = len(self.truth)
        self.most = (max(groups.values()), max(values.values()), max(l1.values()), max(l2.values()) ** 0.5)
        self.candidates = None

    def counts(self, shown):
        """how many values each group shows, where one of such holders is shown so far"""
        counts = collections.defaultdict(lambda: [0.0, 0.0])
        for (group, _), holders in self.holders.items():
            counts[group][0] += shown(holders)
        return counts

    def limits(self):
        most_groups, most_n, most_l1, most_l2 = self.most
        result = []
        for k in [k for i, k in enumerate(GROUPS) if i == 0 or GROUPS[i - 1] < most_groups]:
            for m in [m for i, m in enumerate(ROWS) if i == 0 or ROWS[i - 1] < most_n]:
                result.append(("truncated", m * math.sqrt(k), self.counts(
                    lambda holders, k=k, m=m: 1 - math.prod(1 - min(1, k / groups) * min(1, m / n) for groups, n, _, _ in holders))))
        for way, at, most in (("L1", 2, most_l1), ("L2", 3, most_l2)):
            for c in [c for i, c in enumerate(COUNT_NORMS) if i == 0 or COUNT_NORMS[i - 1] < most]:
                result.append((way, c, self.counts(
                    lambda holders, at=at, c=c: min(1, math.fsum(min(1, c / holder[at]) for holder in holders)))))
        return result

"""Why a private answer differs from the plain one: noise, groups that are declared and empty or that too few share, or none of these.

Nothing is taken on trust: the query is asked several times, and what differs between these answers is noise.  Its
size tells whether the rest is noise, too: the mean of the answers must be within Z standard errors of what is true.
Limits (max_groups, max_rows, totals) cut an answer by as much each time, as a mistake would, so that neither passes.
"""
import math
import statistics

TIMES = 5
Z = 6


def number(cell):
    try:
        return float(cell)
    except ValueError:
        return None


def cells(rows):
    return [[cell.strip() for cell in row.split("|")] for row in rows]


def noisy_columns(answers):
    """Which columns hold numbers that are not the same each time; those that are text tell rows from one another."""
    noisy = []
    for column in range(len(answers[0][0])):
        values = [sorted(row[column] for row in answer) for answer in answers]
        if any(v != values[0] for v in values) and all(number(cell) is not None or cell == "" for v in values for cell in v):
            noisy.append(column)
    return noisy


def by_key(rows, noisy):
    """The numbers of each row, by what is not noisy in it; None if that does not tell rows from one another."""
    found = {}
    for row in rows:
        key = tuple(cell for i, cell in enumerate(row) if i not in noisy)
        if key in found:
            return None
        found[key] = [number(row[i]) or 0.0 for i in noisy]
    return found


def spreads(answers, keys, columns):
    """The noise of each number: its standard deviation, or that of half of its column's, if that is more."""
    each = {key: [statistics.stdev(answer[key][c] for answer in answers) for c in range(columns)] for key in keys}
    median = [statistics.median(each[key][c] for key in keys) for c in range(columns)]
    return {key: [max(s, median[c]) for c, s in enumerate(each[key])] for key in keys}


def far_off(answers, keys, truth, spread):
    """By how many standard deviations single answers differ at most, and by how many standard errors their mean does."""
    single, mean = 0.0, 0.0
    for key in keys:
        for c, sd in enumerate(spread[key]):
            values, true = [answer[key][c] for answer in answers], truth[key][c]
            # what is printed has few digits
            sd = max(sd, 1e-6 * abs(true), 1e-9)
            single = max([single, *(abs(value - true) / sd for value in values)])
            mean = max(mean, abs(statistics.fmean(values) - true) / sd * math.sqrt(len(values)))
    return single, mean


def explain(plain, answers, delta):
    """Is the difference of answers (Lists of rows) from plain what privacy is meant to make, and in which words?

    delta: some keys are shown if enough people share them.
    """
    plain, answers = cells(plain), [cells(answer) for answer in answers]
    if not plain or not all(answers):
        return False, "an answer has no rows"
    noisy = noisy_columns(answers)
    truth, found = by_key(plain, noisy), [by_key(answer, noisy) for answer in answers]
    if truth is None or None in found:
        return False, "rows cannot be told from one another"
    words, good = [], True
    always, ever = set.intersection(*map(set, found)), set.union(*map(set, found))
    if always != ever:
        words.append("noise decides which rows there are (%d each time, %d in %d answers)" % (len(always), len(ever), len(answers)))
    elif set(truth) - ever:
        words.append("%d groups are not shown%s" % (len(set(truth) - ever), ", which too few people share" if delta else ""))
        good &= delta
    keys = always & set(truth)
    if not keys and always == ever:
        return False, "no row is among the plain ones"
    empty = always - set(truth)
    if empty and noisy:
        # what is divided by noise may be anything
        spread = spreads(found, empty, len(noisy))
        sums = [c for c in range(len(noisy)) if statistics.median(spread[key][c] for key in empty) <=
                2 * statistics.median(s[c] for s in spreads(found, always, len(noisy)).values())]
        nothing = {key: [0.0] * len(sums) for key in empty}
        rest = [{key: [answer[key][c] for c in sums] for key in empty} for answer in found]
        single, mean = far_off(rest, empty, nothing, {key: [spread[key][c] for c in sums] for key in empty})
        good &= mean <= Z and bool(sums)
        words.append("%d declared groups without rows (of noise up to %.1f sigma)" % (len(empty), single))
    if keys and noisy:
        single, mean = far_off(found, keys, truth, spreads(found, keys, len(noisy)))
        # of the largest of noisy values the mean is not what is true
        if mean <= Z or (always != ever and single <= 2 * Z):
            words.append("noise of up to %.1f sigma" % single)
        else:
            good = False
            words.append("beyond noise: mean off by %.1f standard errors" % mean)
    return good, "; ".join(words) or "the same"

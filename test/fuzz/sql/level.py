"""One release, as an analyst writes it, and what is known of its answer."""

RHO = 200000.0   # of one aggregate, where answers are compared


class Level:
    def __init__(self):
        self.private = self.exact = ''
        self.header = ''                # WITH ...
        self.columns = []               # (type, tolerance) of each output column
        self.rows = 1                   # how many rows, and groups, a unit may be in
        self.charged = ()               # releases of one aggregate each: what they may be; (): not known
        self.sure, self.fragile, self.near_miss = True, False, False
        self.soft = None                # a looser comparison: see Episode.soft_difference
        self.allowed = None             # the query of all keys that may be groups
        self.single = True              # one release, of which each row is fetched
        self.may_be_free = False        # declared keys may be all that is read of it
        # for comparisons of two databases, where rows are as they were released:
        self.plain = False
        self.keys = []                  # which columns are keys
        self.changes = {}               # of columns that are aggregates: by how much a unit changes one group
        self.sets, self.kept = 1, 1     # how many releases, and groups of a unit in each
        self.tags = set()               # what it was made by
        self.declared = False           # do all groups come if nothing was charged for their selection
        self.total = False              # may nothing fail that has been paid for
        self.free = False
        self.finds = False              # with dp_cdp.find_bounds
        self.agrees = False             # with dp_cdp.consistent
        self.flips = None               # of rows that noise decides: how many a unit may change
        self.before = []                # statements that are asked first

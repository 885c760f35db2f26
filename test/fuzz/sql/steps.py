"""What is asked of a database, by whom, and in which order."""
from wire import Looking


class Step:
    """
    How a step's rows are compared:
        exact	as they come
        bag		in any order
        keys	if all keys are declared (no delta is charged): their number, and the keys; otherwise as shape
        shape	columns and types only: values are noisy, or which rows there are
        room	what fails after it was charged: where room is short, a refusal is free, and the ledger's
        raced	not at all: others decide what comes, as fast as they are
    """

    # is the price of noise's choice, as that of a target of which a kept pilot is a part?
    noisy_price = False

    def __init__(self, sql, how='exact', q=None, parameters=(), fetch=None, who='', later=False):
        """
        fetch: by the extended protocol, so many rows at a time, 0 for all.
        who: '' the asker, 'again' and 'anew' the asker in other sessions, else a role.
        later: the next step does not wait for it.
        """
        self.sql, self.how, self.q, self.parameters, self.fetch, self.who, self.later = sql, how, q, parameters, fetch, who, later


def post(connection, step):
    if step.fetch is None:
        connection.post(step.sql)
    else:
        connection.post_extended(step.sql, step.parameters, step.fetch)


def ask(both, steps):
    """the answers of each; who is asked alone gets everything at once, and both work side by side"""
    # what others take, such as locks, is the whole server's
    if any(s.who for s in steps):
        return [ask_among(c, steps) for c in both]
    for s in steps:
        for c in both:
            post(c, s)
    return [[c.read() for _ in steps] for c in both]


def ask_among(connection, steps):
    """the answers of one database, where others do something meanwhile"""
    sessions, owed, answers = {'': connection}, {}, [None] * len(steps)

    def read(who):
        for i in owed.pop(who, ()):
            answers[i] = sessions[who].read()

    try:
        for i, s in enumerate(steps):
            if s.who not in sessions:
                sessions[s.who] = Looking(connection.user if s.who in ('again', 'anew') else s.who, connection.database)
            post(sessions[s.who], s)
            owed.setdefault(s.who, []).append(i)
            if not s.later:
                read(s.who)
        for who in list(owed):
            read(who)
    finally:
        for who, c in sessions.items():
            if who:
                c.close()
    return answers

"""PostgreSQL's wire protocol, as far as fuzzing needs it.

Connection is a client, Relay stands between somebody else's client and the
server.  Both look at every byte that the server sends: a canary (a value
that only one protected row has) must not be in any answer, notice, error or
parameter.  Standard library only.
"""
import os
import re
import socket
import struct
import threading

# The fixture's canaries.  No query contains one, so that messages may quote queries.
CANARY = re.compile(rb'zq(canary|vault)|(?<![\d.])(765432[1-4]|234567|9753[12]\.86|86421\.9753|88888\.25)(?!\d)|'
                    rb'1871-03-0|03-0\d-1871|0\d[./]03[./]1871|03/0\d/1871')


class Leak(Exception):
    pass


class Lost(Exception):
    """The connection broke, or the server did not answer in time."""


def fields_of(body):
    """an ErrorResponse or NoticeResponse"""
    return {f[:1].decode(): f[1:].decode('utf-8', 'replace') for f in body.split(b'\0') if f}


def socket_path():
    return os.path.join(os.environ['PGHOST'], '.s.PGSQL.' + os.environ.get('PGPORT', '5432'))


class Answer:
    """what one round trip gave: rows of the last result, all tags, the error or None"""

    def __init__(self):
        self.rows, self.columns, self.tags, self.notices, self.error, self.copied = [], [], [], [], None, b''
        self.types = []         # of each column: OID, length, modifier and format
        self.status = ''        # of the transaction

    def code(self):
        return self.error['C'] if self.error else '00000'

    def text(self):
        return self.error['M'] if self.error else ''


class Connection:
    def __init__(self, user, database=None, timeout=900):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(timeout)
        self.buffer = b''
        self.history = []
        self.user, self.database = user, database or os.environ['PGDATABASE']
        try:
            self.socket.connect(socket_path())
        except OSError as e:
            raise Lost('cannot connect: %s' % e)
        parameters = b''.join(s.encode() + b'\0' for s in (
            'user', user, 'database', self.database, 'client_encoding', 'UTF8'))
        body = struct.pack('!i', 196608) + parameters + b'\0'
        self.socket.sendall(struct.pack('!i', len(body) + 4) + body)
        answer = self.read()
        if answer.error:
            raise Lost(answer.text())

    def close(self):
        try:
            self.socket.sendall(b'X\0\0\0\4')
        except OSError:
            pass
        self.socket.close()

    def receive(self, n):
        while len(self.buffer) < n:
            try:
                more = self.socket.recv(65536)
            except OSError as e:
                raise Lost('no answer: %s' % e)
            if not more:
                raise Lost('server closed the connection')
            self.buffer += more
        part, self.buffer = self.buffer[:n], self.buffer[n:]
        return part

    def read(self):
        """everything up to ReadyForQuery"""
        answer = Answer()
        while True:
            kind, length = struct.unpack('!ci', self.receive(5))
            body = self.receive(length - 4)
            self.look(kind, body)
            if kind == b'Z':
                answer.status = body.decode()
                return answer
            if kind == b'T':
                answer.rows = []
                answer.columns, answer.types = self.columns(body)
            elif kind == b'D':
                answer.rows.append(self.row(body))
            elif kind == b'C':
                answer.tags.append(body[:-1].decode())
            elif kind == b'd':
                answer.copied += body
            elif kind == b'G':
                self.send(b'f', b'no data\0')
            elif kind == b'E':
                answer.error = fields_of(body)
                if answer.error.get('S') == 'FATAL':
                    raise Lost(answer.text())
            elif kind == b'N':
                answer.notices.append(fields_of(body))

    def look(self, kind, body):
        found = CANARY.search(body)
        if found:
            raise Leak('%s in message %s' % (found[0].decode(), kind.decode()))

    @staticmethod
    def columns(body):
        names, types, at = [], [], 2
        for _ in range(struct.unpack('!h', body[:2])[0]):
            end = body.index(b'\0', at)
            names.append(body[at:end].decode())
            types.append(struct.unpack('!ihih', body[end + 7:end + 19]))
            at = end + 19
        return names, types

    @staticmethod
    def row(body):
        values, at = [], 2
        for _ in range(struct.unpack('!h', body[:2])[0]):
            n = struct.unpack('!i', body[at:at + 4])[0]
            at += 4
            values.append(None if n < 0 else body[at:at + n].decode('utf-8', 'replace'))
            at += max(n, 0)
        return values

    def send(self, kind, body):
        try:
            self.socket.sendall(kind + struct.pack('!i', len(body) + 4) + body)
        except OSError as e:
            raise Lost('cannot send: %s' % e)

    def post(self, sql):
        """simple protocol, one or several statements; read() gives the answer"""
        self.send(b'Q', sql.encode() + b'\0')

    def query(self, sql):
        self.history.append(sql)
        self.post(sql)
        return self.read()

    def extended(self, sql, parameters=(), fetch=0):
        self.history.append('/* extended, %r, fetch %d */ %s' % (parameters, fetch, sql))
        self.post_extended(sql, parameters, fetch)
        return self.read()

    def post_extended(self, sql, parameters, fetch):
        """Parse, Describe, Bind, and Execute in pieces of that many rows; read() gives the answer"""
        self.send(b'P', b'\0' + sql.encode() + b'\0' + struct.pack('!h', 0))
        self.send(b'D', b'S\0')
        values = b''.join(struct.pack('!i', len(p.encode())) + p.encode() for p in parameters)
        self.send(b'B', b'\0\0' + struct.pack('!hh', 0, len(parameters)) + values + struct.pack('!h', 0))
        for _ in range(3 if fetch else 1):
            self.send(b'E', b'\0' + struct.pack('!i', fetch))
        self.send(b'S', b'')


class Looking(Connection):
    """Canaries may be in statements here: what is compared are two databases."""

    def look(self, kind, body):
        pass


class Relay(threading.Thread):
    """Listens in a directory of its own, passes everything on, and looks at what comes back."""

    def __init__(self, directory):
        super().__init__(daemon=True)
        self.lock = threading.Lock()
        self.errors, self.leaks, self.queries, self.answered = {}, [], 0, 0
        self.last = ''
        path = os.path.join(directory, '.s.PGSQL.5432')
        if os.path.exists(path):
            os.unlink(path)
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(path)
        self.listener.listen(8)

    def run(self):
        while True:
            client, _ = self.listener.accept()
            server = socket.socket(socket.AF_UNIX)
            try:
                server.connect(socket_path())
            except OSError:
                client.close()
                continue
            state = {'query': ''}
            for source, target, seen in ((client, server, self.asked), (server, client, self.told)):
                threading.Thread(target=self.relay, args=(source, target, seen, state), daemon=True).start()

    def relay(self, source, target, seen, state):
        buffer = b''
        untyped = seen == self.asked    # the startup message has no type byte
        try:
            while True:
                more = source.recv(65536)
                if not more:
                    break
                buffer += more
                while len(buffer) >= (4 if untyped else 5):
                    at = 0 if untyped else 1
                    length = struct.unpack('!i', buffer[at:at + 4])[0] + at
                    if len(buffer) < length:
                        break
                    if not untyped:
                        seen(buffer[:1], buffer[5:length], state)
                    untyped = False
                    buffer = buffer[length:]
                target.sendall(more)
        except OSError:
            pass
        for s in (source, target):
            try:
                s.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def asked(self, kind, body, state):
        if kind in b'QP':
            state['query'] = self.last = body.strip(b'\0').decode('utf-8', 'replace')
            with self.lock:
                self.queries += 1

    def told(self, kind, body, state):
        found = CANARY.search(body)
        with self.lock:
            if found:
                self.leaks.append((found[0].decode(), kind.decode(), state['query']))
            if kind == b'E':
                error = fields_of(body)
                key = (error.get('C'), re.sub(r'"[^"]*"|\d+', '*', error.get('M', '')))
                self.errors.setdefault(key, [0, state['query'], error.get('M')])[0] += 1
            elif kind == b'C':
                self.answered += 1

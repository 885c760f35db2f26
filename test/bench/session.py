"""A psql that stays open and is told one statement at a time."""
import re
import subprocess


class Session:
    """options: of psql; settings: "name = value", made before anything is timed."""

    def __init__(self, database, *options, settings=()):
        self.psql = subprocess.Popen(
            ["psql", "-X", "-q", "-A", "-t", "-d", database, *options],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True, bufsize=1)
        self.pid = int(self.answer("SELECT pg_backend_pid()").strip())
        for setting in settings:
            self.answer("SET " + setting)
        self.psql.stdin.write("\\set VERBOSITY verbose\n\\timing on\n\\o /dev/null\n")

    def answer(self, sql):
        """What psql prints."""
        self.psql.stdin.write(sql + ";\n\\echo == done\n")
        self.psql.stdin.flush()
        text = ""
        for line in self.psql.stdout:
            if line.startswith("== done"):
                break
            text += line
        if "ERROR:" in text or "FATAL:" in text:
            raise RuntimeError(sql + "\n" + text)
        return text

    def run(self, sql):
        """Milliseconds of the statement; its rows are fetched and thrown away."""
        return float(re.findall(r"^Time: ([0-9.]+) ms", self.answer(sql), re.M)[-1])

    def close(self):
        self.psql.stdin.close()
        self.psql.wait()

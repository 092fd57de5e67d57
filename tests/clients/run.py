"""Runs the tests of public programs and libraries on the stand-in, and compares each outcome with the expected one.

run.py [--record] [--install] [--check] [--jobs N] [--only GLOB] [--expected OUTCOME] BUILD CLIENT...

A client is a file clients/CLIENT.py; expected/CLIENT.txt has a line for each of its tests: name, outcome (pass, fail,
skip, xfail, crash, hang) and reason, with tabs between. Another outcome fails, a better one too, and so does a test
that is not in the list or no longer there. --record writes the list anew.

--check runs them under `ctxrt check`, where each finding fails; without those that the client's `misuses` names, with
the reason.
"""
import argparse
import fnmatch
import importlib.util
import json
import os
import pathlib
import queue
import re
import shutil
import signal
import subprocess
import sys
import threading

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent


def place(frame):
    module = pathlib.Path(frame["module"] or "?").name
    return "%s: %s" % (module, frame["function"] or hex(frame["offset"] or 0))


class Client:
    """A client's file, and the folder that its packages and logs are in."""

    def __init__(self, name, build, check):
        self.name = name
        self.check = check
        self.file = HERE / "clients" / (name + ".py")
        self.build = build
        self.folder = build / "clients" / name
        self.venv = build / "clients" / "venv"
        self.stamp = build / "clients" / (name + ".installed")
        self.logs = self.folder / "logs"
        self.reports = self.folder / "reports"
        spec = importlib.util.spec_from_file_location("client_" + name.replace("-", "_"), self.file)
        self.module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(self.module)
        self.expected_file = HERE / "expected" / (name + ".txt")

    def get(self, attribute, default):
        value = getattr(self.module, attribute, default)
        return value(self) if callable(value) else value

    def packages(self, registry):
        return re.findall(r"^# %s: (\S+)" % registry, self.file.read_text(), re.M)

    def python(self):
        return str(self.venv / "bin" / "python3") if self.packages("PyPI") else "/usr/bin/python3"

    def site(self):
        """Where the environment has its packages."""
        return next((self.venv / "lib").glob("python3*/site-packages"))

    def environment(self):
        values = {name: value for name, value in os.environ.items()
                  if not name.startswith(("CTXRT_", "CUDA_", "PYTHON", "NUMBA_"))}
        values.update({"PYTHONDONTWRITEBYTECODE": "1", "PYTHONPATH": str(HERE), **self.get("environment", {})})
        return values

    def command(self, words, name):
        """On the stand-in, by `ctxrt run`, or by `ctxrt check`, whose report has the name."""
        options = ["--cuda", str(self.get("cuda", 12))] + self.get("options", {}).get(name, [])
        if hasattr(self.module, "cudart"):
            options += ["--cudart", str(self.module.cudart)]
        if self.check:
            options += ["--error-exitcode=0", "--json", str(self.reports / name)]
        return [str(self.build / "ctxrt"), "check" if self.check else "run"] + options + words

    def findings(self):
        """What `ctxrt check` found in all its tests: report, kind, call, places."""
        for report in sorted(self.reports.iterdir()):
            for finding in json.loads(report.read_text())["findings"]:
                if finding["severity"] != "note":
                    yield report.name, finding["kind"], finding["call"], " < ".join(map(place, finding["at"][:4]))

    def install(self):
        """Installs its packages of PyPI into the environment that all clients share."""
        wanted = self.packages("PyPI")
        if not wanted or (self.stamp.exists() and self.stamp.read_text().split() == wanted):
            return
        print("installing for %s: %s" % (self.name, " ".join(wanted)), flush=True)
        if not (self.venv / "bin" / "pip").exists():
            subprocess.run(["/usr/bin/python3", "-m", "venv", str(self.venv)], check=True)
        pip = [self.python(), "-m", "pip", "--quiet", "--disable-pip-version-check", "install"]
        subprocess.run(pip + [name for name in wanted if "==" in name], check=True)
        if hasattr(self.module, "install"):
            self.module.install(self, pip)
        self.stamp.write_text("\n".join(wanted) + "\n")

    def judge(self, name, outcome, reason):
        """What fails because something is absent here is skipped, with the client's reason."""
        if outcome == "fail":
            for pattern, why in self.get("absent", {}).items():
                if re.search(pattern, name + ": " + reason):
                    return "skip", why
        return outcome, reason

    def explain(self, name, reason):
        """The client's own words for what a test says, where it has some."""
        found = [why for pattern, why in self.get("reasons", {}).items() if re.search(pattern, name + ": " + reason)]
        return found[0] if found else reason

    def missing(self):
        for package in self.packages("Debian"):
            found = subprocess.run(["dpkg-query", "-W", "-f", "${db:Status-Status}", package], text=True,
                                   stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
            if found.stdout != "installed":
                return "Debian's package %s is not installed" % package
        if self.packages("PyPI") and not self.stamp.exists():
            return "its packages of PyPI are not installed: ./bootstrap check-clients does that"
        return self.get("missing", None)


class Commands:
    """Runs tests that are commands of the shell: 0 passes, 77 skips. A client's `before` is what a test does outside of ctxrt at
    first, `options` are those of ctxrt for it."""

    def __init__(self, client, number):
        self.client, self.commands = client, client.get("commands", {})

    def names(self):
        return list(self.commands)

    def run(self, name, limit, log):
        scratch = self.client.folder / "scratch" / name
        scratch.mkdir(parents=True, exist_ok=True)
        words = self.client.command(["sh", "-euc", self.client.get("common", "") + self.commands[name]], name)
        before = self.client.get("before", {}).get(name, "")
        if before:
            words = ["sh", "-euc", before + 'exec "$@"', "sh"] + words
        with open(log, "w") as output:
            child = subprocess.Popen(words, env=self.client.environment(), cwd=scratch, start_new_session=True,
                                     stdin=subprocess.DEVNULL, stdout=output, stderr=output)
            try:
                status = child.wait(limit)
            except subprocess.TimeoutExpired:
                os.killpg(child.pid, signal.SIGKILL)
                child.wait()
                return "hang", "%d s" % limit
        lines = pathlib.Path(log).read_text(errors="replace").strip().splitlines() or [""]
        if status in (0, 77):
            return ("pass", "") if status == 0 else ("skip", lines[-1])
        return ("crash" if status < 0 or status > 128 else "fail"), lines[-1]

    def close(self):
        pass


class Server:
    """A process of pytests.py in the client's own Python."""

    def __init__(self, client, number):
        self.client, self.number = client, number
        self.process = None

    def start(self):
        root = self.client.get("root", None)
        words = self.client.command([self.client.python(), str(HERE / "pytests.py"), str(root),
                                     self.client.get("package", "")], "server%d" % self.number)
        self.process = subprocess.Popen(words + self.client.get("preload", []), env=self.client.environment(),
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                        stderr=open(self.client.logs / ("server%d" % self.number), "w"))

    def ask(self, **request):
        if self.process is None:
            self.start()
        print(json.dumps(request), file=self.process.stdin, flush=True)
        line = self.process.stdout.readline()
        if not line:
            raise SystemExit("%s: the server of tests ended: see %s" % (self.client.name, self.client.logs))
        return json.loads(line)

    def names(self):
        answer = self.ask(list=self.client.get("tests", ["."]), limit=300, log=str(self.client.logs / "list"))
        if "names" not in answer:
            raise SystemExit("%s: the list of tests: %s" % (self.client.name, answer))
        left_out = self.client.get("left_out", [])
        return [name for name in answer["names"] if not any(fnmatch.fnmatch(name, glob) for glob in left_out)]

    def run(self, name, limit, log):
        answer = self.ask(run=name, limit=limit, log=str(log))
        return answer["outcome"], re.sub(r"\s+", " ", answer["reason"])[:160]

    def close(self):
        if self.process:
            self.process.stdin.close()
            self.process.wait()


def read_expected(client):
    rows = {}
    if client.expected_file.exists():
        for line in client.expected_file.read_text().splitlines():
            name, outcome, reason = (line.split("\t") + ["", ""])[:3]
            rows[name] = (outcome, reason)
    return rows


def run_all(client, names, runners, told):
    """The outcome of each test."""
    left, results = queue.Queue(), {}
    for name in names:
        left.put(name)

    def work(runner):
        while True:
            try:
                name = left.get_nowait()
            except queue.Empty:
                return
            log = client.logs / re.sub(r"[^\w.\[\]-]+", "_", name)[:200]
            results[name] = client.judge(name, *runner.run(name, client.get("limit", 60), log))
            told(name, *results[name])

    threads = [threading.Thread(target=work, args=(runner,)) for runner in runners]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return results


def record(client, results):
    with open(client.expected_file, "w") as file:
        for name, (outcome, reason) in sorted(results.items()):
            if outcome not in ("pass", "skip", "xfail"):
                reason = client.explain(name, reason)
            print("\t".join([name, outcome] + [reason] * bool(reason)), file=file)


def tell_findings(client, totals):
    reports = 0
    for report, kind, call, places in client.findings():
        totals["FAIL"] += 1
        reports += 1
        print("FAIL: %s: %s: %s, %s: %s" % (client.name, report, kind, call, places), flush=True)
    print("%s: ctxrt check: %d findings" % (client.name, reports), flush=True)


def run_client(client, options, totals):
    client.logs.mkdir(parents=True, exist_ok=True)
    shutil.rmtree(client.reports, ignore_errors=True)
    client.reports.mkdir()
    before = read_expected(client)
    reason = client.missing()
    if reason:
        print("SKIP: %s: %s" % (client.name, reason), flush=True)
        totals["SKIP"] += max(1, len(before))
        return
    kind = Commands if client.get("commands", None) else Server
    runners = [kind(client, number) for number in range(options.jobs)]

    misuses = client.get("misuses", {}) if client.check else {}

    def asked(name):
        if any(fnmatch.fnmatch(name, glob) for glob in misuses):
            return False
        return fnmatch.fnmatch(name, options.only) and before.get(name, ("",))[0].startswith(options.expected)

    names = [name for name in runners[0].names() if asked(name)]
    counts = {}

    def told(name, outcome, why):
        counts[outcome] = counts.get(outcome, 0) + 1
        expected = before.get(name, ("not in the list", ""))[0]
        if outcome in expected.split("|"):
            totals["SKIP" if outcome == "skip" else "PASS"] += 1
        elif not options.record:
            totals["FAIL"] += 1
            print("FAIL: %s: %s: %s, expected %s: %s" % (client.name, name, outcome, expected, why), flush=True)

    results = run_all(client, names, runners, told)
    for runner in runners:
        runner.close()
    if client.check:
        tell_findings(client, totals)
    if options.record:
        kept = {name: row for name, row in before.items() if not asked(name)}
        record(client, {**kept, **results})
    for name in sorted(set(before) - set(results)):
        if asked(name) and not options.record:
            totals["FAIL"] += 1
            print("FAIL: %s: %s: there is no such test, expected %s" % (client.name, name, before[name][0]))
    print("%s: %s" % (client.name, ", ".join("%d %s" % (n, outcome) for outcome, n in sorted(counts.items()))),
          flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--record", action="store_true")
    parser.add_argument("--install", action="store_true")
    parser.add_argument("--check", action="store_true", help="under ctxrt check")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--only", default="*", help="those whose names match")
    parser.add_argument("--expected", default="", help="those whose expected outcome is this one")
    parser.add_argument("build", type=lambda text: pathlib.Path(text).resolve())
    parser.add_argument("clients", nargs="*")
    options = parser.parse_args()
    names = options.clients or sorted(file.stem for file in (HERE / "clients").glob("*.py"))
    totals = {"PASS": 0, "FAIL": 0, "SKIP": 0}
    for name in names:
        client = Client(name, options.build, options.check)
        if options.install:
            try:
                client.install()
            except (subprocess.CalledProcessError, OSError) as error:
                print("%s: not installed: %s" % (name, error), file=sys.stderr)
                totals["FAIL"] += 1
        else:
            run_client(client, options, totals)
    if not options.install:
        for outcome, number in totals.items():
            print("# %s: %d" % (outcome, number))
    return totals["FAIL"] != 0


if __name__ == "__main__":
    sys.exit(main())

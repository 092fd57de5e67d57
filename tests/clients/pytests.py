"""A server of pytest's tests: each test runs in a process of its own, forked from one that has imported what all need.

pytests.py ROOT PACKAGE PRELOAD... runs in the folder ROOT, whose files are modules of PACKAGE if that is given. It reads a line of JSON for each request and answers with one:
{"list": [PATH...]} lists the tests there; {"run": TEST, "limit": SECONDS, "log": FILE} runs one. The server itself
makes no call of the driver, which a forked process could not use.
"""
import importlib
import json
import os
import select
import signal
import sys
import time

import pytest

OPTIONS = ["-q", "-p", "no:cacheprovider", "-p", "no:faulthandler", "--rootdir=.", "-c", os.devnull, "-W", "ignore"]
PACKAGE = sys.argv[2]


class Watcher:
    """Collects the tests' names, and what became of them."""

    def __init__(self):
        self.names, self.outcome, self.reason = [], None, ""

    def pytest_collection_modifyitems(self, items):
        self.names += [item.nodeid for item in items]

    def pytest_collectreport(self, report):
        if report.failed:
            self.names.append(report.nodeid)
            self.outcome, self.reason = "fail", last_line(report.longreprtext)
        elif report.skipped:
            self.names.append(report.nodeid)
            self.outcome, self.reason = "skip", skip_reason(report.longrepr[2])

    def pytest_runtest_logreport(self, report):
        if report.failed:
            crash = getattr(report.longrepr, "reprcrash", None)
            self.outcome = "fail"
            self.reason = self.reason or (first_line(crash.message) if crash else last_line(report.longreprtext))
        elif report.skipped and self.outcome != "fail":
            expected = hasattr(report, "wasxfail")
            self.outcome = "xfail" if expected else "skip"
            self.reason = skip_reason(report.wasxfail if expected else report.longrepr[2])
        elif report.when == "call" and self.outcome is None:
            self.outcome = "pass"


class ModuleByName(pytest.Module):
    """A file of tests whose folders do not say the name that it is imported by."""

    def _getobj(self):
        name = str(self.path.relative_to(os.getcwd()).with_suffix("")).replace(os.sep, ".")
        return importlib.import_module(PACKAGE + "." + name)


class WatcherByName(Watcher):
    def pytest_collect_directory(self, path, parent):
        return pytest.Dir.from_parent(parent, path=path)

    def pytest_pycollect_makemodule(self, module_path, parent):
        return ModuleByName.from_parent(parent, path=module_path)


def first_line(text):
    return text.strip().partition("\n")[0].strip()


def skip_reason(text):
    return first_line(text).removeprefix("Skipped").lstrip(": ")


def last_line(text):
    return text.strip().rpartition("\n")[2].strip()


def wait(child, pipe, limit):
    """What the child writes, and whether it came to its end within the limit."""
    text, end = b"", time.monotonic() + limit
    while True:
        ready, _, _ = select.select([pipe], [], [], max(0, end - time.monotonic()))
        if not ready:
            return text, False
        part = os.read(pipe, 1 << 16)
        if not part:
            break
        text += part
    while time.monotonic() < end:
        if os.waitid(os.P_PID, child, os.WEXITED | os.WNOHANG | os.WNOWAIT):
            return text, True
        time.sleep(0.005)
    return text, False


def in_a_child(work, limit, log):
    """The answer of work(), called in a process of its own."""
    pipe, theirs = os.pipe()
    child = os.fork()
    if child == 0:
        os.setsid()
        os.close(pipe)
        output = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
        os.dup2(output, 1)
        os.dup2(output, 2)
        answer = work()
        with os.fdopen(theirs, "w") as file:
            json.dump(answer, file)
        sys.stdout.flush()
        sys.exit(0)
    os.close(theirs)
    text, ended = wait(child, pipe, limit)
    os.close(pipe)
    try:
        os.killpg(child, signal.SIGKILL)
    except ProcessLookupError:
        pass
    status = os.waitpid(child, 0)[1]
    if not ended:
        return {"outcome": "hang", "reason": "%d s" % limit}
    if os.WIFSIGNALED(status):
        return {"outcome": "crash", "reason": signal.Signals(os.WTERMSIG(status)).name}
    if not text:
        return {"outcome": "crash", "reason": "exit status %d" % os.WEXITSTATUS(status)}
    return json.loads(text)


def list_tests(paths):
    watcher = WatcherByName() if PACKAGE else Watcher()
    pytest.main(OPTIONS + ["--collect-only"] + paths, plugins=[watcher])
    return {"names": watcher.names}


def run_test(name):
    watcher = WatcherByName() if PACKAGE else Watcher()
    pytest.main(OPTIONS + [name], plugins=[watcher])
    return {"outcome": watcher.outcome or "fail", "reason": watcher.reason or "no outcome"
            if watcher.outcome != "pass" else ""}


def serve(answers):
    for line in sys.stdin:
        request = json.loads(line)
        if "list" in request:
            answer = in_a_child(lambda: list_tests(request["list"]), request["limit"], request["log"])
        else:
            answer = in_a_child(lambda: run_test(request["run"]), request["limit"], request["log"])
        print(json.dumps(answer), file=answers, flush=True)


if __name__ == "__main__":
    os.chdir(sys.argv[1])
    with os.fdopen(os.dup(1), "w") as answers:
        os.dup2(2, 1)
        for module in sys.argv[3:]:
            importlib.import_module(module)
        serve(answers)

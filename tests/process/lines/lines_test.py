#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""gpuprof lines: programs of each CPython that is found play sessions from known lines; their kernels belong to these lines."""
import base64
import glob
import json
import os
import re
import subprocess
import sys
import zlib

import processes

KERNELS = 205  # of one synthetic session with 200 launches and 4 copies: see made()
PLAY = '''
import ctypes, os
library = ctypes.CDLL(os.environ["BUILT_PLAY_MODULE"])
play_session, words = library._Z12play_sessioniPPc, (ctypes.c_char_p * 3)(b"play", os.fsencode(os.environ["SESSION"]), None)
def play():
    if play_session(2, words) != 0: raise SystemExit("the session cannot be played")
'''
PROGRAM = PLAY + '''
def leaf(n):
    for _ in range(n):
        play()  # leaf
class Model:
    def forward(self):
        play()  # method
def generator():
    for _ in range(2):
        yield play()  # generator
def deep(n):
    if n == 0:
        return play()  # deep
    return deep(n - 1)
leaf(3)
Model().forward()
for _ in generator(): pass
exec("play()\\nplay()")  # exec
(lambda: play())()  # lambda
deep(30)
deep(300)
'''
# Launches by the line that ends with the word.
EXPECTED = {"leaf": 3, "method": 1, "generator": 2, "exec": 2, "lambda": 1, "deep": 2}

# What the names of modules need of PyTorch: torch/nn/modules/module.py of 2.5 calls and stores modules like this.
MODULE = '''
class Module:
    def __init__(self):
        super().__setattr__("training", True)
        super().__setattr__("_modules", {})
    def __setattr__(self, name, value):
        if isinstance(value, Module): self.__dict__["_modules"][name] = value
        else: super().__setattr__(name, value)
    def __getattr__(self, name):
        if "_modules" in self.__dict__ and name in self.__dict__["_modules"]: return self.__dict__["_modules"][name]
        raise AttributeError(name)
    def _wrapped_call_impl(self, *args): return self._call_impl(*args)
    def _call_impl(self, *args): return self.forward(*args)
    __call__ = _wrapped_call_impl
class ModuleList(Module):
    def __init__(self, modules):
        super().__init__()
        for i, one in enumerate(modules): self._modules[str(i)] = one
    def __iter__(self): return iter(self._modules.values())
'''
MODEL = PLAY + '''
from torch.nn.modules.module import Module, ModuleList
class Linear(Module):
    def forward(self): play()
class Mlp(Module):
    def __init__(self):
        super().__init__()
        self.c_fc, self.c_proj = Linear(), Linear()
    def forward(self):
        self.c_fc()
        self.c_proj()
class Wide(Mlp):  # has too many attributes to share their keys with others of its class
    def __init__(self):
        super().__init__()
        for i in range(60): setattr(self, f"attribute{i}", i)
class Model(Module):
    def __init__(self):
        super().__init__()
        self.wte, self.h = Linear(), ModuleList([Mlp(), Mlp(), Wide()])
        self.held_in_a_list = [Linear()]
    def forward(self):
        self.wte()
        for one in self.h: one()
        self.held_in_a_list[0]()
model = Model()
model()
model()  # the modules of both lines are the same
play()
'''


def version_of(python):
    done = subprocess.run([python, "-c", "import sys; print(*sys.version_info[:2], hasattr(sys, '_is_gil_enabled') and not sys._is_gil_enabled())"],
                          capture_output=True, text=True)
    return tuple(done.stdout.split()) if done.returncode == 0 else ()


def pythons():
    """One program for each version, by (major, minor)."""
    found = {}
    candidates = [sys.executable, *glob.glob("/usr/bin/python3.*"), *glob.glob(os.path.expanduser("~/.pyenv/versions/*/bin/python3.*"))]
    for python in candidates:
        if not os.path.basename(python).replace("python3.", "").replace("python3", "").isdigit() and python != sys.executable:
            continue
        version = version_of(python)
        if version and version[2] == "False":
            found.setdefault((int(version[0]), int(version[1])), python)
    return found


def fields(message):
    """The fields of a message of protobuf: numbers, and bytes."""
    def number(at):
        value = shift = 0
        while True:
            byte = message[at]
            value, shift, at = value | (byte & 127) << shift, shift + 7, at + 1
            if byte < 128:
                return value, at
    at, found = 0, []
    while at < len(message):
        key, at = number(at)
        value, at = number(at)
        if key & 7 == 2:
            value, at = message[at:at + value], at + value
        found.append((key >> 3, value))
    return found


def pprof_totals(profile):
    """The sums of all samples by the name of their type."""
    parts = fields(profile)
    strings = [text.decode() for field, text in parts if field == 6]
    names = [strings[dict(fields(value))[1]] for field, value in parts if field == 1]
    totals = dict.fromkeys(names, 0)
    for field, value in parts:
        if field == 2:
            packed = dict(fields(value))[2]
            values = [number for _, number in fields(b"".join(bytes([8]) + one for one in varints(packed)))]
            for name, number in zip(names, values):
                totals[name] += number
    return totals


def varints(packed):
    begin = 0
    for at, byte in enumerate(packed):
        if byte < 128:
            yield packed[begin:at + 1]
            begin = at + 1


class Lines(processes.Case):
    def setUp(self):
        super().setUp()
        self.program, self.capture = self.folder / "program.py", self.folder / "run.gpuprof"

    def profile(self, code, *options, python=sys.executable, session=None, env=None):
        self.program.write_text(code)
        session = session or self.synthetic(launches=200, copies=4, waits=1)
        run = self.run_program(processes.path("BUILT_GPUPROF"), "profile", "-f", "-o", self.capture, *options, "--", python, self.program,
                               env={"SESSION": session, "LD_LIBRARY_PATH": processes.path("BUILT_REPLAY_LIBS"), "PYTHONDONTWRITEBYTECODE": "1",
                                    "GPUPROF_FLUSH_TIMEOUT_MS": "20000", "GPUPROF_CUDABACKTRACE": "none", **(env or {})}, timeout=120)
        self.assertEqual(run.code, 0, run.err)
        return run

    def lines(self, *options):
        run = self.run_program(processes.path("BUILT_GPUPROF"), "lines", self.capture, "-f", "json", "--timeunit", "ns", *options)
        self.assertEqual(run.code, 0, run.err)
        return json.loads(run.out)

    def marked(self, rows, code):
        """Launches by the comment at the end of the line; the frames of play() are not those of the program."""
        text = code.splitlines()
        found = {}
        for row in rows:
            place, _, line = row["Where"].partition(":")
            if place == "program.py" and "#" in text[int(line) - 1]:
                word = text[int(line) - 1].rpartition("# ")[2]
                found[word] = found.get(word, 0) + row["With Callees (ns)"]
        return found

    def check_lines(self, python):
        self.profile(PROGRAM, "--python-backtrace", "all", python=python)
        rows = self.lines()
        one = sum(row["GPU Time (ns)"] for row in rows) / sum(EXPECTED.values())
        found = {word: round(ns / one) for word, ns in self.marked(rows, PROGRAM).items()}
        self.assertEqual(found, EXPECTED)
        innermost = next(row for row in rows if row["Function"] == "play")
        self.assertEqual(innermost["Launches"], sum(EXPECTED.values()) * (KERNELS + 4))
        self.assertEqual(innermost["Source"], 'if play_session(2, words) != 0: raise SystemExit("the session cannot be played")')
        self.assertGreater(innermost["CUDA Waits (ns)"], 0)
        self.assertGreater(innermost["Idle Behind (ns)"], 0)

    def test_every_launch_has_its_line_in_each_cpython_from_3_11_on(self):
        known = {version: python for version, python in pythons().items() if version >= (3, 11)}
        if not known:
            self.skipTest("there is no CPython 3.11 or newer here")
        for version, python in known.items():
            with self.subTest(version=version):
                self.check_lines(python)

    def modules(self, *options):
        rows = self.lines("--by", "module", *options)
        one = sum(row["GPU Time (ns)"] for row in rows) / 17
        return {(row["Module"], row["Class"], row["Modules"]): (round(row["GPU Time (ns)"] / one), round(row["With Callees (ns)"] / one)) for row in rows}

    def test_every_launch_has_its_module_in_each_cpython_from_3_11_on(self):
        (self.folder / "torch/nn/modules").mkdir(parents=True)
        (self.folder / "torch/nn/modules/module.py").write_text(MODULE)
        known = {version: python for version, python in pythons().items() if version >= (3, 11)}
        if not known:
            self.skipTest("there is no CPython 3.11 or newer here")
        for version, python in known.items():
            with self.subTest(version=version):
                self.profile(MODEL, "--python-backtrace", "all", python=python)
                self.assertEqual(self.modules(), {
                    ("(no module)", "", 0): (1, 1), ("(Model)", "Model", 1): (0, 16), ("wte", "Linear", 1): (2, 2), ("h.*", "Mlp", 2): (0, 8), ("h.*", "Wide", 1): (0, 4),
                    ("h.*.c_fc", "Linear", 3): (6, 6), ("h.*.c_proj", "Linear", 3): (6, 6), ("(Linear)", "Linear", 1): (2, 2)})
                each = self.modules("--each-module")
                self.assertEqual(each["h.0.c_fc", "Linear", 1], (2, 2))
                self.assertEqual(each["h.2.c_proj", "Linear", 1], (2, 2))

    def modules_of_findings(self):
        run = self.run_program(processes.path("BUILT_GPUPROF"), "analyze", "-f", "json", "--all", "--min-gain", "0%", "--limit", "0", self.capture)
        return {one["where"]["module"] for one in json.loads(run.out)["findings"] if one["where"]["kernel"] or one["where"]["call"]}

    def test_findings_name_the_module_that_has_half_of_what_they_are_about(self):
        (self.folder / "torch/nn/modules").mkdir(parents=True)
        (self.folder / "torch/nn/modules/module.py").write_text(MODULE)
        for module, expected in (("model.h._modules['0'].c_fc", "(Linear)"), ("play", "")):
            self.profile(MODEL + f"for _ in range(300): {module}()", "--python-backtrace", "all")
            found = {name.partition(" (")[0] for name in self.modules_of_findings()}
            self.assertEqual(found, {expected})

    # A made PyTorch (tests/support/fake_torch.cpp) does operators; the node of a backward pass runs on a thread of its own.
    TORCH = PLAY + '''
import threading
torch = ctypes.CDLL(os.environ["BUILT_FAKE_TORCH"])
WORK = ctypes.CFUNCTYPE(None)
torch.fake_torch_next_number.restype = ctypes.c_uint64
torch.fake_torch_call.argtypes = (ctypes.c_char_p, ctypes.c_uint64, ctypes.c_int64, WORK)
def call(name, scope, number, work): torch.fake_torch_call(name, scope, number, WORK(work))
def play_first(): play_session(2, words)  # first
def play_second(): play_session(2, words)  # second
def forward(work):
    number = torch.fake_torch_next_number()
    def operator():
        work()
        torch.fake_torch_make_node()
    call(b"aten::linear", 0, number, lambda: call(b"aten::addmm", 0, number, operator))
    return number
def backward(number):
    thread = threading.Thread(target=call, args=(b"AddmmBackward0", 1, number, play))
    thread.start()
    thread.join()
'''
    OPERATORS = TORCH + '''
def step():
    for _ in range(10): forward(lambda: None)
    first = forward(play_first)
    second = forward(play_second)
    backward(second)
    backward(first)
    backward(first)
play()
for _ in range(2): call(b"Optimizer.step", 7, -1, step)
'''

    def operators(self, *options):
        run = self.run_program(processes.path("BUILT_GPUPROF"), *options, "-f", "json", "--timeunit", "ns", self.capture)
        self.assertEqual(run.code, 0, run.err)
        return json.loads(run.out)

    def test_operators_of_pytorch_have_their_launches_and_nodes_the_line_of_their_forward_pass(self):
        self.profile(self.OPERATORS, "--pytorch", "ops", "--python-backtrace", "all", env={"BUILT_FAKE_TORCH": processes.path("BUILT_FAKE_TORCH")})
        rows = {row["Operator"]: row for row in self.operators("stats", "-r", "torch_op_sum")}
        self.assertEqual(set(rows), {"aten::linear", "aten::addmm", "AddmmBackward0"})
        one = rows["aten::addmm"]["GPU Time (ns)"] / 4
        self.assertEqual({name: (row["Instances"], row["Launches"], round(row["GPU Time (ns)"] / one), round(row["Self GPU Time (ns)"] / one)) for name, row in rows.items()},
                         {"aten::linear": (24, 4 * (KERNELS + 4), 4, 0), "aten::addmm": (24, 4 * (KERNELS + 4), 4, 4), "AddmmBackward0": (6, 6 * (KERNELS + 4), 6, 6)})
        by_line = self.operators("lines", "--by", "op")
        text = self.OPERATORS.splitlines()
        backward = {text[int(row["Called At"].partition(":")[2]) - 1].rpartition("# ")[2]: row["Instances"] for row in by_line if row["Operator"] == "AddmmBackward0"}
        self.assertEqual(backward, {"first": 4, "second": 2})
        ranges = self.operators("stats", "-r", "nvtx_sum")
        self.assertEqual([(row["Range"], row["Instances"]) for row in ranges if ":" in row["Range"]][:1], [("record_function:Optimizer.step", 2)])
        self.assertFalse([row for row in ranges if row["Range"].startswith("torch:")])
        launches = self.operators("stats", "-r", "nvtx_kern_sum")
        inside = sum(row["Kern Inst"] for row in launches if row["NVTX Range"] == "record_function:Optimizer.step")
        self.assertEqual(inside, 4 * KERNELS)  # those of operators; nodes are on other threads

    def test_a_backward_pass_belongs_to_the_modules_whose_forward_pass_made_it_where_operators_tell(self):
        (self.folder / "torch/nn/modules").mkdir(parents=True)
        (self.folder / "torch/nn/modules/module.py").write_text(MODULE)
        model = self.TORCH + """
play()
for _ in range(10): forward(lambda: None)
made = []
def play(): made.append(forward(lambda: play_session(2, words)))
""" + MODEL.removeprefix(PLAY).replace("model()  # the modules of both lines are the same\nplay()", "for number in reversed(made): call(b'AddmmBackward0', 1, number, lambda: play_session(2, words))")
        for options, backward in (("ops", {"(no module)": 1, "wte": 2, "h.*.c_fc": 6, "h.*.c_proj": 6, "(Linear)": 2}),
                                  ("none", {"(no module)": 9, "wte": 1, "h.*.c_fc": 3, "h.*.c_proj": 3, "(Linear)": 1})):
            self.profile(model, "--pytorch", options, "--python-backtrace", "all", env={"BUILT_FAKE_TORCH": processes.path("BUILT_FAKE_TORCH")})
            rows = self.lines("--by", "module")
            one = sum(row["GPU Time (ns)"] for row in rows) / 17
            launches = {row["Module"]: round(row["GPU Time (ns)"] / one) for row in rows}
            self.assertEqual({name: launches.get(name, 0) for name in backward}, backward, options)

    def test_operators_are_recorded_only_where_they_are_wanted(self):
        self.profile(self.OPERATORS, env={"BUILT_FAKE_TORCH": processes.path("BUILT_FAKE_TORCH")})
        run = self.run_program(processes.path("BUILT_GPUPROF"), "stats", "-r", "torch_op_sum", self.capture)
        self.assertIn("holds no operators of PyTorch; gpuprof profile --pytorch ops records them", run.out + run.err)

    CAUSES = PLAY + '''
import threading, time
def sleeps():
    time.sleep(0.05)  # sleep
def computes():
    end = time.perf_counter() + 0.05
    while time.perf_counter() < end: sum(range(100))  # python
def spins():
    while not ended: pass  # holder
ended = False
def waits_for_gil():
    end = time.perf_counter() + 0.05
    while time.perf_counter() < end: sum(range(50))  # gil
def waits_for_lock():
    lock = threading.Lock()
    lock.acquire()
    threading.Timer(0.05, lock.release).start()
    with lock: pass  # lock
def reads_pipe():
    r, w = os.pipe()
    threading.Timer(0.05, os.write, (w, b"x")).start()
    os.read(r, 1)  # pipe
if CAUSE == waits_for_gil:
    for _ in range(3): threading.Thread(target=spins, daemon=True).start()
for _ in range(12):
    play()
    CAUSE()
ended = True
play()
'''

    def causes(self, function, python=sys.executable):
        code = self.CAUSES.replace("CAUSE", function)
        self.profile(code, python=python)
        run = self.run_program(processes.path("BUILT_GPUPROF"), "stats", "-r", "idle_cause_sum", "-f", "json", self.capture)
        self.assertEqual(run.code, 0, run.err)
        return code, json.loads(run.out)

    @processes.timing
    def test_what_the_cpu_does_while_the_gpu_idles_is_named_with_its_line(self):
        expected = {"sleeps": ("sleeps", "sleep"), "computes": ("runs Python", "python"), "waits_for_gil": ("waits for the GIL", "gil"),
                    "waits_for_lock": ("waits for a lock or a thread", "lock"), "reads_pipe": ("waits for a socket or pipe", "pipe")}
        for version, python in pythons().items():
            if version < (3, 11):
                continue
            for function, (words, mark) in expected.items():
                with self.subTest(version=version, function=function):
                    code, rows = self.causes(function, python)
                    first = rows[0]
                    self.assertEqual(first["The Thread"], words, rows)
                    line = int(first["Where"].partition(":")[2])
                    self.assertTrue(code.splitlines()[line - 1].endswith("# " + mark), rows)
                    if mark == "gil":
                        holder = int(first["Held By"].partition(":")[2])
                        self.assertTrue(code.splitlines()[holder - 1].endswith("# holder"), rows)

    CHILDREN = PLAY + """
import multiprocessing, time
def serve(pipe):
    while True:
        pipe.recv()
        DOES()
        pipe.send(1)
def computes():
    end = time.perf_counter() + 0.04
    while time.perf_counter() < end: sum(range(100))  # computes
def sleeps():
    time.sleep(0.04)  # sleeps
if __name__ == "__main__":
    context = multiprocessing.get_context("STARTS")
    pipes = [context.Pipe() for _ in range(2)]
    for _, theirs in pipes: context.Process(target=serve, args=(theirs,), daemon=True).start()
    for _ in range(80):
        play()
        for ours, _ in pipes: ours.send(1)
        for ours, _ in pipes: ours.recv()  # waits
    play()
"""

    def children(self, does, starts, python):
        """The shares of what two child processes did while the GPU was idle, and their code."""
        code = self.CHILDREN.replace("DOES", does).replace("STARTS", starts)
        self.profile(code, python=python)
        run = self.run_program(processes.path("BUILT_GPUPROF"), "stats", "-r", "idle_cause_sum", self.capture)
        said = re.search(r"its (?:\d+ )?child process(?:es)? meanwhile: (.*)", run.out + run.err)
        self.assertIsNotNone(said, run.out + run.err)
        return {words: int(share) for share, words in re.findall(r"(\d+) % ([^,]*)", said[1])}, code

    @processes.timing
    def test_child_processes_are_seen_with_their_lines_while_the_program_waits_for_them(self):
        kinds = (("fork", "computes", ("runs Python at", "wants a core at")), ("fork", "sleeps", ("sleeps at",)),
                 ("spawn", "computes", ("runs Python at", "wants a core at")), ("forkserver", "computes", ("runs Python at", "wants a core at")))
        for version, python in pythons().items():
            if version < (3, 11):
                continue
            for starts, does, words in kinds:
                with self.subTest(version=version, starts=starts, does=does):
                    shares, code = self.children(does, starts, python)
                    with_line = {what: share for what, share in shares.items() if " at " in what}
                    right = [share for what, share in with_line.items()
                             if what.startswith(words) and code.splitlines()[int(what.rpartition(":")[2]) - 1].endswith("# " + does)]
                    self.assertGreater(sum(with_line.values()), 50, shares)  # in the first half second they have none
                    self.assertGreater(sum(right), 0.7 * sum(with_line.values()), shares)

    @processes.timing
    def test_frames_of_the_parent_at_a_fork_are_not_on_the_stack_of_the_child(self):
        self.children("computes", "fork", sys.executable)
        run = self.run_program(processes.path("BUILT_GPUPROF"), "export", "-t", "speedscope", "-o", self.folder / "stacks.json", self.capture)
        self.assertEqual(run.code, 0, run.err)
        exported = json.loads((self.folder / "stacks.json").read_text())
        names = [frame["name"] for frame in exported["shared"]["frames"]]
        stacks = [{names[frame] for frame in sample} for profile in exported["profiles"] for sample in profile["samples"]]
        of_children = [stack for stack in stacks if any("serve" in name for name in stack)]
        self.assertTrue(of_children)
        for stack in of_children:
            self.assertFalse([name for name in stack if "<module>" in name], stack)

    def test_no_threads_are_sampled_if_none_are_wanted(self):
        self.profile(PROGRAM, "--sample", "none")
        run = self.run_program(processes.path("BUILT_GPUPROF"), "stats", "-r", "idle_cause_sum", self.capture)
        self.assertIn("holds no looks at threads", run.out + run.err)
        for format, wanted in (("csv", ""), ("tsv", ""), ("json", "[]")):
            run = self.run_program(processes.path("BUILT_GPUPROF"), "stats", "-r", "idle_cause_sum", "-f", format, self.capture)
            self.assertEqual((run.code, "".join(run.out.split())), (0, wanted), run.err)

    def test_exports_of_stacks_have_the_times_of_the_lines(self):
        self.profile(PROGRAM, "--python-backtrace", "all")
        rows = self.lines()
        whole = {name: sum(row[name] for row in rows) for name in ("GPU Time (ns)", "Idle Behind (ns)", "CUDA Waits (ns)", "CPU Time (ns)", "Launches")}
        for kind in ("folded", "speedscope", "pprof"):
            run = self.run_program(processes.path("BUILT_GPUPROF"), "export", "-t", kind, "-o", self.folder / kind, self.capture)
            self.assertEqual(run.code, 0, run.err)
        folded = [line.rpartition(" ") for line in (self.folder / "folded").read_text().splitlines()]
        self.assertAlmostEqual(sum(int(ns) for _, _, ns in folded), whole["GPU Time (ns)"], delta=len(folded))
        self.assertTrue(any(stack.startswith("<module> (program.py:") and ";leaf (program.py:" in stack for stack, _, _ in folded), folded)
        profiles = json.loads((self.folder / "speedscope").read_text())["profiles"]
        by_name = {"GPU time": "GPU Time (ns)", "GPU idle behind": "Idle Behind (ns)", "CUDA waits": "CUDA Waits (ns)", "CPU time": "CPU Time (ns)", "launches": "Launches"}
        self.assertEqual({profile["name"] for profile in profiles}, set(by_name))
        for profile in profiles:
            self.assertEqual(profile["endValue"], sum(profile["weights"]))
            self.assertAlmostEqual(profile["endValue"], whole[by_name[profile["name"]]], delta=len(profile["samples"]) + 1)
        totals = pprof_totals((self.folder / "pprof").read_bytes())
        self.assertEqual(set(totals), set(by_name))
        for name, total in totals.items():
            self.assertAlmostEqual(total, whole[by_name[name]], delta=200)

    def test_a_page_has_the_stacks_with_the_times_of_the_lines_and_their_source(self):
        self.profile(PROGRAM, "--python-backtrace", "all")
        whole = {name: sum(row[name] for row in self.lines()) for name in ("GPU Time (ns)", "Idle Behind (ns)", "CUDA Waits (ns)")}
        run = self.run_program(processes.path("BUILT_GPUPROF"), "report", "-o", self.folder / "page.html", self.capture)
        if "draws no pages" in run.err:
            self.skipTest("this build draws no pages")
        self.assertEqual(run.code, 0, run.err)
        packed = re.search(r'id="data-stacks">([A-Za-z0-9+/=]*)<', (self.folder / "page.html").read_text())[1]
        document = json.loads(zlib.decompress(base64.b64decode(packed)))
        places = document["lines"]
        for name, column in {"gpu_ns": "GPU Time (ns)", "idle_ns": "Idle Behind (ns)", "wait_ns": "CUDA Waits (ns)"}.items():
            self.assertAlmostEqual(sum(place[name] for place in places if place["parent"] is None), whole[column], delta=len(places))
            for at, place in enumerate(places):
                inside = sum(one[name] for one in places if one["parent"] == at)
                self.assertAlmostEqual(place[name], inside + place["own_" + name], delta=len(places))
        leaf = next(place for place in places if place["kind"] == "line" and place["name"].endswith(" leaf"))
        self.assertTrue(leaf["is_own"])
        self.assertEqual(document["source"][leaf["file"]][str(leaf["line"])], "play()  # leaf")
        self.assertTrue(any(place["kind"] == "kernel" for place in places))
        self.assertNotIn("modules", document)

    def test_an_older_cpython_has_no_stacks_and_one_line_says_so(self):
        old = [python for version, python in pythons().items() if (3, 8) <= version < (3, 11)]
        if not old:
            self.skipTest("there is no CPython older than 3.11 here")
        run = self.profile(PROGRAM, python=old[0])
        self.assertEqual(run.err.count("Python stacks are off: this CPython is older than 3.11"), 1, run.err)
        run = self.run_program(processes.path("BUILT_GPUPROF"), "lines", self.capture)
        self.assertEqual((run.code, run.out), (1, ""))
        self.assertIn("holds no Python stacks", run.err)

    def test_no_stacks_are_recorded_if_none_are_wanted(self):
        self.profile(PROGRAM, "--python-backtrace", "none")
        run = self.run_program(processes.path("BUILT_GPUPROF"), "lines", self.capture)
        self.assertEqual((run.code, run.out), (1, ""))

    def test_threads_without_python_have_the_line_that_waits_for_them(self):
        code = PLAY + "play()  # one\nplay()  # two\nplay()  # two too\n"
        self.profile(code, "--python-backtrace", "all", session=self.synthetic(threads=4, launches=400))
        rows = self.lines()
        self.assertEqual({row["Function"] for row in rows if row["GPU Time (ns)"] > 0}, {"play"})
        found = self.marked(rows, code)
        self.assertEqual(set(found), {"one", "two", "two too"})
        third = sum(found.values()) / 3
        for word, ns in found.items():  # a millisecond of each may count for the line before
            self.assertAlmostEqual(ns / third, 1, delta=0.2, msg=word)

    def test_groups_filters_and_own_folders(self):
        self.profile(PROGRAM, "--python-backtrace", "all")
        by_function = {row["Function"]: row for row in self.lines("--by", "function")}
        self.assertEqual(by_function["deep"]["With Callees (ns)"] * 3, 2 * by_function["leaf"]["With Callees (ns)"])
        self.assertEqual([row["Where"] for row in self.lines("--by", "file")], ["program.py", "<string>"])
        nowhere = self.lines("--own", "/nowhere")  # without own code the innermost frame counts
        # Looks at the thread may find it elsewhere: such rows have CPU time only.
        self.assertEqual({row["Function"] for row in nowhere if row["With Callees (ns)"] > 0}, {"play"})
        run = self.run_program(processes.path("BUILT_GPUPROF"), "lines", self.capture)
        self.assertEqual(run.out.count("no bytes, FLOP and shares of the roof: the capture holds no hardware counters"), 1, run.out)
        self.assertNotIn("MFU", run.out)
        run = self.run_program(processes.path("BUILT_GPUPROF"), "lines", self.capture, "--by", "lines")
        self.assertEqual(run.code, 2)
        self.assertIn("did you mean line?", run.err)

    def test_a_line_that_launches_nearly_everything_is_said_to_hide_the_rest(self):
        for script, is_said in ((PROGRAM, True), (PLAY + "play_session(2, words)\nplay_session(2, words)\n", False)):
            self.profile(script, "--python-backtrace", "all")
            run = self.run_program(processes.path("BUILT_GPUPROF"), "lines", self.capture)
            self.assertEqual("one line has 100.0% of the GPU time: --by module" in run.out, is_said, run.out)

    def test_source_lines_are_those_of_the_run(self):
        self.profile(PROGRAM, "--python-backtrace", "all")
        before = {row["Where"]: row["Source"] for row in self.lines()}
        self.assertIn("play()  # method", before.values())
        self.program.unlink()
        self.assertEqual({row["Where"]: row["Source"] for row in self.lines()}, before)

    def test_a_changed_file_gives_no_source_if_none_is_stored(self):
        self.profile(PROGRAM, "--python-backtrace", "all", "--source", "none")
        self.assertIn("play()  # method", {row["Source"] for row in self.lines()})
        self.program.write_text("# another program\n" * 60)
        self.assertEqual({row["Source"] for row in self.lines()}, {""})

    def test_a_program_that_ends_python_and_goes_on_is_unharmed(self):
        code = PLAY + '''
import atexit, threading
class Late:
    def __del__(self): play()
late = Late()
threading.Thread(target=play, daemon=True).start()
atexit.register(play)
play()
'''
        self.profile(code, "--python-backtrace", "all")


processes.main()

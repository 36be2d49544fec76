#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Python stacks of programs that do unusual things with Python, threads and processes, and where the kernel forbids what is read."""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import sysconfig

import processes

sys.path.insert(0, processes.path("EXPORT_TESTS"))
import clients  # noqa: E402

PLAY = '''
import ctypes, os, sys, time, threading
library = ctypes.CDLL(os.environ["BUILT_PLAY_MODULE"])
play_session, words = library._Z12play_sessioniPPc, (ctypes.c_char_p * 3)(b"play", os.fsencode(os.environ["SESSION"]), None)
def play():
    if play_session(2, words) != 0: raise SystemExit("the session cannot be played")
def busy(seconds):
    end = time.perf_counter() + seconds
    while time.perf_counter() < end: sum(range(1000))
'''
LAUNCHES, WORK = 20, 27  # of one synthetic session


def version_of(python):
    run = subprocess.run([python, "-c", "import sys; print(*sys.version_info[:2])"], capture_output=True, text=True)
    return tuple(map(int, run.stdout.split())) if run.returncode == 0 else (0, 0)


def pythons():
    """CPython 3.11 and newer, by version."""
    candidates = [sys.executable, *map(str, pathlib.Path("/usr/bin").glob("python3.??")),
                  *map(str, pathlib.Path.home().glob(".pyenv/versions/*/bin/python3.??"))]
    found = {}
    for python in candidates:
        found.setdefault(version_of(python), python)
    return {version: python for version, python in found.items() if version >= (3, 11)}


class Odd(processes.Case):
    def setUp(self):
        super().setUp()
        self.program, self.capture = self.folder / "program.py", self.folder / "run.gpuprof"
        if not pythons():
            self.skipTest("there is no CPython 3.11 or newer here")

    def profile(self, code, *options, python=sys.executable, before=(), command=None, env=None, code_wanted=0):
        self.program.write_text(code)
        run = self.run_program(*before, processes.path("BUILT_GPUPROF"), "profile", "-f", "-o", self.capture, "--python-backtrace", "all", *options,
                               "--", *(command or (python, self.program)),
                               env={"SESSION": self.synthetic(launches=LAUNCHES), "LD_LIBRARY_PATH": processes.path("BUILT_REPLAY_LIBS"),
                                    "PYTHONDONTWRITEBYTECODE": "1", "GPUPROF_FLUSH_TIMEOUT_MS": "20000", **(env or {})}, timeout=120)
        self.assertEqual(run.code, code_wanted, run.err)
        self.assertNotIn("Segmentation", run.err)
        return run

    def report(self, *words):
        run = self.run_program(processes.path("BUILT_GPUPROF"), *words, self.capture, "-f", "json", "--timeunit", "ns")
        self.assertEqual(run.code, 0, run.err)
        return json.loads(run.out)

    def launches(self, *options):
        """How often the session was played from each line: by the comment at its end, else by file and line."""
        rows = [row for row in self.report("lines", *options) if row["With Callees (ns)"] > 0]
        text = self.program.read_text().splitlines()
        whole = sum(row["Launches"] for row in rows)
        self.assertEqual(whole % WORK, 0, rows)
        one = sum(row["GPU Time (ns)"] for row in rows) * WORK / whole
        found = {}
        for row in rows:
            place, _, line = row["Where"].partition(":")
            said = text[int(line) - 1].rpartition("# ") if place == "program.py" else ("", "", row["Where"])
            if said[2] != said[0] and (said[1] or place != "program.py"):
                found[said[2]] = found.get(said[2], 0) + row["With Callees (ns)"] / one
        return {name: round(times, 1) for name, times in found.items()}

    def looks(self):
        return self.report("stats", "-r", "idle_cause_sum")

    def test_code_objects_that_die_leave_their_place_to_others(self):
        code = PLAY + '''
for i in range(60):
    made = compile("\\n" * (i % 7) + "play()", f"made{i % 5}.py", "exec")
    exec(made)  # exec
    del made
'''
        for version, python in pythons().items():
            with self.subTest(version):
                self.profile(code, python=python)
                wanted = {}
                for i in range(60):
                    place = f"made{i % 5}.py:{i % 7 + 1}"
                    wanted[place] = wanted.get(place, 0) + 1
                self.assertEqual(self.launches(), {**wanted, "exec": 60})
                sources = {row["Where"]: row["Source"] for row in self.report("lines")}
                self.assertEqual({sources[place] for place in wanted}, {""})  # these files are not there

    def test_greenlets_have_the_line_that_runs(self):
        greenlet = clients.folder_of("greenlet")
        code = PLAY + '''
import greenlet
def first():
    play()  # first
    two.switch()
    for _ in range(3): play()  # again
    busy(0.1)
    two.switch()
def second():
    def deep(n):
        if n: return deep(n - 1)
        play()  # second
        one.switch()
        play()  # last
    deep(40)
one, two = greenlet.greenlet(first), greenlet.greenlet(second)
one.switch()
play()  # outside
'''
        self.profile(code, env={"PYTHONPATH": str(greenlet)})
        self.assertEqual({name: n for name, n in self.launches().items() if name in ("first", "again", "second", "last", "outside")},
                         {"first": 1, "again": 3, "second": 1, "last": 1, "outside": 1})

    def test_what_cython_calls_belongs_to_the_line_of_python_that_called_it(self):
        cython = clients.folder_of("cython")
        (self.folder / "compiled.pyx").write_text("def call(work, n):\n    for i in range(n):\n        inner(work)\ncdef inner(work):\n    work()\n")
        made = self.run_program(sys.executable, "-m", "cython", "-3", "compiled.pyx", env={"PYTHONPATH": str(cython)})
        self.assertEqual(made.code, 0, made.err)
        compiled = self.run_program("cc", "-shared", "-fPIC", "-O1", "-I" + sysconfig.get_path("include"), "-o",
                                    "compiled" + sysconfig.get_config_var("EXT_SUFFIX"), "compiled.c", timeout=120)
        self.assertEqual(compiled.code, 0, compiled.err)
        self.profile(PLAY + '''
import compiled
compiled.call(play, 3)  # from cython
compiled.call(lambda: play(), 2)  # lambda in cython
''')
        self.assertEqual({name: n for name, n in self.launches().items() if "cython" in name}, {"from cython": 3, "lambda in cython": 2})

    def test_subinterpreters_do_no_harm(self):
        code = PLAY + '''
try:
    import _xxsubinterpreters as interpreters
    make = lambda: interpreters.create(isolated=False)
except ImportError:
    import _interpreters as interpreters
    make = lambda: interpreters.create("legacy")
play()  # before
for _ in range(3):
    one = make()
    interpreters.run_string(one, "for i in range(100000): pass")
    threads = [threading.Thread(target=interpreters.run_string, args=(one, "sum(range(300000))"))]
    for thread in threads: thread.start()
    busy(0.05)
    for thread in threads: thread.join()
    interpreters.destroy(one)
play()  # after
'''
        for version, python in pythons().items():
            with self.subTest(version):
                self.profile(code, python=python)
                self.assertEqual({name: n for name, n in self.launches().items() if name in ("before", "after")}, {"before": 1, "after": 1})

    EMBEDDED = '''
#include <Python.h>
#include <pthread.h>
#include <stdio.h>
static void* idle(void* unused) { usleep(100000); return unused; }
int main(int count, char** words) {
  for (int i = 0; i < 3; ++i) {
    Py_Initialize();
    FILE* file = fopen(words[1], "r");
    if (PyRun_SimpleFileEx(file, words[1], 1) != 0) return 1;
    Py_BEGIN_ALLOW_THREADS
    usleep(50000);
    Py_END_ALLOW_THREADS
    Py_Finalize();
    pthread_t thread;  /* looked at while there is no Python */
    pthread_create(&thread, NULL, idle, NULL);
    pthread_join(thread, NULL);
  }
  return count == 2 ? 0 : 1;
}
'''

    def test_a_program_that_embeds_python_and_begins_it_anew_has_stacks(self):
        config = pathlib.Path("/usr/bin/python3.11-config")
        if not config.exists():
            self.skipTest("there is no python3.11-config here")
        (self.folder / "embeds.c").write_text("#include <unistd.h>\n" + self.EMBEDDED)
        flags = subprocess.run([config, "--includes", "--ldflags", "--embed"], capture_output=True, text=True).stdout.split()
        made = self.run_program("cc", "-D_GNU_SOURCE", "embeds.c", "-o", "embeds", *flags)
        self.assertEqual(made.code, 0, made.err)
        code = PLAY + "play()  # embedded\nbusy(0.05)\n"
        self.profile(code, command=(self.folder / "embeds", self.program))
        self.assertEqual(self.launches().get("embedded"), 3)

    def test_a_program_that_ends_by_os_exit_keeps_its_stacks(self):
        for version, python in pythons().items():
            with self.subTest(version):
                self.profile(PLAY + "play()  # last\ntime.sleep(4)\nthreading.Thread(target=busy, args=(1,)).start()\nos._exit(7)\n", python=python, code_wanted=7)
                self.assertEqual(self.launches().get("last"), 1)

    def test_children_of_a_fork_amid_looks_run_on_and_are_not_recorded_as_the_parent(self):
        code = PLAY + '''
play()  # parent
threading.Thread(target=busy, args=(2,), daemon=True).start()
for i in range(40):
    busy(0.01)
    child = os.fork()
    if child == 0:
        busy(0.005)
        os._exit(i % 3)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == i % 3
play()  # parent
'''
        for version, python in pythons().items():
            with self.subTest(version):
                self.profile(code, python=python)
                self.assertEqual(self.launches().get("parent"), 2)

    def test_a_program_that_takes_another_name_is_looked_at(self):
        code = PLAY + '''
play()
for name in (b") R 0 (", b"\\n\\xff\\xfe", b"a) D 1 2 3"):
    assert ctypes.CDLL(None).prctl(15, name, 0, 0, 0) == 0
    time.sleep(0.2)  # renamed
    play()
'''
        self.profile(code)
        first = self.looks()[0]
        line = int(first["Where"].partition(":")[2])
        self.assertEqual((first["The Thread"], code.splitlines()[line - 1].rpartition("# ")[2]), ("sleeps", "renamed"))

    def test_threads_that_end_while_they_are_read_do_no_harm(self):
        code = PLAY + '''
def short(n):
    play()  # in a thread
    if n % 3: busy(0.001)
for _ in range(15):
    threads = [threading.Thread(target=short, args=(i,)) for i in range(8)]
    for thread in threads: thread.start()
    for thread in threads: thread.join()
'''
        for version, python in pythons().items():
            with self.subTest(version):
                self.profile(code, python=python)
                self.assertEqual(self.launches().get("in a thread"), 120)

    def test_where_the_kernel_reads_no_memory_for_us_a_threads_own_stack_is_recorded(self):
        # A filter of system calls, as in containers: process_vm_readv fails with EPERM.
        launcher = self.folder / "filtered.py"
        launcher.write_text('''
import ctypes, os, struct, sys
call = {"x86_64": 310, "aarch64": 270}[os.uname().machine]
rules = [(0x20, 0, 0, 0), (0x15, 0, 1, call), (0x06, 0, 0, 0x00050000 | 1), (0x06, 0, 0, 0x7fff0000)]
code = b"".join(struct.pack("HBBI", *rule) for rule in rules)
buffer = ctypes.create_string_buffer(code)
class Program(ctypes.Structure): _fields_ = [("length", ctypes.c_ushort), ("rules", ctypes.c_void_p)]
program = Program(len(rules), ctypes.addressof(buffer))
prctl = ctypes.CDLL(None, use_errno=True).prctl
assert prctl(38, 1, 0, 0, 0) == 0 and prctl(22, 2, ctypes.byref(program), 0, 0) == 0
os.execv(sys.argv[1], sys.argv[1:])
''')
        code = PLAY + "for _ in range(3):\n    play()  # own\n    time.sleep(0.5)\nthreading.Thread(target=play).start()  # started\n"
        control = self.profile(code)
        self.assertTrue([row for row in self.looks() if row["Where"]])
        self.profile(code, before=(sys.executable, launcher))
        self.assertEqual(self.launches().get("own"), 3)
        looks = self.looks()
        self.assertIn("sleeps", [row["The Thread"] for row in looks])  # the kernel still says what a thread does
        self.assertFalse([row for row in looks if row["Where"]], looks)
        self.assertEqual(control.code, 0)

    def test_looks_send_no_signal_and_interrupt_no_call(self):
        if shutil.which("strace") is None:
            self.skipTest("there is no strace here")
        code = PLAY + """
import select
r, w = os.pipe()
end = time.perf_counter() + 2
def repeat(work):
    while time.perf_counter() < end:
        play()
        work()
def locks():
    lock = threading.Lock()
    lock.acquire()
    lock.acquire(timeout=0.03)
work = (lambda: time.sleep(0.03), lambda: (os.write(w, b"x"), os.read(r, 1)), locks, lambda: select.select([], [], [], 0.03), lambda: busy(0.03))
threads = [threading.Thread(target=repeat, args=(one,)) for one in work]
for thread in threads: thread.start()
for thread in threads: thread.join()
os.kill(os.getpid(), 0 if len(sys.argv) == 1 else 28)  # SIGWINCH does nothing
"""
        python = self.run_program(sys.executable, "-c", "import sys; print(sys.executable)").out.strip()  # not a script that starts it
        for words, signals in (((), 0), (("signal",), 1)):  # the second is the control
            self.profile(code, command=("strace", "-f", "-o", self.folder / "calls", python, self.program, *words))
            calls = (self.folder / "calls").read_text(errors="replace")
            self.assertEqual((calls.count("--- SIG"), len(re.findall("EINTR|ERESTART", calls))), (signals, 0))
            self.assertGreater(calls.count("process_vm_readv("), 20)

    def test_other_processes_that_are_hidden_hide_nothing(self):
        python = "/usr/bin/python3.11"
        hide = ("unshare", "--mount", "--pid", "--fork", "sh", "-c", 'mount -t proc -o hidepid=2 proc /proc && exec setpriv --reuid 65534 --regid 65534 --clear-groups "$@"', "sh")
        if not os.path.exists(python) or self.run_program(*hide, "true").code != 0:
            self.skipTest("no namespace of its own can be made here")
        os.chmod(self.folder, 0o777)
        for parent in (self.folder, *self.folder.parents):
            if not os.access(parent, os.X_OK) or not parent.stat().st_mode & 1:
                self.skipTest(f"nobody may not enter {parent}")
        code = PLAY + "for _ in range(4):\n    play()  # hidden\n    time.sleep(0.1)  # sleep\n"
        self.synthetic(launches=LAUNCHES)
        self.profile(code, python=python, before=hide, env={"HOME": str(self.folder)})
        self.assertEqual(self.launches().get("hidden"), 4)
        self.assertEqual(self.looks()[0]["The Thread"], "sleeps")


processes.main()

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Reports on terminals of several widths: nothing wraps, nothing that a pipe gets is lost.

terminal_test.py GPUPROF CAPTURES
"""
import fcntl
import os
import pathlib
import pty
import re
import signal
import struct
import subprocess
import sys
import termios
import time
import unittest

GPUPROF, CAPTURES = sys.argv[1], pathlib.Path(sys.argv[2])
BOLD = re.compile("\x1b\\[[01]m")


def on_terminal(columns, *words, code=0, **variables):
    """What `gpuprof WORDS` writes to a terminal of so many columns."""
    try:
        ours, theirs = pty.openpty()
    except OSError as none:
        raise unittest.SkipTest(f"this machine gives no terminals: {none}")
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
    environment = {**os.environ, "TERM": "xterm", **variables}
    if "NO_COLOR" not in variables:
        environment.pop("NO_COLOR", None)
    # This end stays open, and a last line says that all has come: a terminal whose other end is closed may be read as ended
    # before what was written to it has gone through.
    program = subprocess.Popen(["sh", "-c", '"$@"; printf "ended: %d\\n" $?', "sh", GPUPROF, *words], stdout=theirs,
                               stderr=subprocess.DEVNULL, env=environment)
    text = b""
    while not (ended := re.search(rb"ended: (\d+)\r\n$", text)):
        text += os.read(ours, 1 << 16)
    program.wait()
    os.close(theirs)
    os.close(ours)
    assert int(ended[1]) == code, (words, ended[0], text)
    return text[:ended.start()].decode().replace("\r\n", "\n")


def in_pipe(*words):
    return subprocess.run([GPUPROF, *words], capture_output=True, text=True, check=True).stdout


def table_lines(text):
    """Those from a line of dashes on."""
    lines = text.splitlines()
    first = next(i for i, line in enumerate(lines) if set(line) == set(" -"))
    return lines[first + 1:]


class Terminal(unittest.TestCase):
    def test_no_line_is_wider_than_the_terminal(self):
        for capture in sorted(CAPTURES.glob("*.gpuprof")):
            for command in (["stats"], ["stats", "-r", "gpu_metrics_sum,cuda_gpu_trace"], ["roofline"], ["roofline", "--by", "signature"], ["analyze"],
                            ["analyze", "--by", "range"]):
                for columns in (80, 120, 200):
                    lines = BOLD.sub("", on_terminal(columns, *command, str(capture))).splitlines()
                    self.assertGreater(len(lines), 5)
                    for line in lines:
                        self.assertLessEqual(len(line), columns, (capture, command, line))

    def test_long_work_behind_the_reading_shows_on_the_terminal_and_is_erased(self):
        ours, theirs = pty.openpty()
        run = subprocess.run([GPUPROF, "analyze", "-f", "json", str(CAPTURES / "mixed_sampled.gpuprof")], stdout=subprocess.DEVNULL, stderr=theirs)
        self.assertEqual(run.returncode, 0)
        os.write(theirs, b"end")
        text = b""
        while not text.endswith(b"end"):
            text += os.read(ours, 1 << 16)
        os.close(theirs)
        os.close(ours)
        for work in (b"dividing the counters of ", b"replaying the steps of "):
            self.assertIn(work, text)
        self.assertTrue(text.endswith(b"\r\x1b[Kend"), text)
        piped = subprocess.run([GPUPROF, "analyze", "-f", "json", str(CAPTURES / "mixed_sampled.gpuprof")], capture_output=True)
        self.assertNotIn(b"replaying", piped.stderr)

    def test_status_breaks_its_lines_and_keeps_its_columns(self):
        piped = subprocess.run([GPUPROF, "status"], capture_output=True, text=True)
        lines = on_terminal(80, "status", code=piped.returncode).splitlines()
        self.assertTrue(all(len(line) <= 80 or " " not in line[22:] for line in lines), lines)
        self.assertGreater(len(lines), piped.stdout.count("\n"))
        self.assertTrue(all(line[0] != " " or line.startswith(13 * " ") for line in lines), lines)
        self.assertEqual(" ".join(" ".join(lines).split()), " ".join(piped.stdout.split()))

    def test_wide_output_and_pipes_show_whole_names(self):
        capture = str(CAPTURES / "mixed_sampled.gpuprof")
        whole = in_pipe("roofline", capture)
        self.assertIn("void mixed_read<3>(uint4 const*, unsigned long, unsigned int*)", whole)
        self.assertIn(table_lines(whole)[0], BOLD.sub("", on_terminal(80, "roofline", "--wide", capture)))
        narrow = on_terminal(80, "roofline", capture)
        self.assertIn("--wide shows all", narrow)
        self.assertNotIn("unsigned long", narrow)
        # Figures that are fitted, and so the widths, differ a little between machines: the names are told apart at any.
        kernels = re.findall(r"mixed_\w+<(\d)>", narrow)
        self.assertEqual(sorted(kernels), [str(i) for i in range(8)], narrow)

    def test_an_interrupted_table_in_a_pipe_says_that_it_is_incomplete(self):
        # The pipe is not read, so the command waits in the middle of its table.
        run = subprocess.Popen([GPUPROF, "stats", "-r", "cuda_gpu_trace", "-f", "csv", str(CAPTURES / "mixed_sampled.gpuprof")],
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        waiting = struct.Struct("i")
        before, deadline = -1, time.monotonic() + 60
        while time.monotonic() < deadline:
            full = waiting.unpack(fcntl.ioctl(run.stdout, termios.FIONREAD, bytes(waiting.size)))[0]
            if full == before > 0:
                break
            before = full
            time.sleep(0.2)
        self.assertIsNone(run.poll(), "the table fits into the pipe")
        run.send_signal(signal.SIGINT)
        self.assertEqual(run.wait(60), -signal.SIGINT)
        self.assertTrue(run.stderr.read().endswith("gpuprof: interrupted, the output to standard output is incomplete\n"))
        run.stdout.close()
        run.stderr.close()

    def test_headings_are_bold_unless_the_terminal_or_the_user_forbids_it(self):
        capture = str(CAPTURES / "mixed_exact.gpuprof")
        self.assertRegex(on_terminal(120, "roofline", capture), BOLD)
        for variables in ({"NO_COLOR": "1"}, {"TERM": "dumb"}):
            self.assertNotRegex(on_terminal(120, "roofline", capture, **variables), BOLD)
        self.assertNotRegex(in_pipe("roofline", capture), BOLD)

    def test_a_terminal_shows_twenty_lines_and_the_number_of_the_others(self):
        capture = str(CAPTURES / "mixed_exact.gpuprof")
        report = ["stats", "-r", "cuda_gpu_trace"]
        short = table_lines(on_terminal(200, *report, "--wide", capture, NO_COLOR="1"))
        self.assertRegex(short[20], r"\.\.\. and [\d,]+ more; --limit 0 shows all")
        self.assertIn("... and", table_lines(on_terminal(200, *report, "--wide", "--limit", "3", capture))[3])
        self.assertGreater(len(table_lines(in_pipe(*report, capture))), 1000)
        self.assertEqual(in_pipe(*report, "-f", "csv", "--limit", "3", capture).count("\n"), 4)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:], verbosity=2)

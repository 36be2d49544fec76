#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""gpuprof profile and status as a user meets them, without a GPU: what is refused, what is passed on.

profile_test.py GPUPROF PROBE_LIBRARY STATIC_PROGRAM
"""
import json
import os
import pathlib
import re
import signal
import stat
import subprocess
import sys
import tempfile
import time
import unittest

GPUPROF, PROBE, STATIC_PROGRAM = sys.argv[1:4]
NOTHING_RECORDED = 125
# What the library does, in a shell; the text follows.
NOTE_CAPTURE = "printf 'c%s\\000' >> $GPUPROF_RUN_NOTES "
NOTE_NOTHING = "printf 'n%s\\000' >> $GPUPROF_RUN_NOTES "


class InFolder(unittest.TestCase):
    def setUp(self):
        self._folder = tempfile.TemporaryDirectory()
        self.addCleanup(self._folder.cleanup)
        self.folder = pathlib.Path(self._folder.name).resolve()
        self.environment = {name: value for name, value in os.environ.items()
                            if not name.startswith("GPUPROF_") and "INJECTION64" not in name
                            and name not in ("LD_PRELOAD", "RANK", "WORLD_SIZE")}
        self.environment["GPUPROF_LIBRARY"] = PROBE
        self.environment["PROBE_LOG"] = str(self.folder / "probe.log")

    def run_gpuprof(self, *words, **more):
        return subprocess.run([GPUPROF, *words], cwd=self.folder, env=self.environment, text=True,
                              capture_output=True, timeout=60, **more)

    def profile(self, *words, **more):
        return self.run_gpuprof("profile", *words, **more)

    def told(self):
        """The variables the program saw, the last value of each."""
        log = self.folder / "probe.log"
        if not log.exists():
            return {}
        return dict(line.split("=", 1) for line in log.read_text().splitlines() if "=" in line)

    def script(self, name, text, mode=0o755):
        path = self.folder / name
        path.write_text(text)
        path.chmod(mode)
        return str(path)

    def assert_refused(self, run, code, *words):
        """One line on stderr that says all of `words`; the program was not started."""
        self.assertEqual(run.returncode, code, run.stderr)
        lines = run.stderr.splitlines()
        self.assertEqual(len(lines), 1, run.stderr)
        self.assertTrue(lines[0].startswith("gpuprof: "), lines[0])
        for word in words:
            self.assertIn(word, lines[0])
        self.assertEqual(run.stdout, "")
        self.assertEqual(self.told(), {})


class ExitCodes(InFolder):
    def test_the_exit_code_of_the_program_is_returned(self):
        for code in (1, 3, 255):
            self.assertEqual(self.profile("sh", "-c", f"exit {code}").returncode, code)
        self.assertEqual(self.profile("sh", "-c", NOTE_CAPTURE + "/gone.gpuprof").returncode, 0)

    def test_a_program_that_succeeds_and_leaves_no_capture_gives_125(self):
        self.assertEqual(self.profile("true").returncode, NOTHING_RECORDED)
        self.assertIn("125", self.run_gpuprof("profile", "--help").stdout)

    def test_a_program_ended_by_a_signal_gives_128_and_its_number(self):
        killed = self.profile("sh", "-c", "kill -9 $$")
        self.assertEqual(killed.returncode, 128 + 9)
        self.assertIn("gpuprof: the program was ended by signal 9 (Killed)\n", killed.stderr)
        self.assertEqual(self.profile("sh", "-c", "kill -SEGV $$").returncode, 128 + 11)

    def test_a_program_that_is_not_there_gives_127(self):
        self.assert_refused(self.profile("no-such-program"), 127, "not in PATH")
        self.assert_refused(self.profile("./no-such-program"), 127, "does not exist")
        self.script("here", "#!/bin/sh\n")
        self.assert_refused(self.profile("here"), 127, "Did you mean ./here?")

    def test_a_file_that_cannot_be_executed_gives_126(self):
        self.script("plain.txt", "text", mode=0o644)
        self.assert_refused(self.profile("./plain.txt"), 126, "chmod +x")
        self.assert_refused(self.profile("/"), 126, "folder")

    def test_a_missing_interpreter_gives_127(self):
        run = self.profile(self.script("s", "#!/no/such/interpreter\n"))
        self.assertEqual(run.returncode, 127)
        self.assertIn("interpreter", run.stderr)

    def test_a_script_without_an_interpreter_line_runs_as_in_a_shell(self):
        self.assertEqual(self.profile(self.script("s", "exit $1\n"), "9").returncode, 9)


class CommandLine(InFolder):
    def test_words_after_the_program_are_its_own(self):
        for dashes in ([], ["--"]):
            run = self.profile("-t", "cuda", *dashes, "printf", "%s|", "-o", "--", "--trace=x", "stats", "")
            self.assertEqual(run.stdout, "-o|--|--trace=x|stats||", run.stderr)

    def test_standard_input_and_output_belong_to_the_program(self):
        run = self.profile("cat", input="hello")
        self.assertEqual(run.stdout, "hello")

    def test_no_program_is_refused(self):
        self.assert_refused(self.profile(), 2, "no program")
        self.assert_refused(self.profile("--"), 2, "no program")
        self.assert_refused(self.profile("-o", "x"), 2, "no program")

    def test_unknown_options_are_refused_with_the_nearest_name(self):
        self.assert_refused(self.profile("--trce=cuda", "true"), 2, "--trce", "did you mean --trace?")
        self.assert_refused(self.profile("--qqqqqqqq", "true"), 2, "--qqqqqqqq")

    def test_words_of_other_profilers_are_refused_with_what_is_here_in_their_place(self):
        helps = {command: self.run_gpuprof(command, "--help").stdout for command in ("profile", "stats", "lines", "export")}
        for words, place in [
                (("--backtrace=lbr",), "--python-backtrace"), (("--python-sampling=true",), "--sample"), (("--cuda-memory-usage", "true"), "cuda-memory"),
                (("--gpu-metrics-devices=all",), "--metrics sampled"), (("--section", "SpeedOfLight"), "--set explain"), (("--pytorch=autograd-nvtx",), "ops records operators"),
                (("--trace", "python"), "--python-backtrace"), (("-t", "cuda,python-gil"), "idle_cause_sum"), (("-t", "cuda,cublas,cudnn"), "gpuprof lines"),
                (("-t", "memory"), "cuda-memory"), (("-t", "osrt,nccl"), "nccl_sum"), (("--sample", "cpu"), "process"), (("--sample=process-tree",), "process")]:
            run = self.profile(*words, "true")
            self.assert_refused(run, 2, "--trace" if words[0] == "-t" else words[0].split("=")[0], place)
            # Nothing is recommended that is not there.
            for name in re.findall(r"--[a-z]+(?:-[a-z]+)*", run.stderr.split("; ", 1)[-1].split(". ", 1)[-1]):
                self.assertTrue(any(name in text for text in helps.values()), (name, run.stderr))
            for name in re.findall(r"\w+_sum", run.stderr):
                self.assertIn(name, helps["stats"])
        self.assertNotIn("anyway", self.profile("--trace", "cudaa", "true").stderr)

    def test_bad_values_are_refused_with_the_accepted_ones(self):
        for words, accepted in [
                (("-t", "cuda,osrt"), "cuda-memory"), (("-c", "hotkey"), "cudaProfilerApi"),
                (("--capture-range-end=repeat-shutdown",), "repeat-shutdown:N"),
                (("-y", "soon"), "seconds"), (("--schedule", "1,2,3"), "WAIT,WARMUP,ACTIVE,REPEAT"),
                (("--kernel-name", "regex:["), "regular expression"), (("-o", "%z"), "%q{VARIABLE}"), (("-o", "-"), "not - for standard output"),
                (("--metrics", "all"), "dram__bytes_read.sum"), (("--set", "some"), "memory"),
                (("--overhead-budget", "200%"), "0.01 to 100"), (("--overhead-once", "61"), "seconds from 0 to 60"),
                (("--peaks", "maybe"), "auto, on, off"),
                (("--launch-count", "-1"), "whole number"), (("--log-level", "all"), "warning"),
                (("--cuda-graph-trace", ""), "graph, node")]:
            with self.subTest(words=words):
                self.assert_refused(self.profile(*words, "true"), 2, accepted)

    def test_a_device_is_refused_before_the_program_starts(self):
        for words in (["-o", "/dev/null"], ["-o", "/dev/full", "-f"]):
            with self.subTest(words=words):
                run = self.profile(*words, "touch", "started")
                self.assert_refused(run, 2, words[1] + " is not a regular file")
                self.assertFalse(os.path.exists(os.path.join(self.folder, "started")))
                self.assertFalse(os.path.exists(words[1] + ".gpuprof"))

    def test_options_that_contradict_each_other_are_refused(self):
        self.assert_refused(self.profile("-c", "nvtx", "true"), 2, "nvtx-capture")
        self.assert_refused(self.profile("--step-range", "x", "true"), 2, "schedule")
        self.assert_refused(self.profile("--set", "full", "-t", "nvtx", "true"), 2, "metrics", "cuda")

    def test_help_lists_every_option_and_succeeds(self):
        run = self.profile("--help")
        self.assertEqual(run.returncode, 0)
        for word in ("--output", "--capture-range-end", "--buffer-limit-mib", "LD_PRELOAD"):
            self.assertIn(word, run.stdout)


class Environment(InFolder):
    def test_the_library_is_preloaded_and_receives_the_options_as_variables(self):
        run = self.profile("-t", "cuda", "--kernel-name", "a", "--kernel-name", "regex:b|c", "--stats",
                           "--metrics", "exact,lts__t_bytes.sum", "--metrics-skip", "c", "--metrics-skip",
                           "regex:d", "-p", "step@train", "-c", "nvtx", "true")
        self.assertEqual(run.returncode, NOTHING_RECORDED, run.stderr)
        told = self.told()
        self.assertEqual(told["LD_PRELOAD"], PROBE)
        self.assertEqual(told["CUDA_INJECTION64_PATH"], PROBE)
        self.assertEqual(told["NVTX_INJECTION64_PATH"], PROBE)
        self.assertEqual(told["GPUPROF_TRACE"], "cuda")
        self.assertEqual(told["GPUPROF_KERNEL_NAME"], "a;regex:b|c")
        self.assertEqual(told["GPUPROF_METRICS"], "exact,lts__t_bytes.sum")
        self.assertEqual(told["GPUPROF_METRICS_SKIP"], "c;regex:d")
        self.assertEqual(told["GPUPROF_STATS"], "1")
        self.assertEqual(told["GPUPROF_CAPTURE_RANGE"], "nvtx")
        self.assertNotIn("GPUPROF_DELAY", told)

    def test_a_variable_is_passed_on_and_an_option_overrides_it(self):
        self.environment["GPUPROF_TRACE"] = "nvtx"
        self.environment["GPUPROF_DELAY"] = "3"
        self.profile("-t", "cuda", "true")
        self.assertEqual(self.told()["GPUPROF_TRACE"], "cuda")
        self.assertEqual(self.told()["GPUPROF_DELAY"], "3")

    def test_child_programs_may_be_built_with_the_address_sanitizer(self):
        self.environment.pop("ASAN_OPTIONS", None)
        self.profile("true")
        self.assertEqual(self.told()["ASAN_OPTIONS"], "verify_asan_link_order=0")
        self.environment["ASAN_OPTIONS"] = "detect_leaks=0"
        self.profile("true")
        self.assertEqual(self.told()["ASAN_OPTIONS"], "detect_leaks=0:verify_asan_link_order=0")
        self.environment["ASAN_OPTIONS"] = "verify_asan_link_order=1"
        self.profile("true")
        self.assertEqual(self.told()["ASAN_OPTIONS"], "verify_asan_link_order=1")

    def test_the_library_of_the_address_sanitizer_stays_in_front(self):
        self.environment["LD_PRELOAD"] = "/no/such/libasan.so.8"
        self.profile("true")
        self.assertEqual(self.told()["LD_PRELOAD"], "/no/such/libasan.so.8:" + PROBE)

    def test_the_library_that_shares_cupti_is_preloaded_if_it_lies_beside_the_main_library(self):
        library, preload = self.folder / "libgpuprof.so", self.folder / "libgpuprof_preload.so"
        for file in library, preload:
            file.write_bytes(pathlib.Path(PROBE).read_bytes())
        self.environment["GPUPROF_LIBRARY"] = str(library)
        self.profile("true")
        self.assertEqual(self.told()["LD_PRELOAD"], str(preload))
        self.assertEqual(self.told()["CUDA_INJECTION64_PATH"], str(library))

    def test_variables_that_the_library_set_for_a_parent_are_removed(self):
        self.environment["GPUPROF_SET_INJECTION"] = "1"
        self.profile("true")
        self.assertNotIn("GPUPROF_SET_INJECTION", self.told())

    def test_another_preload_is_kept_behind_ours(self):
        self.environment["LD_PRELOAD"] = "/no/such/other.so"
        self.profile("true")
        self.assertEqual(self.told()["LD_PRELOAD"], PROBE + ":/no/such/other.so")

    def test_another_injected_tool_is_left_alone_and_named(self):
        self.environment["CUDA_INJECTION64_PATH"] = "/opt/other/tool.so"
        run = self.profile("true")
        self.assertEqual(run.returncode, NOTHING_RECORDED)
        self.assertIn("/opt/other/tool.so", run.stderr)
        self.assertEqual(self.told()["CUDA_INJECTION64_PATH"], "/opt/other/tool.so")

    def test_the_output_path_is_relative_to_the_folder_of_the_user_and_not_to_that_of_the_program(self):
        self.profile("-o", "x%n", "sh", "-c", "cd /; true")
        self.assertEqual(self.told()["GPUPROF_OUTPUT"], str(self.folder / "x%n"))

    def test_a_percent_sign_in_the_folder_name_is_not_a_pattern(self):
        folder = self.folder / "100%p"
        folder.mkdir()
        subprocess.run([GPUPROF, "profile", "-o", "x", "true"], cwd=folder, env=self.environment,
                       capture_output=True, timeout=60)
        self.assertEqual(self.told()["GPUPROF_OUTPUT"], str(self.folder / "100%%p" / "x"))

    def test_a_library_that_is_not_there_is_refused(self):
        self.environment["GPUPROF_LIBRARY"] = "/no/such/libgpuprof.so"
        self.assert_refused(self.profile("true"), 1, "GPUPROF_LIBRARY")


class Output(InFolder):
    def test_an_existing_capture_is_refused_before_the_program_starts(self):
        (self.folder / "a.gpuprof").write_text("old")
        self.assert_refused(self.profile("-o", "a", "touch", "started"), 2, "a.gpuprof exists", "--force-overwrite")
        self.assertFalse((self.folder / "started").exists())
        self.assertEqual((self.folder / "a.gpuprof").read_text(), "old")

    def test_an_existing_capture_is_replaced_on_request(self):
        (self.folder / "a.gpuprof").write_text("old")
        run = self.profile("-f", "-o", "a", "sh", "-c", "echo new > a.gpuprof; " + NOTE_CAPTURE + "$PWD/a.gpuprof")
        self.assertEqual(run.returncode, 0)
        self.assertIn(f"still runs (4 B); next: gpuprof stats {self.folder}/a.gpuprof", run.stderr)

    def test_a_missing_folder_or_a_file_in_its_place_is_refused(self):
        (self.folder / "file").write_text("")
        (self.folder / "d.gpuprof").mkdir()
        self.assert_refused(self.profile("-o", "no/such/x", "true"), 2, "No such file or directory")
        self.assert_refused(self.profile("-o", "file/x", "true"), 2, "cannot be written")
        self.assert_refused(self.profile("-f", "-o", "d", "true"), 2, "is a folder")

    def test_a_link_is_refused_before_the_program_starts(self):
        (self.folder / "victim").write_text("old")
        (self.folder / "a.gpuprof").symlink_to("victim")
        self.assert_refused(self.profile("-f", "-o", "a", "touch", "started"), 2, "is a link")
        self.assertFalse((self.folder / "started").exists())
        self.assertEqual((self.folder / "victim").read_text(), "old")

    @unittest.skipIf(os.geteuid() == 0, "root may write everywhere")
    def test_a_folder_without_permission_is_refused(self):
        (self.folder / "locked").mkdir(mode=0o555)
        self.assert_refused(self.profile("-o", "locked/x", "true"), 2, "Permission denied")

    def test_each_unfinished_capture_of_the_run_is_listed_but_no_older_capture(self):
        (self.folder / "r1.gpuprof").write_text("old")
        os.utime(self.folder / "r1.gpuprof", (1, 1))
        run = self.profile("-o", "r%n", "sh", "-c",
                           "echo > other.gpuprof; for name in r2 r3 r4.rank1 r5.pid7 r5.pid7-2 r5.pid7-2; do "
                           f"echo > $name.gpuprof; {NOTE_CAPTURE} $PWD/$name.gpuprof; done")
        for name in ("r2", "r3", "r4.rank1", "r5.pid7", "r5.pid7-2"):
            self.assertEqual(run.stderr.count(f"next: gpuprof stats {self.folder}/{name}.gpuprof"), 1, run.stderr)
        self.assertNotIn("r1.gpuprof", run.stderr)
        self.assertNotIn("other.gpuprof", run.stderr)

    def test_a_run_without_a_capture_is_reported(self):
        run = self.profile("true")
        self.assertEqual(run.returncode, NOTHING_RECORDED)
        self.assertIn("nothing was recorded: the program used neither CUDA nor NVTX", run.stderr)

    def test_the_same_reason_of_several_processes_is_reported_once(self):
        run = self.profile("sh", "-c", "for i in 1 2; do " + NOTE_NOTHING + "'no range'; done")
        self.assertEqual(run.returncode, NOTHING_RECORDED)
        self.assertEqual(run.stderr, "gpuprof: nothing was recorded: no range\n")

    def test_a_missing_capture_of_one_process_is_not_reported_if_another_process_has_one(self):
        run = self.profile("sh", "-c", NOTE_NOTHING + "'no range'; " + NOTE_CAPTURE + "/gone.gpuprof")
        self.assertEqual((run.returncode, run.stderr), (0, ""))

    def test_two_runs_at_once_in_one_folder_list_their_own_captures(self):
        started = [subprocess.Popen([GPUPROF, "profile", "-f", "-o", "r%p", "sh", "-c",
                                     f"echo > r{i}.gpuprof; {NOTE_CAPTURE} $PWD/r{i}.gpuprof; sleep 0.5"],
                                    cwd=self.folder, env=self.environment, stderr=subprocess.PIPE, text=True) for i in (1, 2)]
        for i, run in enumerate(started, 1):
            said = run.communicate(timeout=60)[1]
            self.assertEqual(said.count("next: gpuprof stats"), 1, said)
            self.assertIn(f"/r{i}.gpuprof", said)

    def test_the_notes_of_the_run_are_removed(self):
        self.profile("true")
        self.assertFalse(os.path.exists(self.told()["GPUPROF_RUN_NOTES"]))


class Obstacles(InFolder):
    def test_a_statically_linked_program_runs_and_a_warning_is_printed(self):
        run = self.profile(STATIC_PROGRAM)
        self.assertEqual(run.returncode, 5)
        self.assertIn("statically linked", run.stderr)
        self.assertEqual(self.told(), {})

    def sanitized_program(self):
        source, program = self.folder / "sanitized.c", self.folder / "sanitized"
        source.write_text("#include <stdio.h>\nint main(void) { puts(\"ran\"); return 0; }\n")
        built = subprocess.run([os.environ.get("CC", "cc"), "-fsanitize=address", "-o", program, source], capture_output=True)
        if built.returncode != 0 or b"libasan" not in program.read_bytes():
            self.skipTest("this compiler has no AddressSanitizer as a library")
        return str(program)

    def test_a_program_built_with_the_address_sanitizer_starts(self):
        """Its library ends a program in which another one is the first."""
        run = self.profile(self.sanitized_program())
        self.assertEqual((run.returncode, run.stdout), (NOTHING_RECORDED, "ran\n"), run.stderr)
        self.assertIn("is built with AddressSanitizer", run.stderr)

    def test_a_child_program_built_with_the_address_sanitizer_can_start(self):
        program = self.sanitized_program()
        run = self.profile("sh", "-c", program + "; echo $?")
        self.assertEqual(run.stdout, "ran\n0\n", run.stderr)

    @unittest.skipUnless(os.geteuid() == 0, "takes root to make a file of another user")
    def test_a_set_user_id_program_runs_and_a_warning_is_printed(self):
        program = self.folder / "suid"
        program.write_bytes(pathlib.Path("/bin/true").read_bytes())
        os.chown(program, 65534, 65534)
        program.chmod(0o755 | stat.S_ISUID)
        run = self.profile(str(program))
        self.assertEqual(run.returncode, NOTHING_RECORDED)
        self.assertIn("LD_PRELOAD is dropped", run.stderr)


class Signals(InFolder):
    def start(self, *words):
        process = subprocess.Popen([GPUPROF, "profile", *words], cwd=self.folder, text=True,
                                   env=self.environment, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.stderr.close)
        self.addCleanup(process.kill)
        self.assertEqual(process.stdout.readline(), "ready\n")
        return process

    def test_a_signal_sent_to_the_command_reaches_the_program(self):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGUSR1):
            trap = f"trap 'echo got; exit 42' {number.name[3:]}; echo ready; while :; do sleep 0.05; done"
            process = self.start("sh", "-c", trap)
            process.send_signal(number)
            self.assertEqual(process.wait(20), 42)
            self.assertEqual(process.stdout.read(), "got\n")

    def test_a_program_without_a_handler_ends_by_the_signal(self):
        process = self.start("sh", "-c", "echo ready; exec sleep 60")
        time.sleep(0.1)
        process.send_signal(signal.SIGTERM)
        self.assertEqual(process.wait(20), 128 + signal.SIGTERM)


class Status(InFolder):
    def test_json_and_text_say_the_same(self):
        as_json = self.run_gpuprof("status", "--json")
        found = json.loads(as_json.stdout)
        self.assertEqual(as_json.returncode, 0 if found["can_trace"] else 1)
        text = self.run_gpuprof("status").stdout
        names = [check["name"] for check in found["checks"]]
        for name in ("libgpuprof", "driver", "cupti", "subscriber", "counters", "mps", "container",
                     "environment", "settings", "command", "system"):
            self.assertIn(name, names)
            self.assertRegex(text, rf"(?m)^{name} +(ok|limited|missing|unknown) ")
        for check in found["checks"]:
            self.assertNotIn("\n", check["text"] + check["fix"])

    def library_of(self, text):
        """Builds a libgpuprof.so of this C text and makes it the one that is looked at."""
        source, library = self.folder / "library.c", self.folder / "library.so"
        source.write_text(text)
        subprocess.run([os.environ.get("CC", "cc"), "-shared", "-fPIC", "-o", library, source], check=True)
        self.environment["GPUPROF_LIBRARY"] = str(library)

    def library_line(self):
        found = json.loads(self.run_gpuprof("status", "--json").stdout)
        return next(check for check in found["checks"] if check["name"] == "libgpuprof")

    def test_a_library_that_finds_no_static_tls_is_limited_to_ways_in_that_have_some(self):
        self.library_of("static __thread char wide[10000] __attribute__((tls_model(\"initial-exec\")));\n"
                        "char* first(void) { return wide; }\n")
        line = self.library_line()
        self.assertEqual(line["state"], "limited")
        self.assertIn("static TLS", line["text"])
        # What the line says is true: preloaded it works, and so does the way out it names.
        self.environment["ASAN_OPTIONS"] = "verify_asan_link_order=0"
        self.environment["LD_PRELOAD"] = self.environment["GPUPROF_LIBRARY"]
        self.assertEqual(self.library_line()["state"], "ok")
        del self.environment["LD_PRELOAD"]
        name, _, value = line["fix"].split(" set ")[1].partition("=")
        self.environment[name] = value
        self.assertEqual(self.library_line()["state"], "ok")

    def test_a_library_that_cannot_be_opened_is_missing(self):
        broken = self.folder / "libgpuprof.so"
        broken.write_text("not a library")
        self.environment["GPUPROF_LIBRARY"] = str(broken)
        line = self.library_line()
        self.assertEqual(line["state"], "missing")
        self.assertIn("too short", line["text"])
        self.assertIn("GPUPROF_LIBRARY", line["fix"])

    def test_a_library_that_crashes_the_process_is_a_line(self):
        self.library_of("__attribute__((constructor)) static void c(void) { *(volatile int*)0 = 1; }\n")
        # Where the command has a sanitizer, that must not catch the crash first.
        self.environment["ASAN_OPTIONS"] = self.environment["TSAN_OPTIONS"] = "handle_segv=0"
        line = self.library_line()
        self.assertEqual(line["state"], "missing")
        self.assertIn("crashed with signal 11", line["text"])

    def test_the_option_library_prints_only_the_path_to_preload(self):
        library = self.folder / "libgpuprof.so"
        self.environment["GPUPROF_LIBRARY"] = str(library)
        run = self.run_gpuprof("--library")
        self.assertEqual((run.returncode, run.stdout), (1, ""))
        self.assertIn(f"GPUPROF_LIBRARY is {library}, which is no file", run.stderr)
        library.touch()
        self.assertEqual(self.run_gpuprof("--library").stdout, f"{library}\n")
        (self.folder / "libgpuprof_preload.so").touch()
        run = self.run_gpuprof("--library")
        self.assertEqual((run.returncode, run.stdout, run.stderr), (0, f"{self.folder}/libgpuprof_preload.so\n", ""))

    def test_status_prints_the_library_to_preload(self):
        del self.environment["GPUPROF_LIBRARY"]
        library = self.run_gpuprof("--library").stdout.strip()
        self.assertTrue(library.endswith("/libgpuprof_preload.so"), library)
        self.assertTrue(self.library_line()["text"].startswith(library))

    def test_wrong_variables_are_named(self):
        self.environment["GPUPROF_TRCE"] = "cuda"
        self.assertIn("did you mean GPUPROF_TRACE?", self.run_gpuprof("status").stdout)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[4:])

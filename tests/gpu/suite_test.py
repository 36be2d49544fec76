#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What gpu-check makes of programs that hang, break or change, with stand-ins for the programs and captures of an H200."""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import shares  # noqa: E402

GPUPROF = os.environ["BUILT_GPUPROF"]
CAPTURES = pathlib.Path(os.environ["GPUPROF_CAPTURES"])

# Prints what the stand-in for NAME under MODE ("bare" when it is not profiled) prints, and leaves a capture when it is profiled.
STAND_IN = """#!{python}
import os, pathlib, shutil, sys, time
name = pathlib.Path(sys.argv[0]).stem if len(sys.argv) < 2 or sys.argv[1][0].isdigit() else sys.argv[1]
mode = os.environ.get("GPUPROF_METRICS", "bare")
if mode != "bare":
    capture = "{captures}/" + ("counted_auto" if mode == "auto" else "mixed_sampled") + ".gpuprof"
    shutil.copy(capture, os.environ["GPUPROF_OUTPUT"].replace("%p", str(os.getpid())))
values = dict(checksum=17, seconds=4.4 if mode == "auto" else 4.0, step_ms=10, p999_ms=12, steps=60)
{behavior}
for value in values.items():
    print(*value)
"""


class Suite(unittest.TestCase):
    def setUp(self):
        self.prefix = pathlib.Path(tempfile.mkdtemp(prefix="gpuprof-test-"))
        self.addCleanup(shutil.rmtree, self.prefix, True)
        self.check = self.prefix / "libexec/gpuprof/gpu-check"
        shutil.copytree(HERE, self.check, ignore=shutil.ignore_patterns("__pycache__"))
        for folder in ("bin", "lib"):
            (self.prefix / folder).mkdir()
        (self.prefix / "lib/libgpuprof.so").touch()  # the loader says so and goes on
        for program in ("gpu_workload", "gpu_lifetimes"):
            self.program(self.check.parent / program, "")
        # Runs what it is given, where gpuprof profile would need a library that works.
        self.script(self.prefix / "bin/gpuprof", f'#!/bin/sh\n[ "$1" = profile ] || exec "{GPUPROF}" "$@"\nshift\n[ "$1" = --peaks ] && shift 2\nexec "$@"\n')

    def script(self, path, text):
        path.write_text(text)
        path.chmod(0o755)

    def program(self, path, behavior):
        self.script(path, STAND_IN.format(python=sys.executable, captures=CAPTURES, behavior=behavior))

    def rows(self, *options):
        """{check: (measured, verdict)} of a run of gpu-check."""
        results = self.prefix / "results.json"
        environment = {k: v for k, v in os.environ.items() if not k.startswith("GPUPROF_")}
        subprocess.run([sys.executable, self.check / "gpu_check.py", *options], env={**environment, "GPU_CHECK_STAND_INS": "1", "GPU_CHECK_RESULTS": str(results)},
                       capture_output=True, timeout=120)
        self.results = json.loads(results.read_text())
        return {line["check"]: (line["measured"], line["verdict"]) for line in self.results["rows"]}

    def patience(self, behavior):
        self.program(self.check.parent / "gpu_patience", behavior)
        return self.rows("--only", "patience_auto")["programs that nothing may wait for, --metrics auto"]

    def unmodified(self, behavior):
        self.program(self.check / "unmodified/gpt2.py", behavior)
        return self.rows("--quick", "--only", "programs_gpt2")

    def test_without_a_gpu_it_says_so_in_one_line_and_begins_no_check(self):
        libraries = self.prefix / "libraries"
        libraries.mkdir()
        (libraries / "libcuda.so.1").touch()  # also where there is a driver
        run = subprocess.run([sys.executable, self.check / "gpu_check.py"], env={**os.environ, "LD_LIBRARY_PATH": str(libraries)},
                             capture_output=True, text=True, timeout=60)
        self.assertEqual((run.returncode, run.stdout, run.stderr.count("\n")), (1, "", 1), run.stderr)
        self.assertIn("gpu-check: there is no GPU to check: the driver's library cannot be loaded", run.stderr)

    def test_the_patience_check_is_met_if_all_patient_programs_end_with_their_own_result(self):
        self.assertEqual(self.patience(""), ("10 of 10 end with their own result, 0 hang, 0 not run", "met"))
        self.assertIn("of these with counters at work, --metrics auto", {line["check"] for line in self.results["rows"]})

    def test_a_patient_program_that_hangs_is_missed(self):
        measured = self.patience("if (name, mode) == ('persistent', 'auto'): print('hung'); sys.exit(7)")
        self.assertEqual(measured, ("9 of 10 end with their own result, 1 hang, 0 not run", "MISSED"))

    def test_a_patient_program_with_another_result_is_missed(self):
        measured = self.patience("if (name, mode) == ('captures', 'auto'): values['checksum'] = 18")
        self.assertEqual(measured, ("9 of 10 end with their own result, 0 hang, 0 not run", "MISSED"))

    def test_an_exit_that_outlasts_the_flush_timeout_is_missed(self):
        measured = self.patience("if name == 'endless-at-exit': values['exit_seconds'] = 2.5 if mode == 'auto' else 0.1")
        self.assertEqual(measured[1], "MISSED")

    def test_a_patient_program_that_fails_without_gpuprof_is_not_judged(self):
        measured = self.patience("if name == 'wait-value': print('not_supported 1'); sys.exit(0)")
        self.assertEqual(measured, ("9 of 9 end with their own result, 0 hang, 1 not run", "met"))

    def test_costs_are_ratios_of_the_seconds_a_program_prints(self):
        rows = self.unmodified("")
        self.assertEqual(rows["gpt2: traced / bare"], ("1.000", ""))
        self.assertEqual(rows["gpt2: auto / traced"], ("1.100", "MISSED"))
        self.assertEqual(rows["gpt2: results"], ("the same", "met"))
        self.assertEqual(rows["gpt2: lost records"], ("nothing in 3 captures", "met"))
        self.assertTrue(rows["gpt2: what it cost by the profiler's own account"][0].startswith("cost: the program waited 731.4 ms for"))
        self.assertEqual(rows["profiled runs that hang, break or come to another result"], ("0 of 3", "met"))

    def test_what_counters_cost_by_turns_stands_beside_what_the_capture_counted(self):
        rows = self.unmodified("")
        self.assertEqual(rows["gpt2: ms lost to counters by turns; counted by its captures; by rates of launches"][0], "400 (400 to 400); 726; not told")

    def test_a_serving_loop_is_compared_with_the_records_of_cupti_alone_and_by_its_slowest_steps(self):
        self.program(self.check / "unmodified/serving.py", "if os.environ.get('RAW_CUPTI_GRAPHS') == 'whole' and 'CUDA_INJECTION64_PATH' in os.environ: values['seconds'] = 3.2\n"
                     "if mode == 'auto': values['p999_ms'] = 15")
        rows = self.rows("--times", "4", "--only", "programs_serving")
        self.assertEqual(rows["serving: traced / floor"], ("1.250 [1.250 1.250]", "MISSED"))
        self.assertEqual(rows["serving: traced / bare"], ("1.000 [1.000 1.000]", "met"))
        self.assertEqual(rows["serving: 99.9th percentile of a step, auto / traced"], ("1.250 [1.250 1.250]", "MISSED"))

    def graph_times(self, auto):
        """The rows of graph_times for {kernel: (launches, total, share that is inferred, error)} under auto, where all timed ones are two of 100 ns each."""
        head = "Name,Instances,Total Time (ns),Inferred (%),Total Error (ns)"
        tables = {"node": [f"{name},2,100,," for name in ("a", "b")], "auto": [f"{name},{','.join(map(str, cells))}" for name, cells in auto.items()]}
        self.program(self.check / "unmodified/serving.py", "pathlib.Path(os.environ['GPUPROF_OUTPUT']).write_text(os.environ['GPUPROF_CUDA_GRAPH_TRACE'])")
        self.script(self.prefix / "bin/gpuprof", "#!/bin/sh\nif [ \"$1\" = profile ]; then shift 3; exec \"$@\"; fi\nshift $(($# - 1))\n" +
                    "".join(f"[ \"$(cat \"$1\")\" = {level} ] && printf '%s\\n' '{head}' {' '.join(lines)}\n" for level, lines in tables.items()) + "true\n")
        return self.rows("--quick", "--only", "programs_graph_times")

    def test_inferred_sums_of_kernels_are_judged_by_their_errors(self):
        rows = self.graph_times({"a": (2, 101, 80, 1), "b": (2, 98, 80, 1)})
        self.assertEqual(rows["graphs timed in some launches: sums within two of their errors"], ("2 of 2", "met"))
        self.assertEqual(rows["graphs timed in some launches: time of all kernels / with all timed"], ("0.9950 (two runs with all timed: 1.0000)", "met"))
        self.assertEqual(rows["graphs timed in some launches: kernels and launches as with all timed"], ("4 of 4", "met"))

    def test_sums_that_are_further_off_and_launches_that_are_missing_are_missed(self):
        rows = self.graph_times({"a": (2, 108, 80, 1), "b": (1, 98, 80, 1)})
        self.assertEqual(rows["graphs timed in some launches: sums within two of their errors"], ("1 of 2", "MISSED"))
        self.assertEqual(rows["graphs timed in some launches: time of all kernels / with all timed"][1], "MISSED")
        self.assertEqual(rows["graphs timed in some launches: kernels and launches as with all timed"], ("3 of 4", "MISSED"))

    def test_shares_equal_those_of_the_captures(self):
        rows = self.unmodified("")
        self.assertEqual(rows["gpt2: share of recurring kernel time with FLOP, auto"], ("1.0000 (of all 1.0000)", "met"))
        self.assertEqual(rows["gpt2: share of recurring kernel time with rates, sampled"], ("1.0000 (of all 1.0000)", "met"))
        self.assertEqual(rows["gpt2: workloads, and (function, geometry)"], ("5 and 5", "met"))

    def test_programs_of_two_seconds_report_what_is_known_by_then(self):
        self.program(self.check / "unmodified/gpt2.py", "values['steps'] = sys.argv[1]")
        rows = self.rows("--quick", "--only", "programs_two_seconds")
        self.assertEqual(rows["gpt2_2s: share of recurring kernel time with rates, auto"][1], "met")

    def test_short_programs_are_compared_from_start_to_end(self):
        self.program(self.check.parent / "gpu_lifetimes", "if mode == 'auto' and name == 'modules': time.sleep(0.5)")
        rows = self.rows("--quick", "--only", "programs_short")
        self.assertEqual(rows["short program, modules: auto / traced"][1], "MISSED")

    def test_another_result_under_one_mode_is_missed(self):
        rows = self.unmodified("if mode == 'sampled': values['checksum'] = 18")
        self.assertEqual(rows["gpt2: results"], ("differ under sampled", "MISSED"))

    def test_results_that_differ_by_themselves_are_not_judged(self):
        rows = self.unmodified("values['checksum'] = time.time_ns()")
        self.assertEqual(rows["gpt2: results"], ("differ between runs by themselves", "not run"))

    def test_a_mode_that_breaks_a_program_is_missed_and_the_others_are_reported(self):
        rows = self.unmodified("if mode == 'auto': sys.exit('no luck')")
        self.assertEqual(rows["gpt2 under --metrics auto"], ("exit 1: no luck", "MISSED"))
        self.assertIn("gpt2: sampled / traced", rows)
        self.assertIn("no luck", self.results["logs"]["gpt2_auto_0"])

    def test_a_program_with_missing_packages_is_not_run_and_the_row_gives_the_reason(self):
        rows = self.unmodified("import no_such_package")
        self.assertEqual(rows["gpt2"], ("exit 1 by itself: ModuleNotFoundError: No module named 'no_such_package'", "not run"))

    def test_a_program_that_hangs_is_killed_together_with_the_processes_it_started(self):
        code = ("import json, os, sys; sys.path.insert(0, sys.argv[1]); import harness; "
                "print(json.dumps(harness.finish(['sh', '-c', 'sleep 600 & echo $!; wait'], dict(os.environ), 0.5)[:2]))")
        done = subprocess.run([sys.executable, "-c", code, self.check], capture_output=True, text=True, timeout=60)
        code, printed = json.loads(done.stdout)
        self.assertEqual(code, -9, done.stderr)
        state = pathlib.Path(f"/proc/{printed.strip()}/stat")
        self.assertTrue(not state.exists() or state.read_text().split(")")[1].split()[0] == "Z")

    def test_no_check_begins_when_time_is_over(self):
        self.assertEqual(self.rows("--within", "1e-9", "--only", "programs_g*")["programs_graph_decode"][1], "not run")


class Shares(unittest.TestCase):
    def report(self, name):
        return shares.roofline_of(GPUPROF, CAPTURES / f"{name}.gpuprof")

    def test_samples_give_rates_but_only_readings_give_counted_flop(self):
        self.assertEqual((shares.rates_share(self.report("mixed_sampled")), shares.flop_share(self.report("mixed_sampled"))), (1.0, 0.0))
        self.assertEqual(shares.flop_share(self.report("counted_auto")), 1.0)

    def test_shares_are_weighted_by_kernel_time(self):
        lines = [dict(time_ns=3, flops=1.0, launches=20), dict(time_ns=1, flops=None, launches=1)]
        self.assertEqual(shares.flop_share({"signatures": lines}), 0.75)
        self.assertEqual(shares.flop_share(shares.recurring({"signatures": lines}, 10)), 1.0)

    def test_the_cost_of_a_reading_is_the_cost_of_counters_without_sampling(self):
        self.assertAlmostEqual(shares.reading_ms(self.report("mixed_exact")), 0.777, 3)
        self.assertAlmostEqual(self.report("counted_auto")["cost"]["cost.sampling_ns"], 489e3, delta=1e3)

    def test_tensor_flop_of_a_launch_sum_over_workloads_of_one_geometry(self):
        line = dict(name="gemm", grid=[1, 1, 1], block=[128, 1, 1], avg_ns=50e3, flops=1e12, flop_source="counted")
        lines = [{**line, "time_ns": 1e6, "launches": 10, "flops_by_precision": {"tensor_bf16": 2e12, "fp32": 1e9}},
                 {**line, "time_ns": 1e6, "launches": 10, "flops_by_precision": {"tensor_bf16": 4e12}},
                 {**line, "name": "short", "avg_ns": 5e3, "time_ns": 1e6, "launches": 10, "flops_by_precision": {"tensor_bf16": 1e12}}]
        found = shares.tensor_flop({"signatures": lines})
        self.assertEqual(list(found), [("gemm", (1, 1, 1), (128, 1, 1))])
        self.assertAlmostEqual(found["gemm", (1, 1, 1), (128, 1, 1)] / 3e8, 1)


if __name__ == "__main__":
    unittest.main()

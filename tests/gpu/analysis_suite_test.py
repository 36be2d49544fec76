#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What gpu-check makes of what gpuprof analyze and compare say, with stand-ins for programs and for gpuprof."""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import analysis_verdicts as verdicts  # noqa: E402

GPUPROF, MADE = os.environ["BUILT_GPUPROF"], os.environ["BUILT_MADE_CAPTURES"]
FAULT = {fault.name: fault for fault in verdicts.FAULTS}


def finding(rule, low, high, of_window=0.2, kernel="", window_range="step"):
    return {"rule": rule, "condition": "", "potential_gain_ms": {"low": low / 1e6, "high": high / 1e6}, "of_window": {"low": of_window / 2, "high": of_window},
            "where": {"range": window_range, "kernel": kernel}}


def advice(*findings, ledger=(), not_looked_at=()):
    return verdicts.read_advice(json.dumps({"findings": findings, "ledger": ledger, "not_looked_at": [{"rule": rule} for rule in not_looked_at]}))


class Verdicts(unittest.TestCase):
    def judged(self, name, said, won_ns):
        judgment = verdicts.judge_fault(FAULT[name], said, won_ns)
        return judgment.is_named, judgment.is_within

    def test_the_first_finding_names_the_fault_and_its_interval_holds(self):
        self.assertEqual(self.judged("sync_in_loop", advice(finding("sync_point", 10, 20), finding("gpu_idle", 1, 2)), 15), (True, True))

    def test_a_measured_gain_outside_of_the_interval_is_reported(self):
        for won in (9, 21):
            self.assertEqual(self.judged("sync_in_loop", advice(finding("sync_point", 10, 20)), won), (True, False))

    def test_a_gain_may_miss_the_interval_by_no_more_than_its_measurement_error(self):
        said = advice(finding("late_module_load", 100, 101))
        for won, error, within in ((102, 1, True), (103, 1, False), (99, 1, True), (98, 1, False), (102, 0, False)):
            self.assertEqual(verdicts.judge_fault(FAULT["late_loader"], said, won, error).is_within, within, (won, error))

    def test_a_fault_whose_finding_is_not_the_first_is_not_named(self):
        said = advice(finding("gpu_idle", 30, 40), finding("sync_point", 10, 20))
        self.assertEqual(self.judged("sync_in_loop", said, 15), (False, True))
        self.assertIn("first is gpu_idle", verdicts.judge_fault(FAULT["sync_in_loop"], said, 15).text)

    def test_the_right_rule_on_another_kernel_is_not_the_fault(self):
        self.assertEqual(self.judged("bank_conflicts", advice(finding("bank_conflicts", 10, 20, kernel="good_fma")), 15), (False, False))
        self.assertEqual(self.judged("bank_conflicts", advice(finding("bank_conflicts", 10, 20, kernel="void read_shared<4u>")), 15), (True, True))

    def test_the_verdict_without_a_finding_names_the_rule_that_was_not_looked_at(self):
        said = advice(not_looked_at=["uncoalesced", "um_faults"])
        self.assertEqual(self.judged("strided_access", said, 15), (False, False))
        self.assertIn("not looked at: uncoalesced;", verdicts.judge_fault(FAULT["strided_access"], said, 15).text)

    def test_a_fixed_program_may_have_small_findings_and_other_findings(self):
        fault = FAULT["pageable_copies"]
        self.assertEqual(verdicts.judge_mended(fault, advice(finding("pageable_copy", 1, 2, of_window=0.019), finding("sync_point", 1, 2, of_window=0.5))), [])
        self.assertEqual(len(verdicts.judge_mended(fault, advice(finding("pageable_copy", 1, 2, of_window=0.021)))), 1)

    def test_a_good_program_has_no_finding_above_two_percent(self):
        self.assertEqual(verdicts.judge_good(advice(finding("tail", 1, 2, of_window=0.01))), [])
        self.assertEqual(len(verdicts.judge_good(advice(finding("tail", 1, 2, of_window=0.03)))), 1)

    def test_ten_of_twelve_gains_are_enough_but_every_fault_must_be_named(self):
        def twelve(named, within):
            return [verdicts.Judgment("", i < named, i < within) for i in range(12)]

        self.assertTrue(verdicts.summary(twelve(12, 10))[1])
        self.assertFalse(verdicts.summary(twelve(12, 9))[1])
        self.assertFalse(verdicts.summary(twelve(11, 12))[1])
        self.assertEqual(verdicts.summary(twelve(12, 10))[0], "12 of 12 named first; the gain holds in 10")

    def test_a_program_of_a_framework_is_judged_by_shares_of_its_steps(self):
        said = advice(finding("fusible_chain", 1, 2, of_window=0.3), finding("data_movement", 1, 2, of_window=0.6))
        judged = [verdicts.judge_share({"data_movement"}, said, won) for won in (0.29, 0.31, 0.59, 0.61)]
        self.assertEqual([(one.rank, one.is_within) for one in judged], [(2, False), (2, True), (2, True), (2, False)])
        self.assertEqual(judged[1].text, "finding 2, after fusible_chain: data_movement, 30.0 to 60.0 % of the steps; the fix saved 31.0 %")
        unnamed = verdicts.judge_share({"small_batch"}, said, 0.2)
        self.assertEqual((unnamed.rank, unnamed.is_within), (0, False))
        self.assertTrue(unnamed.text.startswith("not named, first is fusible_chain"))

    def test_31_of_34_framework_faults_must_be_among_the_first_two_and_nine_of_ten_gains_hold(self):
        def programs(named, within):
            return verdicts.summary_of_shares(verdicts.ShareJudgment("", 1 + i % 2 if i < named else 3, i < within) for i in range(34))

        self.assertEqual(programs(31, 31), ("of 34 programs 16 are named first, 31 among the first two; 31 gains hold", True))
        self.assertFalse(programs(30, 31)[1])
        self.assertFalse(programs(31, 30)[1])

    def test_every_program_of_the_frameworks_has_its_rules(self):
        names = set()
        for script in ("frameworks", "frameworks_kernels"):
            text = (HERE / "planted" / f"{script}.py").read_text()
            names |= set(re.findall(r"^def (\w+)\(mended\):", text, re.MULTILINE))
        self.assertEqual(names, set(verdicts.FRAMEWORK_FAULTS))

    def test_times_of_a_ledger_sum_over_gpus(self):
        lines = [{"device": device, "bucket": bucket, "ns": ns} for device in (0, 1) for bucket, ns in (("compute", 5), ("cpu_work", 7))]
        self.assertEqual(advice(ledger=lines).ledger, {"compute": 10, "cpu_work": 14})

    def test_waits_are_judged_by_cause(self):
        ledger = {"synchronization": 101, "cpu_work": 60, "data_loading": 40, "dependency": 97}
        found = {cause: met for cause, _, _, met in verdicts.judge_waits(ledger, dict.fromkeys(verdicts.CAUSES, 100))}
        self.assertEqual(found, {"sync": True, "cpu": True, "dependency": False})

    def test_a_longer_kernel_is_explained_by_the_clock(self):
        def told(change, by_clock, verdict="same"):
            long = {"kind": "kernel", "name": "sgemm", "base_call_ns": 5, "new_call_ns": 6, "base_total_ns_per_run": 90, "change": change, "by_clock": by_clock, "verdict": verdict}
            short = {**long, "name": "fill", "base_total_ns_per_run": 1, "by_clock": 0.2}
            return verdicts.judge_clock({"lines": [{**long, "kind": "step"}, short, long, {**long, "name": "new", "base_call_ns": None, "base_total_ns_per_run": None}]})

        self.assertEqual(told(0.16, 0.15), ("sgemm +16.0 %, of which +15.0 % clock: same", True))
        self.assertEqual([told(0.16, by_clock)[1] for by_clock in (None, 0.02, 0.07, 0.09)], [False, False, False, True])
        self.assertFalse(told(0.16, 0.12, "worse")[1])
        self.assertFalse(verdicts.judge_clock({"lines": []})[1])

    def test_a_union_counts_overlapping_intervals_once_and_only_inside_the_window(self):
        self.assertEqual(verdicts.union_ns([(5, 15), (0, 10), (12, 14), (20, 30), (40, 50)], 2, 45), 13 + 10 + 5)

    def test_rows_of_one_window_that_opened_and_closed_count_as_one_window(self):
        with tempfile.TemporaryDirectory(prefix="gpuprof-test-") as folder:
            tables = pathlib.Path(folder)
            (tables / "kernel.csv").write_text("start,duration\n110,20\n150,10\n320,30\n")
            (tables / "window.csv").write_text("index,start,end,trigger\n1,100,0,start\n1,100,200,start\n2,300,0,start\n2,300,400,start\n")
            self.assertEqual(verdicts.busy_of_tables(tables), (60, 200))
            (tables / "window.csv").write_text("index,start,end,trigger\n1,100,0,start\n1,100,200,start\n2,300,0,start\n")  # killed in the second
            self.assertEqual(verdicts.busy_of_tables(tables), (60, 150))


class MadeCaptures(unittest.TestCase):
    """Programs whose times are known: the sum over exported tables comes to them."""

    def test_the_busy_time_of_every_planted_fault_equals_that_of_its_tables(self):
        folder = pathlib.Path(tempfile.mkdtemp(prefix="gpuprof-test-"))
        self.addCleanup(shutil.rmtree, folder, True)
        names = subprocess.run([MADE, folder / "x", "--fault", "?"], capture_output=True, text=True).stderr.rpartition(":")[2].split()
        self.assertGreaterEqual(len(names), 11)
        for name in names:
            for options in ([], ["--mended", "--launches"]):
                with self.subTest(name=name, options=options):
                    made = subprocess.run([MADE, folder / f"{name}.gpuprof", "--fault", name, *options], capture_output=True, text=True, check=True)
                    known = {key: int(value) for key, value in (line.split() for line in made.stdout.splitlines())}
                    subprocess.run([GPUPROF, "export", folder / f"{name}.gpuprof", "--type", "csv", "-o", folder / f"{name}{len(options)}"], check=True, capture_output=True)
                    self.assertEqual(verdicts.busy_of_tables(folder / f"{name}{len(options)}"), (known["gpu_busy_ns"], known["window_ns"]))


# gpuprof whose `profile` runs the program, and whose `analyze` and `compare` say what the test wants: {words} maps a part of the capture's name to it.
STAND_IN_GPUPROF = """#!{python}
import json, pathlib, subprocess, sys
words = sys.argv[1:]
if words[0] == "profile":
    program = words[words.index("--") + 1:]
    pathlib.Path(words[words.index("--output") + 1]).write_text("capture")
    sys.exit(subprocess.run(program).returncode)
said = {said}
name = pathlib.Path(words[-1] if words[0] == "analyze" else words[2]).stem
answer = said.get(name, said["otherwise"])
if isinstance(answer, int):
    sys.exit(answer)
print(json.dumps(answer))
"""
PROGRAM = """#!{python}
import sys
steps = int(sys.argv[sys.argv.index("--steps") + 1]) if "--steps" in sys.argv else 100
print("steps", steps)
fault_seconds = steps * 0.2e-3 * (0.5 if steps > 1000 else 1)  # of longer runs it takes the half
print("fault_seconds", fault_seconds)
print("seconds", steps * 0.8e-3 + (0 if "--mended" in sys.argv else steps * 0.2e-3))
for cause in ("sync", "cpu", "dependency"):
    print(f"idle_{{cause}}_ms", 100)
{behavior}
"""
# The same for comparisons alone: `compare` ends with a code by the name of the first new capture.
STAND_IN_COMPARE = """#!/bin/sh
if [ "$1" = profile ]; then
  while [ "$1" != --output ]; do shift; done
  : > "$2"
  exit 0
fi
case "$(basename "$3" .gpuprof)" in
{cases}
*) exit {otherwise} ;;
esac
"""
NOTHING = {"findings": [], "ledger": [], "not_looked_at": []}


class Checks(unittest.TestCase):
    def setUp(self):
        self.prefix = pathlib.Path(tempfile.mkdtemp(prefix="gpuprof-test-"))
        self.addCleanup(shutil.rmtree, self.prefix, True)
        self.check = self.prefix / "libexec/gpuprof/gpu-check"
        shutil.copytree(HERE, self.check, ignore=shutil.ignore_patterns("__pycache__"))
        for name in ("bin", "lib"):
            (self.prefix / name).mkdir()
        (self.prefix / "lib/libgpuprof.so").touch()
        self.script(self.check.parent / "gpu_workload", "#!/bin/sh\n")
        self.program("")

    def script(self, path, text):
        path.write_text(text)
        path.chmod(0o755)

    def program(self, behavior):
        self.script(self.check.parent / "gpu_planted", PROGRAM.format(python=sys.executable, behavior=behavior))

    def rows(self, only, **said):
        self.script(self.prefix / "bin/gpuprof", STAND_IN_GPUPROF.format(python=sys.executable, said=repr({"otherwise": NOTHING, **said})))
        return self.rows_of_checks(only)

    def rows_of_comparisons(self, otherwise, codes):
        cases = "\n".join(f"{name}) exit {code} ;;" for name, code in codes.items())
        self.script(self.prefix / "bin/gpuprof", STAND_IN_COMPARE.format(cases=cases, otherwise=otherwise))
        return self.rows_of_checks("analysis_compare_tries")

    def rows_of_checks(self, only):
        results = self.prefix / "results.json"
        environment = {k: v for k, v in os.environ.items() if not k.startswith("GPUPROF_")}
        subprocess.run([sys.executable, self.check / "gpu_check.py", "--quick", "--only", only], env={**environment, "GPU_CHECK_STAND_INS": "1", "GPU_CHECK_RESULTS": str(results)},
                       capture_output=True, timeout=120)
        return {line["check"]: (line["measured"], line["verdict"]) for line in json.loads(results.read_text())["rows"]}

    def test_the_time_won_is_for_as_many_steps_as_the_profiled_run_had(self):
        # 0.2 ms of each of 1503 steps.
        rows = self.rows("analysis_fault_pageable_copies,analysis_ten*", pageable_copies={**NOTHING, "findings": [finding("pageable_copy", 290e6, 310e6)]})
        self.assertEqual(rows["analysis_fault_pageable_copies"],
                         ("pageable_copy in step, 290.0 to 310.0 ms (20.0 %); the mend won 300.6 ms (20 % by itself, spread 0.0 %)", "met"))
        self.assertEqual(rows["analysis_mended_pageable_copies"], ("no finding of that kind", "met"))
        self.assertEqual(rows["analysis: planted faults"], ("1 of 1 named first; the gain holds in 1; 11 not run", "met"))

    def test_time_that_is_lost_only_once_is_not_multiplied_by_the_number_of_steps(self):
        # 0.2 ms of each of 500 steps by itself, as long as the fault takes; as profiled that takes 150 ms.
        for low, high, verdict in ((149e6, 151e6, "met"), (99e6, 101e6, "MISSED"), (299e6, 301e6, "MISSED")):
            rows = self.rows("analysis_fault_late_loader", late_loader={**NOTHING, "findings": [finding("late_module_load", low, high)]})
            self.assertEqual(rows["analysis_fault_late_loader"][1], verdict)
        self.assertIn("the fault took 100.0 ms by itself, 150.0 ms as profiled", rows["analysis_fault_late_loader"][0])

    def test_a_wrong_first_finding_and_a_finding_on_the_fixed_twin_are_missed(self):
        wrong = {**NOTHING, "findings": [finding("gpu_idle", 1, 900e6)]}
        rows = self.rows("analysis_fault_alloc_in_loop,analysis_ten*", alloc_in_loop=wrong,
                         alloc_in_loop_mended={**NOTHING, "findings": [finding("alloc_in_loop", 1, 2)]})
        self.assertEqual({rows[f"analysis_{what}_alloc_in_loop"][1] for what in ("fault", "mended")}, {"MISSED"})
        self.assertEqual(rows["analysis: planted faults"][1], "MISSED")

    def test_analyze_that_fails_is_missed(self):
        rows = self.rows("analysis_fault_sync_in_loop,analysis_ten*", sync_in_loop=1)
        self.assertEqual(rows["analysis_fault_sync_in_loop"][1], "MISSED")
        self.assertIn("gpuprof analyze: exit 1", rows["analysis_fault_sync_in_loop"][0])
        self.assertEqual(rows["analysis: planted faults"], ("0 of 1 named first; the gain holds in 0; 11 not run", "MISSED"))

    def test_programs_of_frameworks_are_judged_by_what_they_save_by_themselves(self):
        (self.check / "planted/frameworks.py").write_text("import sys\nprint('step_ms', 4 if '--mended' in sys.argv else 10)\n")
        for high, verdict in ((0.65, "met"), (0.55, "MISSED")):  # the fix saves 60 %
            rows = self.rows("analysis_framework_growing_cat,analysis_frameworks_together", growing_cat={**NOTHING, "findings": [finding("data_movement", 1, 2, of_window=high)]})
            self.assertEqual(rows["analysis_framework_growing_cat"][1], verdict)
            self.assertIn("the fix saved 60.0 % (10 to 4 ms a step)", rows["analysis_framework_growing_cat"][0])
            self.assertEqual(rows["analysis_framework_mended_growing_cat"], ("no finding of that kind", "met"))
            self.assertEqual(rows["analysis: planted faults in frameworks"][1], verdict)
        rows = self.rows("analysis_framework_growing_cat", growing_cat_mended={**NOTHING, "findings": [finding("data_movement", 1, 2, of_window=0.06)]})
        self.assertEqual(rows["analysis_framework_mended_growing_cat"], ("data_movement, 3.0 to 6.0 % of the steps", "MISSED"))

    def test_a_program_that_does_not_run_by_itself_is_not_judged(self):
        self.program("sys.exit('no GPU')")
        self.assertEqual(self.rows("analysis_fault_tiny_kernels")["analysis_fault_tiny_kernels"], ("exit 1 by itself: no GPU", "not run"))

    def test_waits_of_known_length_are_compared_with_the_ledger(self):
        buckets = [{"bucket": "synchronization", "ns": 101e6}, {"bucket": "data_loading", "ns": 90e6}, {"bucket": "dependency", "ns": 100e6}]
        rows = self.rows("analysis_waits", waits={**NOTHING, "ledger": buckets})
        self.assertEqual([rows[f"analysis_waits_{cause}"][1] for cause in ("sync", "cpu", "dependency")], ["met", "MISSED", "met"])

    def test_comparisons_are_judged_by_exit_codes(self):
        rows = self.rows_of_comparisons(0, {f"slower_{number}_0": 1 for number in range(1, 6)})
        self.assertEqual(rows["compare_same"], ("no difference beyond noise in 5 of 5", "met"))
        self.assertEqual(rows["compare_same_single"], ("no difference beyond noise in 5 of 5", "met"))
        self.assertEqual(rows["compare_slower: a kernel slower by 3 %"], ("found in 5 of 5", "met"))

    def test_a_difference_between_sides_of_one_program_is_missed_whichever_is_the_base(self):
        rows = self.rows_of_comparisons(3, {"same_4_1": 1, "same_3_0": 1, "same_5_0": 1})
        self.assertEqual(rows["compare_same"], ("no difference beyond noise in 3 of 5; exit 1: ", "MISSED"))
        self.assertEqual(rows["compare_same_single"], ("no difference beyond noise in 2 of 5; exit 1: ", "MISSED"))
        self.assertEqual(rows["compare_slower: a kernel slower by 3 %"], ("found in 0 of 5; exit 3: ", "MISSED"))

    def test_the_line_that_explains_an_exit_code_is_reported(self):
        self.script(self.prefix / "bin/gpuprof", "#!/bin/sh\necho 'step>0%: passed: step' >&2\necho 'gpu>0%: failed: kernels' >&2\necho 'kernel:.*>0%: not decidable: a' >&2\nexit 1\n")
        script = "import sys; sys.argv = ['x']; import analysis_comparison as c; print(c.gate(['a', 'b'], ['c'], 'x'))"
        said = subprocess.run([sys.executable, "-c", script], cwd=self.check, capture_output=True, text=True, timeout=60)
        self.assertEqual(said.stdout.strip(), "(1, 'gpu>0%: failed: kernels')", said.stderr)


if __name__ == "__main__":
    unittest.main()

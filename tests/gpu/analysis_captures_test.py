#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""gpuprof analyze on made captures with one planted fault each (planted_faults.cpp), whose times are known without a GPU."""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import analysis_verdicts as verdicts  # noqa: E402

GPUPROF, MADE = os.environ["BUILT_GPUPROF"], os.environ["BUILT_MADE_CAPTURES"]
ROUNDING = 0.001  # of the window

FAULTS = {fault.name: fault for fault in (
    verdicts.Fault("sync_in_loop", frozenset({"sync_point"})),
    verdicts.Fault("item_in_loop", frozenset({"sync_point"})),
    verdicts.Fault("needless_sync", frozenset({"device_wide_sync", "sync_point"})),
    verdicts.Fault("pageable_copies", frozenset({"pageable_copy"})),
    verdicts.Fault("alloc_in_loop", frozenset({"alloc_in_loop"})),
    verdicts.Fault("held_allocations", frozenset({"alloc_in_loop"})),
    verdicts.Fault("waited_launches", frozenset({"cuda_graph"})),
    verdicts.Fault("late_loader", frozenset({"late_module_load"})),
    verdicts.Fault("tiny_kernels", frozenset({"cuda_graph", "launch_bound"})),
    verdicts.Fault("late_module_load", frozenset({"late_module_load"})),
    verdicts.Fault("serialized_streams", frozenset({"serialized_streams"})),
    verdicts.Fault("copy_alone", frozenset({"copy_alone"})),
    verdicts.Fault("exposed_comm", frozenset({"exposed_comm"})),
    verdicts.Fault("uneven_steps", frozenset({"uneven_steps"})),
    verdicts.Fault("fp32_products", frozenset({"fp32_products"})),
    verdicts.Fault("misaligned_products", frozenset({"misaligned_products"})),
)}


def by_itself(known):
    """How long the loop takes without what recording adds."""
    return known.get("loop_ns", known["window_ns"]) - known["recording_ns"]


class PlantedCaptures(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        if "json" not in subprocess.run([GPUPROF, "analyze", "--help"], capture_output=True, text=True).stdout:
            raise unittest.SkipTest("this gpuprof has no analyze -f json")
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="gpuprof-test-"))
        cls.addClassCleanup(shutil.rmtree, cls.folder, True)

    def made(self, name, *options, asked=()):
        """(advice, {what: known}) of a made capture."""
        capture = self.folder / f"{name}{'_'.join(options)}.gpuprof"
        known = subprocess.run([MADE, capture, "--fault", name, *options], capture_output=True, text=True, check=True)
        said = subprocess.run([GPUPROF, "analyze", "-f", "json", capture, *asked], capture_output=True, text=True)
        self.assertEqual(said.returncode, 0, said.stderr)
        return verdicts.read_advice(said.stdout), {key: int(value) for key, value in (line.split() for line in known.stdout.splitlines())}

    def judge(self, name, options):
        advice, faulty = self.made(name, *options)
        mended, without = self.made(name, "--mended", *options)
        won, slack = by_itself(faulty) - by_itself(without), ROUNDING * faulty["window_ns"]
        judgment = verdicts.judge_fault(FAULTS[name], advice, won)
        self.assertTrue(judgment.is_named, judgment.text)
        first = advice.findings[0]
        self.assertTrue(first.low_ns - slack <= won <= first.high_ns + slack, judgment.text)
        self.assertEqual(verdicts.judge_mended(FAULTS[name], mended), [])

    def test_the_ledger_of_each_capture_adds_up_to_the_known_busy_time_and_window(self):
        for name in [*FAULTS, "waits"]:
            for options in ([], ["--mended"]):
                with self.subTest(name=name, options=options):
                    advice, known = self.made(name, *options, asked=["--all"])
                    self.assertAlmostEqual(verdicts.busy_of(advice.ledger), known["gpu_busy_ns"], delta=1)
                    self.assertAlmostEqual(sum(advice.ledger.values()), known["window_ns"], delta=1)

    def test_waits_of_known_length_have_their_cause(self):
        advice, known = self.made("waits", asked=["--all"])
        for cause, found, planted, met in verdicts.judge_waits(advice.ledger, {cause: known[f"idle_{cause}_ns"] for cause in verdicts.CAUSES}):
            with self.subTest(cause=cause):
                self.assertTrue(met, f"{found} of {planted} ns")


def case_of(name, options):
    def test(self):
        self.judge(name, options)

    test.__doc__ = f"{name} {' '.join(options)}"
    return test


for fault_name in FAULTS:
    for suffix, given in (("", []), ("_with_all_calls", ["--launches"]), ("_by_runtime_names", ["--runtime-names"]), ("_by_both_names", ["--both-names"]),
                          ("_with_all_calls_by_both_names", ["--launches", "--both-names"])):
        setattr(PlantedCaptures, f"test_{fault_name}{suffix}", case_of(fault_name, given))


if __name__ == "__main__":
    unittest.main()

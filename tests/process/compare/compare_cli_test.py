# SPDX-License-Identifier: Apache-2.0
"""gpuprof compare: what it finds between made captures, what it says of captures that do not fit, and what its gate answers."""
import csv
import io
import json
import pathlib
import subprocess
import sys
import tempfile

import processes

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "replay"))
from gpuprof_test import Gpuprof  # noqa: E402

_kept = tempfile.TemporaryDirectory(prefix="gpuprof-compare-")


class Compare(Gpuprof):
    def made(self, **wanted):
        """A capture of this kind, made once."""
        words = [f"{key}={value}" for key, value in sorted(wanted.items())]
        file = pathlib.Path(_kept.name) / ("-".join(words).replace("/", "_").replace(" ", "_") + "-.gpuprof")
        if not file.exists():
            subprocess.run([processes.path("BUILT_COMPARED_RUNS"), file, *words], check=True)
        return file

    def side(self, runs, **wanted):
        """A folder of captures that differ in their seeds."""
        folder = pathlib.Path(tempfile.mkdtemp(dir=_kept.name))
        for seed in runs:
            (folder / f"{seed}.gpuprof").symlink_to(self.made(seed=seed, **wanted))
        return folder

    def compare(self, *words, code=0):
        run = self.run_program(processes.path("BUILT_GPUPROF"), "compare", *words, timeout=120)
        self.assertEqual(run.code, code, run.out + run.err)
        return run

    def lines(self, *words):
        """By kind and name."""
        document = json.loads(self.compare(*words, "--json").out)
        return {(line["kind"], line["name"]): line for line in document["lines"]}, document

    def verdicts(self, *words):
        return {name: line["verdict"] for (kind, name), line in self.lines(*words)[0].items() if line["verdict"] in ("worse", "better")}


class Differences(Compare):
    def test_two_runs_of_the_same_program_have_no_differences(self):
        for seed in range(1, 6):
            with self.subTest(seed):
                self.assertEqual(self.verdicts(self.made(seed=seed), self.made(seed=seed + 100)), {})

    def test_a_slower_kernel_is_found_and_costs_what_it_does(self):
        base, new = self.side(range(1, 5)), self.side(range(11, 15), slowed=1.05)
        lines, document = self.lines(base, new)
        slow = lines["kernel", "kernel_3(float*)"]
        self.assertEqual((slow["verdict"], document["step"], slow["match"]), ("worse", "step", "same"))
        self.assertEqual((slow["base_calls_per_step"], slow["new_calls_per_step"]), (3, 3))
        self.assertAlmostEqual(slow["change"], 0.05, delta=0.03)
        self.assertAlmostEqual(slow["cost_ns_per_step"], 3 * (slow["new_call_ns"] - slow["base_call_ns"]), delta=0.1)
        self.assertEqual([name for (kind, name), line in lines.items() if kind == "kernel" and line["verdict"] == "worse"], ["kernel_3(float*)"])
        self.assertEqual(len(document["base"]), 4)

    def test_a_line_of_python_is_known_by_its_text_and_compared_by_its_gpu_time_in_a_step(self):
        base, new = self.side(range(1, 5), stacks=1), self.side(range(11, 15), stacks=1, slowed=1.2, moved=5)
        lines, _ = self.lines(base, new, "--by", "line")
        found = {name: line for (kind, name), line in lines.items() if kind == "line"}
        self.assertEqual(set(found), {f"train.py: y = layer{i}(x)" for i in range(8)})
        slow = found["train.py: y = layer3(x)"]
        kernel = lines["kernel", "kernel_3(float*)"]
        self.assertEqual([name for name, line in found.items() if line["verdict"] == "worse"], ["train.py: y = layer3(x)"])
        self.assertAlmostEqual(slow["change"], 0.2, delta=0.05)
        self.assertEqual((slow["base_calls_per_step"], slow["new_calls_per_step"]), (1, 1))
        self.assertAlmostEqual(slow["base_total_ns_per_step"], kernel["base_total_ns_per_step"], delta=1)
        self.assertIn("** Lines of Python:", self.compare(base, new, "--by", "line").out)

    def test_a_gate_on_a_line_or_a_module_reads_them(self):
        base, new = self.side(range(1, 5), stacks=1), self.side(range(11, 15), stacks=1, slowed=1.2, moved=5)
        failed = self.compare(base, new, "--fail-on", "line:layer3(x)>5%", code=1)
        self.assertIn("line:layer3(x)>5%: failed: train.py: y = layer3(x) +", failed.err)
        self.assertIn("** Lines of Python:", failed.out)
        self.assertIn("passed", self.compare(base, new, "--fail-on", "line:layer2(x)>5%").err)
        self.assertIn("failed: c_fc: Linear +", self.compare(base, self.side(range(11, 15), stacks=1, slowed=3), "--fail-on", "module:c_fc>2%", code=1).err)
        self.assertIn("no line in these captures is it", self.compare(base, new, "--fail-on", "line:nowhere>3%", code=3).err)
        for words in (("--by", "module", "--fail-on", "line:layer3>5%"), ("--fail-on", "line:layer3>5%,module:c_fc>5%")):
            self.assertIn("either by line or by module", self.compare(base, new, *words, code=2).err)

    def test_own_code_is_where_one_says(self):
        base, new = self.made(seed=1, stacks=1, counters=1), self.made(seed=2, stacks=1, counters=1)
        def compared(*own):
            return {name for kind, name in self.lines(base, new, "--by", "line", *own)[0] if kind == "line"}
        self.assertEqual(compared("--own", "/nowhere", "--own", "/program"), {f"train.py: y = layer{i}(x)" for i in range(8)})
        self.assertEqual(compared("--own", "/launcher"), {"run.py:3"})
        self.assertIn("--own goes with --by line", self.compare(base, new, "--own", "/program", code=2).err)
        self.assertIn("--own goes with --by line", self.compare(base, new, "--by", "module", "--own", "/program", code=2).err)

        def roofline(*words, code=0):
            run = self.run_program(processes.path("BUILT_GPUPROF"), "roofline", *words, base)
            self.assertEqual(run.code, code, run.err)
            return run
        def places(*own):
            return {row["name"] for row in csv.DictReader(io.StringIO(roofline("-f", "csv", "--by", "line", *own).out))}
        self.assertEqual(places("--own", "/launcher"), {"run.py:3"})
        self.assertEqual(places("--own", "/program", "--own", "/other"), {f"train.py:{10 + i}" for i in range(8)})
        self.assertIn("--own goes with --by line, function or file", roofline("--own", "/program", code=2).err)
        own = self.run_program(processes.path("BUILT_GPUPROF"), "lines", "-f", "csv", "--own", "/launcher", base)
        self.assertEqual([row["Where"] for row in csv.DictReader(io.StringIO(own.out))], ["run.py:3"])

    def test_modules_of_pytorch_are_compared(self):
        base, new = self.side(range(1, 5), stacks=1), self.side(range(11, 15), stacks=1, slowed=3)
        lines, _ = self.lines(base, new, "--by", "module")
        found = {name: line["verdict"] for (kind, name), line in lines.items() if kind == "module"}
        self.assertEqual(found, {"(no module)": "same", "c_fc: Linear": "worse"})

    def test_lines_are_compared_only_if_asked_for_and_if_there_are_stacks(self):
        with_stacks, without = self.made(seed=1, stacks=1), self.made(seed=1)
        self.assertEqual([kind for kind, _ in self.lines(with_stacks, with_stacks)[0] if kind in ("line", "module")], [])
        self.assertIn("holds no Python stacks", self.compare(without, with_stacks, "--by", "line", code=1).err)
        self.assertIn("line", self.compare(with_stacks, with_stacks, "--by", "lines", code=2).err)

    def test_the_length_of_the_run_comes_first(self):
        base, new = self.made(seed=1), self.made(seed=2, slowed=1.5)
        lines, document = self.lines(base, new)
        run = lines["run", "run"]
        self.assertEqual([run["base_call_ns"], run["new_call_ns"]], [document[side][0]["window_ns"] for side in ("base", "new")])
        self.assertAlmostEqual(run["change"], run["new_call_ns"] / run["base_call_ns"] - 1)
        said = self.compare(base, new).out.splitlines()
        self.assertRegex(said[2], r"^run:  [\d.]+ m?s to [\d.]+ m?s, [+-][\d.]+ %$")

    def test_cost_and_change_of_a_line_agree(self):
        for line in self.lines(self.made(seed=1), self.made(seed=2, slowed=1.5))[0].values():
            calls = [line[f"{side}_calls_per_step"] for side in ("base", "new")]
            if line["kind"] in ("step", "gpu", "kernel") and calls[0] == calls[1] and line["change"] is not None:
                self.assertAlmostEqual(line["cost_ns_per_step"], calls[0] * line["base_call_ns"] * line["change"], delta=1)

    def test_the_ledger_has_times_beside_shares(self):
        lines, document = self.lines(self.made(seed=1), self.made(seed=2))
        buckets = [line for (kind, _), line in lines.items() if kind == "bucket" and line["base_window_share"] > 0.1]
        self.assertNotEqual(buckets, [])
        for line in buckets:
            whole = document["base"][0]["ledger_ns"] / document["base"][0]["ledger_steps"]
            self.assertAlmostEqual(line["base_call_ns"] / whole, line["base_window_share"], delta=1e-6)

    def test_the_ledger_is_about_the_steps_if_both_sides_have_some(self):
        data = pathlib.Path(processes.path("H200_CAPTURES")).parent
        ddp = [data / "h100" / f"ddp.rank{rank}.gpuprof" for rank in (0, 1)]
        _, document = self.lines(*ddp)
        self.assertEqual([document[side][0]["ledger_steps"] for side in ("base", "new")], [3, 4])
        self.assertIn("about the steps without warm-up", " ".join(document["notes"]))
        _, mixed = self.lines(ddp[0], data / "h200" / "counted_auto.gpuprof", "--different-programs")
        self.assertEqual([mixed[side][0]["ledger_steps"] for side in ("base", "new")], [0, 0])
        self.assertEqual(mixed["base"][0]["ledger_ns"], mixed["base"][0]["window_ns"])

    def test_a_slower_clock_is_taken_out(self):
        lines, document = self.lines(self.made(seed=1, counters=1), self.made(seed=2, counters=1, clock=0.94))
        self.assertGreater(document["clock"], 0.03)
        for (kind, name), line in lines.items():
            self.assertNotEqual(line["verdict"], "worse", f"{kind} {name}")
        slower = lines["kernel", "kernel_1(float*)"]
        self.assertAlmostEqual(slower["change"], slower["by_clock"], delta=0.015)
        text = self.compare(self.made(seed=1, counters=1), self.made(seed=2, counters=1, clock=0.94)).out
        self.assertRegex(text, r"step: .* longer, of which \+\d\.\d % clock")

    def test_renamed_and_split_kernels_are_shown_as_such(self):
        lines, _ = self.lines(self.made(seed=1), self.made(seed=2, renamed=1))
        renamed = lines["kernel", "newer_named(float*)"]
        self.assertEqual((renamed["match"], renamed["was"]), ("renamed", "kernel_3(float*)"))
        lines, _ = self.lines(self.made(seed=1), self.made(seed=2, split=1))
        split = lines["kernel", "part_a(float*) + part_b(float*)"]
        self.assertEqual((split["match"], split["was"]), ("split", "kernel_4(float*)"))
        self.assertAlmostEqual(split["change"], 0.4, delta=0.08)
        text = self.compare(self.made(seed=1), self.made(seed=2, renamed=1)).out
        self.assertIn("renamed: kernel_3(float*) -> newer_named(float*)", text)

    def test_different_gpus_are_compared_by_their_roofs(self):
        base, new = self.made(seed=1, counters=1), self.made(seed=2, counters=1, gpu="NVIDIA A100", efficiency=0.5)
        lines, document = self.lines(base, new)
        self.assertIn("the GPUs differ", " ".join(document["notes"]))
        kernel = lines["kernel", "kernel_1(float*)"]
        self.assertEqual(kernel["verdict"], "worse")
        self.assertAlmostEqual(kernel["by_roof"], 0.6, delta=0.1)
        self.assertIsNone(lines["step", "step"]["verdict"])

    def test_the_step_can_be_named(self):
        _, document = self.lines("--step", "forward", self.made(seed=1), self.made(seed=2))
        self.assertEqual(document["step"], "forward")
        run = self.compare("--step", "nothing", self.made(seed=1), self.made(seed=2), code=1)
        self.assertIn("no range is called 'nothing'", run.err)


class Output(Compare):
    def test_csv_and_json_say_the_same(self):
        pair = self.made(seed=1), self.made(seed=2, slowed=1.1)
        rows = list(csv.DictReader(io.StringIO(self.compare(*pair, "--csv").out)))
        lines, _ = self.lines(*pair)
        self.assertEqual(len(rows), len(lines))
        for row in rows:
            line = lines[row["kind"], row["name"]]
            self.assertEqual(row.keys(), line.keys())
            self.assertEqual(row["verdict"], line["verdict"] or "")
            self.assertEqual(float(row["cost_ns_per_step"]), line["cost_ns_per_step"])

    def test_a_markdown_table_stays_valid_with_any_characters_in_names(self):
        text = self.compare(self.made(seed=1), self.made(seed=2, slowed=1.1), "-f", "markdown").out
        rows, columns = 0, None
        for line in text.splitlines():
            if not line.startswith("|"):
                columns = None  # the next table has others
                continue
            rows += 1
            columns = columns or line.count("|")
            self.assertEqual(line.replace("\\|", "").count("|"), columns)
        self.assertGreater(rows, 10)
        self.assertIn("kernel\\_3(float\\*)", text)
        self.assertNotRegex(text, r"<\d")

    def test_a_file_is_written_in_the_format_of_its_name(self):
        out = self.folder / "comparison.md"
        run = self.compare(self.made(seed=1), self.made(seed=2), "-o", out)
        self.assertEqual(run.out, "")
        self.assertIn("### gpuprof compare", out.read_text())
        self.assertIn("--force-overwrite", self.compare(self.made(seed=1), self.made(seed=2), "-o", out, code=1).err)


class Gate(Compare):
    def test_the_gate_fails_only_if_the_slowdown_exceeds_the_noise(self):
        base, slow = self.side(range(1, 6)), self.side(range(11, 16), slowed=1.2)
        failed = self.compare(base, slow, "--fail-on", "kernel:kernel_3>5%,lost>0", code=1)
        self.assertRegex(failed.err, r"kernel:kernel_3>5%: failed: kernel_3\(float\*\) \+\d+\.\d %")
        self.assertIn("lost>0: passed", failed.err)
        self.assertIn("passed", self.compare(base, self.side(range(21, 26)), "--fail-on", "kernel:kernel_3>5%").err)

    def test_one_capture_per_side_cannot_decide_a_limit_below_the_noise_of_runs(self):
        run = self.compare(self.made(seed=1), self.made(seed=2), "--fail-on", "step>3%", code=3)
        self.assertRegex(run.err, r"step>3%: not decidable: .*\d+ captures a side would do")
        self.assertIn("step>10%: passed", self.compare(self.made(seed=1), self.made(seed=2), "--fail-on", "step>10%").err)

    def test_a_failed_clause_counts_more_than_one_that_cannot_be_decided(self):
        self.compare(self.made(seed=1), self.made(seed=2, slowed=2), "--fail-on", "step>1%", "--fail-on", "kernel:kernel_3>20%", code=1)

    def test_a_capture_compared_with_itself_passes_every_gate(self):
        same = self.made(seed=1)
        self.compare(same, same, "--fail-on", "run>0%,step>0%,gpu>0%,kernel:.*>0%,bucket:compute>0%,lost>0")

    def test_the_gate_looks_at_the_length_of_the_run(self):
        base, new = self.side(range(1, 6)), self.side(range(11, 16), slowed=2)
        self.assertIn("run>3%: failed: run +", self.compare(base, new, "--fail-on", "run>3%", code=1).err)
        self.assertIn("run>3%: not decidable: ", self.compare(self.made(seed=1), self.made(seed=2), "--fail-on", "run>3%", code=3).err)

    def test_losses_fail_the_gate(self):
        run = self.compare(self.made(seed=1), self.made(seed=2, lost=5), "--fail-on", "lost>0", code=1)
        self.assertIn("lost>0: failed: 5 records", run.err)

    def test_a_gate_that_cannot_be_read_is_a_wrong_command_line(self):
        for gate, says in (("stepp>3%", "did you mean step?"), ("step>3", "write 3%"), ("kernel:(>3%", "regular expression")):
            with self.subTest(gate):
                run = self.compare(self.made(seed=1), self.made(seed=2), "--fail-on", gate, code=2)
                self.assertIn(says, run.err)
                self.assertEqual((run.out, run.err.count("\n")), ("", 1))


class BadInput(Compare):
    def test_different_programs_are_not_compared_silently(self):
        pair = self.made(seed=1), self.made(seed=2, program="/bin/other")
        run = self.compare(*pair, code=1)
        self.assertIn("is of made, ", run.err)
        self.assertEqual(run.out, "")
        self.assertIn("different programs", self.compare(*pair, "--different-programs").out)

    def test_captures_without_kernels_or_ranges_can_be_compared(self):
        self.assertIn("holds no kernels", self.compare(self.made(seed=1, kernels=0), self.made(seed=2, kernels=0)).out)
        text = self.compare(self.made(seed=1, ranges=0), self.made(seed=2, ranges=0)).out
        self.assertIn("no range repeats on both sides", text)
        self.assertIn("kernel_3(float*)", text)

    def test_a_run_that_is_too_short_is_not_judged(self):
        lines, _ = self.lines(self.made(seed=1, steps=1), self.made(seed=2, steps=1, slowed=3))
        self.assertEqual({line["verdict"] for line in lines.values()}, {None})

    def test_a_cut_capture_is_compared_and_reported_as_cut(self):
        whole = self.made(seed=2).read_bytes()
        cut = self.folder / "cut.gpuprof"
        cut.write_bytes(whole[: len(whole) * 2 // 3])
        self.assertIn(f"missing from {cut}", self.compare(self.made(seed=1), cut).out)

    def test_files_that_are_not_captures_are_refused(self):
        text = self.folder / "text.gpuprof"
        text.write_text("not a capture")
        self.assertIn(str(text), self.compare(self.made(seed=1), text, code=1).err)
        self.assertIn("nowhere", self.compare(self.made(seed=1), "nowhere.gpuprof", code=1).err)
        self.compare(self.made(seed=1), code=2)

    def test_captures_of_an_h200_against_themselves(self):
        for capture in sorted(pathlib.Path(processes.path("H200_CAPTURES")).glob("*.gpuprof")):
            with self.subTest(capture.name):
                self.assertEqual(self.verdicts(capture, capture), {})


processes.main()

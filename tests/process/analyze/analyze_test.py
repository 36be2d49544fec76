#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""gpuprof analyze as users call it: every format, several captures, bad input, the gate, and at the end of gpuprof profile.

analyze_test.py GPUPROF MADE_CAPTURES DOCS MADE_JOBS
"""
import csv
import io
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "export"))
import clients  # noqa: E402

GPUPROF, MADE, DOCS, MADE_JOBS = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3]), sys.argv[4]
DATA = DOCS.parent / "tests/data"


class Case(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls._folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls._folder.cleanup)
        cls.folder = pathlib.Path(cls._folder.name).resolve()
        subprocess.run([MADE, cls.folder], check=True)

    def run_gpuprof(self, *words):
        environment = {name: value for name, value in os.environ.items() if not name.startswith("GPUPROF_")}
        environment["XDG_CACHE_HOME"] = str(self.folder / "cache")
        return subprocess.run([GPUPROF, *map(str, words)], cwd=self.folder, env=environment, text=True, capture_output=True, timeout=60)

    def analyze(self, *words, code=0):
        run = self.run_gpuprof("analyze", *words)
        self.assertEqual(run.returncode, code, run.stderr)
        return run

    def json_of(self, *words):
        return json.loads(self.analyze("-f", "json", *words).stdout)

    def refused(self, code, *words):
        """One line on stderr, nothing on stdout; that line."""
        run = self.analyze(*words, code=code)
        self.assertEqual(run.stdout, "")
        self.assertEqual(run.stderr.count("\n"), 1, run.stderr)
        self.assertTrue(run.stderr.startswith("gpuprof analyze: "), run.stderr)
        return run.stderr


class Text(Case):
    def test_the_text_says_what_limits_the_program_and_where_time_went_and_what_was_not_looked_at(self):
        run = self.analyze("steps.gpuprof")
        self.assertEqual(run.stderr, "")
        self.assertRegex(run.stdout, r"\Acaptured: made --by test on NVIDIA H200.*\nlost: .*\ncost: ")
        self.assertIn("The GPU is busy", run.stdout)
        ledger = run.stdout.split("Where the time of the GPU went:\n")[1].split("\n\n")[0]
        shares = [float(share) for share in re.findall(r"(?m)^  (?!total).* ([\d.]+) %", ledger)]
        self.assertAlmostEqual(sum(shares), 100, delta=0.5)
        self.assertRegex(run.stdout, r"(?m)^  total .* 100\.0 %")
        self.assertIn("Not looked at:", run.stdout)
        self.assertLessEqual(run.stdout.count("\n"), 100)
        self.assertNotIn("\x1b", run.stdout)

    def test_rules_whose_counters_were_not_read_around_launches_are_not_looked_at(self):
        unread, read = ({one["rule"] for one in self.json_of(name)["not_looked_at"]} for name in ("too_short_to_explain.gpuprof", "explained.gpuprof"))
        for rule in ("bank_conflicts", "divergence", "uncoalesced"):
            self.assertIn(rule, unread)
        self.assertIn("divergence", unread - read)
        note = "Note: what the set explain reads around launches was read of no kernel"
        self.assertIn(note, self.analyze("too_short_to_explain.gpuprof").stdout)
        self.assertNotIn(note, self.analyze("explained.gpuprof").stdout)
        self.assertNotIn(note, self.analyze("steps.gpuprof").stdout)

    def test_without_counters_a_line_says_what_kinds_and_gains_come_from(self):
        note = "Note: the capture holds no counters: what kernels do comes from their names"
        self.assertIn(note, self.analyze(DATA / "repaired/growing_cache.gpuprof").stdout)
        self.assertNotIn(note, self.analyze(DATA / "h100/ddp.rank0.gpuprof").stdout)

    def test_the_text_says_how_close_the_program_is_to_the_roof_or_what_would_save_time(self):
        text = self.analyze("steps.gpuprof").stdout
        if re.search(r"(?m)^\d+ findings?", text):
            self.assertRegex(text, r"(?m)^ 1\. .*\[\w+\]\n    potential gain ")
        else:
            self.assertIn("No finding above 1.0 % of the run.", text)
            self.assertIn("How close its kernels are to the roof is not known; needs: ", text)

    def test_the_ledger_by_range_and_by_step(self):
        for by in ("gpu", "range", "step"):
            run = self.analyze("--by", by, "steps.gpuprof")
            self.assertIn("Where the time of GPUs went:", run.stdout)
        by_kind = self.analyze("--by", "kind", "-f", "csv", DATA / "repaired/growing_cache.gpuprof").stdout
        kinds = {row["kind"]: float(row["share"]) for row in csv.DictReader(io.StringIO(by_kind))}
        self.assertAlmostEqual(sum(kinds.values()), 1, places=6)
        self.assertGreater(kinds["moves"], 0)
        shown = self.analyze("--by", "kind", DATA / "repaired/growing_cache.gpuprof").stdout
        self.assertRegex(shown, r"(?m)^  kind of work +time +share +launches +DRAM +of its roof\n  ")
        self.assertIn("--by rank takes several captures", self.refused(2, "--by", "rank", "steps.gpuprof"))
        self.assertIn("did you mean range?", self.refused(2, "--by", "rnage", "steps.gpuprof"))

    def test_files_are_written_and_not_replaced_unless_asked(self):
        out = self.folder / "advice.json"
        run = self.analyze("-o", out, "steps.gpuprof")
        self.assertEqual(run.stdout, "")
        self.assertEqual(json.loads(out.read_text())["schema"], "gpuprof-analyze-1")
        self.assertIn("--force-overwrite", self.refused(1, "-o", out, "steps.gpuprof"))
        self.analyze("-o", out, "--force-overwrite", "steps.gpuprof")
        before = (self.folder / "steps.gpuprof").read_bytes()
        self.refused(1, "-o", "steps.gpuprof", "--force-overwrite", "steps.gpuprof")
        self.assertEqual((self.folder / "steps.gpuprof").read_bytes(), before)


class Arithmetic(Case):
    """The figures in the arithmetic of a finding lead to its gain, for each finding of each stored capture."""
    TIME = r"(?:0|\d[\d.]* (?:ns|us|ms|s))"
    ENDS = re.compile(rf"(?:: |= |at least )({TIME})(?: to ({TIME}))?(?:, for [a-z ]+)?$")
    REPLAYED = re.compile(rf"gets ({TIME}) shorter at best \([^)]*\): x ([\d.]+) (?:steps|stretches)(?: x (\d+) GPUs)? x 1\.10 \([^)]*\) = ({TIME}); "
                          rf"at least (?:({TIME})[^:]*: x [^=]* = ({TIME})|0)")

    @staticmethod
    def ns(text):
        return 0.0 if text == "0" else float(text.split()[0]) * {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9}[text.split()[1]]

    @staticmethod
    def is_near(stated, exact):
        """Times have two or three digits."""
        return abs(stated - exact) <= 0.06 * max(stated, exact) + 1

    def fault(self, finding):
        text, gain = finding["arithmetic"], finding["potential_gain_ms"]
        low, high = gain["low"] * 1e6, gain["high"] * 1e6
        if high == 0 and ("no gain" in text or "no shorter" in text):
            return ""
        replayed = self.REPLAYED.search(text)
        if "shorter at best" in text:
            if not replayed:
                return "no product"
            saved, steps, gpus, product, _, least = replayed.groups()
            if not self.is_near(self.ns(saved) * float(steps) * int(gpus or 1) * 1.1, self.ns(product)):
                return "the product is wrong"
            if not re.search("; (?:at most|low) ", text[replayed.start():]):
                return "" if self.is_near(self.ns(product), high) and self.is_near(self.ns(least or "0"), low) else "another gain"
        ends = self.ENDS.search(text)
        if not ends:
            return "no gain at its end"
        return "" if self.is_near(self.ns(ends[1]), low) and self.is_near(self.ns(ends[2] or ends[1]), high) else "another gain"

    def test_the_arithmetic_of_each_finding_leads_to_its_gain(self):
        looked_at = set()
        for capture in sorted(DATA.glob("*/*.gpuprof")):
            for whole in ([], ["--all"]):
                for finding in self.json_of("--limit", "0", "--min-gain", "0%", *whole, capture)["findings"]:
                    self.assertEqual(self.fault(finding), "", (capture, whole, finding["rule"], finding["arithmetic"], finding["potential_gain_ms"]))
                    looked_at.add(finding["rule"])
        self.assertGreaterEqual(len(looked_at), 15, looked_at)

    def test_arithmetic_of_another_gain_is_found(self):
        for finding in self.json_of("--limit", "0", DATA / "repaired/growing_cache.gpuprof")["findings"]:
            finding["potential_gain_ms"]["high"] *= 1.5
            finding["potential_gain_ms"]["high"] += 1
            self.assertNotEqual(self.fault(finding), "", finding["arithmetic"])


class PlainWords(Case):
    """Lines that stopped a newcomer do not come back, in the commands and in what the page shows."""
    HARD = re.compile(r"holds the program|launched as fast as it does|nothing to do|back to back|\bmend|of the time of the GPU|at most 0\.0 %|waits for latency|"
                      r"SMs: the others are idle|of the roof 0\.|below the greatest clock 0\.|\(0 to |gain 0 to |does not say how far|(?<![\d.])-0\.0+(?![\d.])")

    def test_hard_lines_do_not_come_back(self):
        base, new = DATA / "h100/ddp.rank0.gpuprof", DATA / "h100/ddp.rank1.gpuprof"
        for words in (["analyze", "--help"], ["compare", base, new], ["compare", base, base], ["analyze", base, new], *(
                [command, *more, capture] for capture in sorted(DATA.glob("*/*.gpuprof"))
                for command, *more in (["analyze"], ["analyze", "--all", "--limit", "0", "--min-gain", "0%"], ["analyze", "-f", "markdown"], ["stats"]))):
            run = self.run_gpuprof(*words)
            self.assertEqual(run.returncode, 0, run.stderr)
            # Names of kernels and ranges are the program's own words.
            found = self.HARD.search(re.sub(r"(?m)^ *kernel .*$", "", run.stdout + run.stderr))
            self.assertIsNone(found, (words, found and run.stdout[max(0, found.start() - 80):found.end() + 40]))

    def test_words_for_buckets_are_those_of_the_page(self):
        page = (DOCS.parent / "libgpuprof/host/page/web/theme.js").read_text()
        source = (DOCS.parent / "libgpuprof/host/analysis/timeline/time_bucket.cpp").read_text()
        names = re.findall(r'\{"((?:idle: |this |compute|communication|copy)[^"]*)",', source)
        self.assertGreaterEqual(len(names), 15)
        for name in names:
            self.assertIn(f"'{name}'", page)
            self.assertIn(f"| {name} |", (DOCS / "analyze.md").read_text())


class LateRank(Case):
    """Eight ranks on two hosts, the second of which has another clock; all wait for rank 5."""

    def job(self):
        folder = self.folder / "job"
        folder.mkdir(exist_ok=True)
        for rank in range(8):
            subprocess.run([MADE_JOBS, folder / f"rank{rank}.gpuprof", "--job", "40", "--rank", str(rank)], check=True)
        return folder

    def test_the_rank_that_all_others_wait_for_is_named_with_its_cost(self):
        told = self.json_of(self.job())
        late = [one for one in told["findings"] if one["rule"] == "late_rank"]
        self.assertEqual(len(late), 1)
        self.assertIn("rank 5 comes last to 39 of 39", late[0]["what"])
        # Its 19 kernels of a step take 10 us longer each.
        self.assertIn("its kernels run 190 us longer, most of it work", late[0]["what"])
        self.assertAlmostEqual(late[0]["potential_gain_ms"]["high"], 40 * 0.19, delta=0.3)
        self.assertNotIn("late_rank", [one["rule"] for one in told["not_looked_at"]])

    def test_a_rank_is_late_in_the_steps_that_are_looked_at_and_not_before_them(self):
        ranks = DATA / "h100"
        steps = min(len(self.json_of(capture)["steps"]) for capture in ranks.glob("*.gpuprof"))
        late, before = (next(one for one in told["findings"] + told["below_threshold"] if one["rule"] == "late_rank")
                        for told in (self.json_of(ranks), self.json_of("--all", ranks)))
        figures = {one["name"]: one for one in late["evidence"]}
        self.assertEqual(steps, 3)
        self.assertEqual((figures["late steps"]["value"], figures["late steps"]["unit"]), (3, "of 3"))
        self.assertIn("its CPU works", late["what"])
        self.assertEqual(late["where"]["range"], "forward")
        self.assertLess(figures["late in all"]["value"], self.json_of(ranks)["window_ns"])
        self.assertIn("late steps 3 of 3 (traced)", self.analyze(ranks).stdout)

    def test_a_late_rank_is_named_with_its_reason_and_what_the_repair_won(self):
        """The phases of two ranks on two H200s; what the repaired phases were shorter by is in docs/whatif.md."""
        ranks = DATA / "ranks"
        for phase, reason, won in (("late_cpu_FAULT", r"its CPU works 1\.\d ms longer in range input", None),
                                   ("spin_half_of_one_FIXED", r"its kernels run 8\d\d us longer, most of it spin_kernel", None),
                                   ("late_gpu_FAULT", r"its kernels run 8\d\d us longer, most of it spin_kernel", 40 * 0.861)):
            told = self.json_of("--filter-nvtx", phase, ranks)
            late = [one for one in told["findings"] if one["rule"] == "late_rank"]
            self.assertEqual(len(late), 1, phase)
            self.assertRegex(late[0]["what"], r"^rank 1 comes last to (\d+) of \1 collectives, .*" + reason)
            self.assertLess(late[0]["of_window"]["high"], 1)
            if won:
                self.assertLessEqual(late[0]["potential_gain_ms"]["low"], won)
                self.assertGreaterEqual(late[0]["potential_gain_ms"]["high"], won)
        for phase in ("late_in_turn", "overlap", "syncs", "spin_half", "spin_half_of_one", "item_of_one"):
            told = self.json_of("--filter-nvtx", f"{phase}_FAULT", ranks)
            self.assertNotIn("late_rank", [one["rule"] for one in told["findings"]], phase)

    def test_what_ranks_wait_for_one_that_the_profiler_held_is_the_profilers(self):
        told = self.json_of("--all", "held.rank*.gpuprof")
        self.assertNotIn("late_rank", [one["rule"] for one in told["findings"] + told["below_threshold"]])
        self.assertNotIn("late_rank", [one["rule"] for one in told["not_looked_at"]])
        us = {(line["rank"], line["bucket"]): line["ns"] / 1000 for line in told["ledger"]}
        self.assertAlmostEqual(us["0", "profiler"], 20 * 200, delta=20)
        self.assertAlmostEqual(us["0", "communication"], 20 * 80, delta=20)
        self.assertAlmostEqual(us["1", "profiler"], 20 * 200, delta=20 * 10)
        self.assertAlmostEqual(us["1", "communication"], 20 * 80, delta=20)
        self.assertTrue([line for line in told["remarks"] if line.startswith("rank 0: what it waited")], told["remarks"])

    def test_a_gate_on_late_rank_can_be_decided(self):
        folder = self.job()
        self.assertIn("late_rank", self.analyze(folder, "--fail-on", "late_rank>5%", code=1).stderr)
        self.analyze(folder, "--skip-rule", "late_rank")


class ForPrograms(Case):
    def test_json_matches_its_schema(self):
        clients.on_path(clients.folder_of("jsonschema"))
        import jsonschema
        check = jsonschema.Draft202012Validator(json.loads((DOCS / "analyze.schema.json").read_text()))
        for captures in (["steps.gpuprof"], ["job.rank0.gpuprof", "job.rank1.gpuprof"]):
            check.validate(self.json_of(*captures))
            check.validate(self.json_of("--min-gain", "100%", *captures))
        broken = self.json_of("steps.gpuprof")
        broken["ledger"][0]["bucket"] = "waiting"
        self.assertFalse(check.is_valid(broken))
        del broken["ledger"]
        self.assertFalse(check.is_valid(broken))

    def test_the_ledger_of_each_gpu_adds_up_to_its_window(self):
        report = self.json_of("steps.gpuprof")
        self.assertAlmostEqual(sum(line["share"] for line in report["ledger"]), 1, places=9)
        self.assertAlmostEqual(sum(line["ns"] for line in report["ledger"]) / report["window_ns"], 1, places=6)

    def test_the_parts_of_the_critical_path_add_up_to_the_step(self):
        path = self.json_of(DATA / "repaired/growing_cache.gpuprof", "--filter-nvtx", "FAULT")["critical_path"]
        self.assertEqual(path["step"], "step")
        for which in ("median", "slowest"):
            parts = sum(value for key, value in path[which].items() if key.endswith("_ns") and key not in ("length_ns", "inferred_ns"))
            self.assertAlmostEqual(parts, path[which]["length_ns"], delta=1)
        stats = self.run_gpuprof("stats", "-r", "critical_path", "-f", "json", DATA / "repaired/growing_cache.gpuprof", "--filter-nvtx", "FAULT")
        found = {row["Name"]: row for row in json.loads(stats.stdout)}
        self.assertEqual(path["median"]["kernels_ns"], found["kernels"]["On Path (ns)"])
        self.assertEqual(path["slowest"]["length_ns"], found["the whole step"]["Slow On Path (ns)"])

    def test_without_steps_there_is_no_critical_path(self):
        self.assertIsNone(self.json_of("job.rank*.gpuprof")["critical_path"])
        self.assertIsNone(self.json_of(DATA / "h200/counted_auto.gpuprof")["critical_path"])

    def test_every_bucket_is_explained(self):
        page = (DOCS / "analyze.md").read_text()
        schema = json.loads((DOCS / "analyze.schema.json").read_text())
        for bucket in schema["$defs"]["bucket"]["enum"]:
            self.assertIn(f"| `{bucket}` |", page)
        header = next(csv.reader(io.StringIO(self.analyze("--by", "gpu", "-f", "csv", "steps.gpuprof").stdout)))
        self.assertEqual([name for name in header if name.endswith("_ns")][1:], [bucket + "_ns" for bucket in schema["$defs"]["bucket"]["enum"]])

    def test_csv_has_a_row_for_each_finding_and_the_rest_goes_to_stderr(self):
        run = self.analyze("-f", "csv", "steps.gpuprof")
        rows = list(csv.DictReader(io.StringIO(run.stdout)))
        report = self.json_of("steps.gpuprof")
        self.assertEqual([row["rule"] for row in rows], [one["rule"] for one in report["findings"] + report["below_threshold"]])
        self.assertTrue(run.stdout.startswith("rule,group,severity,what,device,range,kernel,call,"))
        self.assertTrue(run.stderr.startswith("captured: "))
        by_gpu = list(csv.DictReader(io.StringIO(self.analyze("-f", "csv", "--by", "gpu", "steps.gpuprof").stdout)))
        self.assertEqual([row["label"] for row in by_gpu], ["GPU 0"])
        self.assertAlmostEqual(float(by_gpu[0]["total_ns"]), sum(line["ns"] for line in report["ledger"]), delta=1)


class SeveralCaptures(Case):
    def test_ranks_are_named_and_joined(self):
        for words in (["job.rank0.gpuprof", "job.rank1.gpuprof"], ["job.rank*.gpuprof"]):
            run = self.analyze(*words)
            self.assertIn("as 2 ranks", run.stdout)
            self.assertRegex(run.stdout, r"(?m)^  rank +time")
            self.assertRegex(run.stdout, r"(?m)^  1 +\d")
        report = self.json_of("job.rank*.gpuprof")
        self.assertEqual([rank["rank"] for rank in report["ranks"]], ["0", "1"])
        self.assertEqual({line["rank"] for line in report["ledger"]}, {"0", "1"})
        self.assertNotIn("the captures of all ranks on the command line", [one["how"] for one in report["not_looked_at"]])
        self.assertIn("of several: gpu or rank", self.refused(2, "--by", "range", "job.rank*.gpuprof"))

    def test_a_rank_that_cannot_be_read_is_named(self):
        (self.folder / "torn").mkdir()
        for name in ("job.rank0.gpuprof", "job.rank1.gpuprof"):
            (self.folder / "torn" / name).write_bytes((self.folder / name).read_bytes())
        (self.folder / "torn" / "job.rank1.gpuprof").write_bytes(b"no capture")
        run = self.analyze("torn")
        self.assertIn("job.rank1.gpuprof", run.stdout)
        self.assertIn("The GPU is busy", run.stdout)


class BadInput(Case):
    def test_an_unknown_rule_is_answered_with_the_nearest_name(self):
        for option in ("--rule", "--skip-rule", "--fail-on"):
            self.assertIn("did you mean sync_point?", self.refused(2, option, "sync_pont", "steps.gpuprof"))
        self.assertIn("did you mean gpu_gaps?", self.refused(2, "--rule", "gpu_gap", "steps.gpuprof"))
        self.assertIn("--list-rules", self.refused(2, "--rule", "what is this", "steps.gpuprof"))

    def test_invalid_shares_are_refused(self):
        for wrong in ("", "x", "1%%", "-1%", "101%", "nan", "2"):
            self.assertIn("--min-gain", self.refused(2, f"--min-gain={wrong}", "steps.gpuprof"))
        self.assertIn("--fail-on", self.refused(2, "--fail-on", "sync_point>much", "steps.gpuprof"))

    def test_captures_without_gpu_work_say_so(self):
        for name in ("only_ranges.gpuprof", "empty.gpuprof"):
            self.assertIn(f"{name} holds no work of a GPU", self.refused(1, name))

    def test_filters_that_match_nothing_are_refused(self):
        self.assertIn("no GPU 7", self.refused(1, "--device", "7", "steps.gpuprof"))
        self.assertIn("no NVTX range 'no such range'", self.refused(1, "--filter-nvtx", "no such range", "steps.gpuprof"))
        self.assertIn("only: --device 0", self.analyze("--device", "0", "steps.gpuprof").stdout)

    def test_a_phase_is_analyzed_as_a_run_of_its_own(self):
        faults = DOCS.parent / "tests" / "data" / "repaired" / "pageable.gpuprof"
        table = self.run_gpuprof("stats", "-r", "nvtx_sum", "--format", "csv", faults).stdout
        length = {row["Range"]: int(row["Total Time (ns)"]) for row in csv.DictReader(io.StringIO(table[table.index("Time (%)"):]))}
        for name in ("FAULT", "FIXED"):
            with self.subTest(phase=name):
                one = self.json_of("--all", "--filter-nvtx", name, faults)
                self.assertAlmostEqual(one["window_ns"], length[name], delta=1)
                self.assertAlmostEqual(sum(line["ns"] for line in one["ledger"]), length[name], delta=length[name] * 1e-6)
                self.assertEqual(len(one["steps"]), 25)
                self.assertNotIn("filters are on", " ".join(one["remarks"]))
        copying = [sum(line["ns"] for line in self.json_of("--filter-nvtx", name, faults)["ledger"] if line["bucket"] == "transfer") for name in ("FAULT", "FIXED")]
        self.assertGreater(copying[0], 5 * copying[1])

    def test_a_phase_of_one_stretch_is_about_its_steps(self):
        # Between its steps, this phase makes them ready on the CPU.
        capture = DATA / "repaired" / "growing_cache.gpuprof"
        steps, whole = self.json_of("--filter-nvtx", "FAULT", capture), self.json_of("--all", "--filter-nvtx", "FAULT", capture)
        part = steps["part"]
        self.assertNotIn("part", whole)
        self.assertAlmostEqual(part["before_ns"] + part["ns"] + part["behind_ns"], whole["window_ns"], delta=1)
        self.assertEqual((part["ns"], len(steps["steps"])), (steps["window_ns"], part["steps"]))
        self.assertIn("--all shows the whole phase", part["line"])
        busy = [int(re.search(r"busy (\d+) % of the time", one["holds"]["sentence"])[1]) for one in (steps, whole)]
        self.assertGreater(busy[0], 90)
        self.assertLess(busy[1], 50)
        for one in steps, whole:
            self.assertRegex(one["holds"]["steps"], r"10 % less time of kernels makes a step 9\.\d % shorter")
        self.assertNotIn("part", self.json_of("--filter-nvtx", "step", capture))  # several stretches

    def test_time_between_the_stretches_of_a_phase_belongs_to_no_step(self):
        found = self.json_of("--filter-nvtx", "step", DOCS.parent / "tests" / "data" / "repaired" / "pageable.gpuprof")
        self.assertEqual(len(found["steps"]), 50)
        self.assertAlmostEqual(sum(step["period_ns"] for step in found["steps"]), found["window_ns"], delta=50)

    def test_one_step_has_a_ledger_of_its_own_without_start_up(self):
        capture = DATA / "repaired" / "pageable.gpuprof"
        listed = {one["step"]: one for one in self.json_of(capture)["steps"]}
        rows = lambda report: csv.DictReader(self.run_gpuprof("stats", "-r", report, "-f", "csv", capture).stdout.splitlines())  # noqa: E731
        begin, end = [(int(row["Start (ns)"]), int(row["End (ns)"])) for row in rows("nvtx_pushpop_trace") if row["Name"].endswith("step")][20]
        kernels = [(int(row["Start (ns)"]), int(row["Start (ns)"]) + int(row["Duration (ns)"])) for row in rows("cuda_gpu_trace") if not row["Name"].startswith("[")]
        for asked in ("--filter-nvtx", "--step"):
            found = self.json_of(asked, "step/20", capture)
            with self.subTest(asked):
                self.assertFalse({line["bucket"] for line in found["ledger"]} & {"start_up", "nothing_to_do"})
                self.assertAlmostEqual(sum(line["ns"] for line in found["ledger"]), found["window_ns"], delta=1)
                until = begin + found["window_ns"]
                self.assertGreaterEqual(until, end)
                running = sum(max(0, min(b, until) - max(a, begin)) for a, b in kernels)
                self.assertAlmostEqual(sum(line["ns"] for line in found["ledger"] if line["bucket"] == "compute"), running, delta=1)
                self.assertEqual([one["step"] for one in found["steps"]], ["step 20"])
        self.assertAlmostEqual(found["window_ns"], listed["step 20"]["period_ns"], delta=1)

    def test_the_slowest_step_is_none_of_the_warm_up(self):
        capture = DATA / "h100" / "ddp.rank0.gpuprof"
        found = self.json_of("--step", "slowest", capture)
        longest = max(self.json_of(capture)["steps"], key=lambda step: step["period_ns"])
        self.assertEqual([step["step"] for step in found["steps"]], [longest["step"]])
        self.assertIn(f'"step" {longest["step"].split()[1]} of 5, ', " ".join(found["heading"]))
        self.assertIn("the slowest without 2 of warm-up", " ".join(found["heading"]))
        self.assertIn("there are 5 steps", self.run_gpuprof("analyze", "--step", "5", capture).stderr)
        self.assertEqual(self.run_gpuprof("analyze", "--step", "slowest", "--device", "0", capture).returncode, 2)
        self.assertIn("no NVTX range repeats", self.run_gpuprof("analyze", "--step", "slowest", DATA / "h200" / "counted_auto.gpuprof").stderr)

    def test_without_steps_a_long_start_is_left_out_and_said(self):
        capture = DATA / "h200" / "mixed_exact.gpuprof"
        whole, steady = self.json_of("--all", capture), self.json_of(capture)
        part = steady["part"]
        self.assertEqual((part["step"], part["steps"], part["warm_up_steps"]), ("", 0, 0))
        self.assertAlmostEqual(part["before_ns"] + part["ns"] + part["behind_ns"], whole["window_ns"], delta=1)
        self.assertLess(part["ns"], 0.75 * whole["window_ns"])
        self.assertNotIn("start_up", {line["bucket"] for line in steady["ledger"]})
        self.assertIn("start_up", {line["bucket"] for line in whole["ledger"]})
        self.assertAlmostEqual(sum(line["ns"] for line in steady["ledger"]), part["ns"], delta=1)
        text = self.analyze(capture).stdout
        self.assertIn("part:     the part behind the first tenth of the launches, 911.7 ms; left out: 732.3 ms before it", text)
        self.assertNotIn("% of the run:", text)
        self.assertNotIn("part", self.json_of(DATA / "h200" / "counted_auto.gpuprof"))

    def test_markdown_is_short_and_has_the_findings(self):
        for capture in (DATA / "repaired" / "pageable.gpuprof", DATA / "h100" / "ddp.rank0.gpuprof", DATA / "h200" / "mixed_exact.gpuprof"):
            with self.subTest(capture.name):
                lines = self.analyze("-f", "markdown", "--min-gain", "0%", capture).stdout.splitlines()
                found = self.json_of("--min-gain", "0%", capture)
                self.assertLessEqual(len(lines), 60)
                self.assertEqual(lines[0], "### gpuprof analyze")
                listed = [line for line in lines if re.match(r"\d+\. \*\*", line)]
                for line, one in zip(listed, found["findings"]):
                    self.assertIn(f"(`{one['rule']}`)", line)
                self.assertEqual(len(listed), min(len(found["findings"]), (60 - lines.index(listed[0]) - 2) // 3) if listed else 0)
                self.assertEqual(lines.count("```"), 2)
        self.assertEqual(self.analyze("-f", "markdown", DATA / "h100" / "ddp.rank0.gpuprof").stdout, self.analyze("-f", "md", DATA / "h100" / "ddp.rank0.gpuprof").stdout)

    def test_steps_come_first_and_the_rest_is_said(self):
        ranks = DOCS.parent / "tests" / "data" / "h100"
        whole, steps = self.json_of("--all", ranks / "ddp.rank0.gpuprof"), self.json_of(ranks / "ddp.rank0.gpuprof")
        part = steps["part"]
        self.assertNotIn("part", whole)
        self.assertEqual((part["step"], part["steps"], part["warm_up_steps"], part["first_step"]), ("step", 3, 2, 2))
        self.assertAlmostEqual(part["before_ns"] + part["ns"] + part["behind_ns"], whole["window_ns"], delta=1)
        self.assertEqual(part["ns"], steps["window_ns"])
        self.assertEqual([step["step"] for step in steps["steps"]], ["step 2", "step 3", "step 4"])
        self.assertEqual([step["period_ns"] for step in steps["steps"]], [step["period_ns"] for step in whole["steps"][2:]])
        self.assertRegex(whole["holds"]["sentence"], r"busy \d % of the time")
        self.assertRegex(steps["holds"]["sentence"], r"busy [5-9]\d % of the time")
        self.assertIn('3 of 5 "step"', " ".join(steps["heading"]))
        self.assertIn("3.386 s before them (with 2 of warm-up)", " ".join(steps["heading"]))
        both = self.analyze(ranks / "ddp.rank0.gpuprof", ranks / "ddp.rank1.gpuprof").stdout
        self.assertRegex(both, r"rank 1: 4 of 5 .step., [\d.]+ ms; left out: 5\.\d+ s before them \(with 1 of warm-up\)")

    def test_work_that_steps_launched_ahead_belongs_to_them(self):
        job = DOCS.parent / "tests" / "data" / "ranks" / "job.rank0.gpuprof"
        named = self.json_of("--filter-nvtx", "spin_half_FAULT", job)
        found = self.json_of("--step", "step", job)
        self.assertEqual((found["part"]["steps"] + found["part"]["warm_up_steps"], found["part"]["step"]), (800, "step"))
        self.assertLess(named["window_ns"], found["window_ns"])

    def test_filters_by_work_ask_rules_on_kernels_alone(self):
        self.assertIn("only rules on kernels", " ".join(self.json_of("--device", "0", "steps.gpuprof")["remarks"]))

    def test_a_time_that_is_asked_for_is_a_phase(self):
        whole = self.json_of("steps.gpuprof")
        half = self.json_of("--all", "--filter-time", f"0/{whole['window_ns'] / 2:.0f}", "steps.gpuprof")
        self.assertLess(half["window_ns"], 0.51 * whole["window_ns"])
        self.assertLess(len(half["steps"]), len(whole["steps"]))

    def test_gains_are_replayed_and_say_what_holds_a_step_then(self):
        found = self.json_of("--filter-nvtx", "FIXED", "--min-gain", "0%", DOCS.parent / "tests" / "data" / "repaired" / "pageable.gpuprof")
        copies = next(one for one in found["findings"] if one["rule"] == "copy_alone")
        self.assertEqual((copies["gain_from"], copies["then_held_by"]), ("replay", "copies"))
        self.assertIn("steps replayed", copies["arithmetic"])
        self.assertRegex(found["holds"]["steps"], r"\A10 % less time of copies makes a step [\d.]+ % shorter, of kernels ")

    def test_no_gain_exceeds_the_time_of_what_it_is_attached_to(self):
        captures = [*DATA.glob("repaired/*.gpuprof"), *DATA.glob("h?00/*.gpuprof"), *DATA.glob("ranks/*.gpuprof"), *self.folder.glob("*.gpuprof")]
        attached = 0
        for capture in captures:
            run = self.run_gpuprof("analyze", "-f", "json", "--all", "--min-gain", "0%", capture)
            if run.returncode != 0:
                continue
            said = json.loads(run.stdout)
            with self.subTest(capture=capture.name):
                highest = sum(one["potential_gain_ms"]["high"] for one in said["findings"])
                self.assertLessEqual(highest * 1e6, said["window_ns"] * len({line["device"] for line in said["ledger"]}) * (1 + 1e-9))
                self.assertGreaterEqual(said["best_case_share"], 0)
                table = csv.DictReader(self.run_gpuprof("stats", "-r", "cuda_gpu_kern_sum", "-f", "csv", capture).stdout.split("\n\n")[-1].splitlines())
                times = {line["Name"]: float(line["Total Time (ns)"]) for line in table}
                for one in said["findings"]:
                    self.assertNotIn(0, [fact["value"] for fact in one["evidence"]])
                    self.assertNotIn("the 0 launches", one["arithmetic"])
                    if one["where"]["kernel"] in times and "worst of" not in one["what"]:
                        attached += 1
                        self.assertLessEqual(one["potential_gain_ms"]["high"] * 1e6, times[one["where"]["kernel"]] * (1 + 1e-6))
        self.assertGreater(attached, 3)

    def test_without_steps_stretches_of_the_run_are_replayed(self):
        found = self.json_of("--min-gain", "0%", DOCS.parent / "tests" / "data" / "h200" / "mixed_sampled.gpuprof")
        self.assertRegex(found["holds"]["steps"], r"\A10 % less time of kernels makes the run [\d.]+ % shorter, of copies ")
        said = re.search(r"there are no steps: gains are computed from ([\d.]+) ms to ([\d.]+) ms, for all of it", "\n".join(found["remarks"]))
        part = found["part"]
        self.assertGreater(float(said[1]), part["before_ns"] / 1e6 - 0.1)  # not from the start-up that the part leaves out
        self.assertLess(float(said[2]), (part["before_ns"] + part["ns"]) / 1e6)

    def test_communication_beside_kernels_is_replayed(self):
        job = DOCS.parent / "tests" / "data" / "h100"
        found = self.json_of("--min-gain", "0%", "--rule", "exposed_comm", job / "ddp.rank0.gpuprof")
        self.assertEqual([one["gain_from"] for one in found["findings"] + found["below_threshold"]], ["replay"])

    def test_a_step_that_does_not_exist_is_not_replayed(self):
        found = self.json_of("--step", "no such step", "steps.gpuprof")
        self.assertTrue(any(line.startswith("gains are not replayed") for line in found["remarks"]), found["remarks"])
        self.assertEqual({one["gain_from"] for one in found["findings"] + found["below_threshold"]} - {"sums"}, set())
        self.assertEqual(found["holds"]["steps"], "")

    def test_files_that_are_not_captures_are_refused(self):
        (self.folder / "noise.gpuprof").write_bytes(b"\x00\xff" * 500)
        self.assertIn("noise.gpuprof", self.refused(1, "noise.gpuprof"))
        self.assertIn("nowhere.gpuprof", self.refused(1, "nowhere.gpuprof"))
        self.assertIn("there is no capture to analyze", self.refused(2))

    def test_a_cut_capture_is_analyzed_up_to_the_cut(self):
        whole = (self.folder / "steps.gpuprof").read_bytes()
        for part in range(1, 16):
            cut = self.folder / "cut.gpuprof"
            cut.write_bytes(whole[: len(whole) * part // 16])
            run = self.run_gpuprof("analyze", cut)
            self.assertIn(run.returncode, (0, 1), run.stderr)
            if run.returncode == 0:
                self.assertRegex(run.stdout, r"(?m)^lost: (?!nothing)")
            else:
                self.assertEqual(run.stderr.count("\n"), 1, run.stderr)

    @unittest.skipIf(os.environ.get("BUILT_SANITIZED"), "a program under a sanitizer ends where its memory does")
    def test_too_little_memory_is_reported(self):
        # So much that what the process had before does not hold it.
        subprocess.run([MADE_JOBS, self.folder / "large.gpuprof", "--training", "300000"], check=True, stdout=subprocess.DEVNULL)
        self.assertIn("--memory-limit", self.refused(1, "--memory-limit", "0.000001", "large.gpuprof"))


class CountedSteps(Case):
    def test_each_thread_has_steps_of_its_own(self):
        steps = self.json_of("--all", "--by", "step", "two_threads.gpuprof")["steps"]
        self.assertEqual([step["period_ns"] for step in steps], [1_000_000] * 10)
        self.assertEqual([step["ns"]["compute"] for step in steps], [100_000] * 10)


class Declared(Case):
    def padding(self, capture):
        report = self.json_of("--all", "--rule", "padded_work", capture)
        self.assertEqual(report["not_looked_at"], [])
        return report["findings"]

    def test_declared_work_of_one_kernel_in_a_range_is_compared_with_its_counted_work(self):
        found = self.padding("padded.gpuprof")
        self.assertEqual([one["where"]["kernel"] for one in found], ["padded"])
        figures = {one["name"]: one["value"] for one in found[0]["evidence"]}
        self.assertAlmostEqual(figures["FLOP of a launch"] / 1.25e9, 1, places=6)
        self.assertEqual(figures["declared"], 1e9)
        self.assertAlmostEqual(found[0]["potential_gain_ms"]["high"], 24 * 0.5 * (1 - 1 / 1.25), places=6)
        self.assertEqual(self.padding("unpadded.gpuprof"), [])

    def test_padded_work_is_not_looked_at_without_a_declaration(self):
        report = self.json_of("--rule", "padded_work", "steps.gpuprof")
        self.assertEqual([one["rule"] for one in report["not_looked_at"]], ["padded_work"])
        self.assertIn("gpuprof::work", str(report["not_looked_at"]))


class UnifiedMemory(Case):
    def needed(self, capture):
        return str(self.json_of("--rule", "um_faults", capture)["not_looked_at"])

    def test_unified_memory_is_not_advised_if_it_was_recorded_even_without_migrations(self):
        self.assertNotIn("--trace um", self.needed("um.gpuprof"))
        for capture in ("no_um.gpuprof", "steps.gpuprof"):
            self.assertIn("--trace um", self.needed(capture))


class RulesAndGate(Case):
    def test_every_rule_is_listed_and_described(self):
        rows = list(csv.DictReader(io.StringIO(self.analyze("--list-rules", "-f", "csv").stdout)))
        self.assertIn("sync_point", [row["Rule"] for row in rows])
        for row in rows:
            self.assertTrue(row["Group"] and row["Needs"] and row["Question"], row)
            described = self.analyze("--list-rules", "--rule", row["Rule"]).stdout
            for label in ("fires at", "gain", "ignores", "next"):
                self.assertRegex(described, rf"(?m)^{label} +\S", row["Rule"])

    def test_rules_that_are_skipped_are_not_mentioned(self):
        names = [row["Rule"] for row in csv.DictReader(io.StringIO(self.analyze("--list-rules", "-f", "csv").stdout))]
        report = self.json_of("--skip-rule", ",".join(names), "steps.gpuprof")
        self.assertEqual((report["findings"], report["not_looked_at"]), ([], []))

    def test_the_gate_fails_on_a_large_finding_and_is_undecided_if_the_rule_was_not_looked_at(self):
        report = self.json_of("steps.gpuprof")
        missing = [one["rule"] for one in report["not_looked_at"]]
        self.assertTrue(missing, "the made capture holds ranges and kernels alone")
        run = self.analyze("--fail-on", f"{missing[0]}>2%", "steps.gpuprof", code=3)
        self.assertIn(f"--fail-on cannot be decided: {missing[0]} was not looked at; needs: ", run.stderr)
        self.assertIn("The GPU is busy", run.stdout)
        found = max((one["of_window"]["high"] for one in report["findings"]), default=0)
        self.analyze("--fail-on", "any>100%", "steps.gpuprof")
        run = self.analyze("--fail-on", "any", "steps.gpuprof", code=1 if found > 0 else 0)
        self.assertEqual("--fail-on" in run.stderr, found > 0)


@unittest.skipIf(os.environ.get("BUILT_SANITIZED"), "a sanitizer's library must be preloaded first")
class AtTheEndOfARun(Case):
    NOTE_CAPTURE = "printf 'c%s\\000' >> $GPUPROF_RUN_NOTES "

    def profile(self, capture):
        return self.run_gpuprof("profile", "--analyze", "sh", "-c", f"echo mine; {self.NOTE_CAPTURE} {self.folder / capture}; exit 5")

    def test_profile_prints_advice_to_stderr_and_returns_the_exit_code_of_the_program(self):
        run = self.profile("steps.gpuprof")
        self.assertEqual((run.returncode, run.stdout), (5, "mine\n"))
        self.assertIn("Where the time of the GPU went:", run.stderr)

    def test_a_capture_that_cannot_be_analyzed_gives_one_line(self):
        run = self.profile("empty.gpuprof")
        self.assertEqual(run.returncode, 5)
        self.assertRegex(run.stderr, r"(?m)^gpuprof: --analyze: .*holds no work of a GPU")
        self.assertEqual(self.profile("gone.gpuprof").returncode, 5)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[5:], verbosity=2)

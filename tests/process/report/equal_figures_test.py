# SPDX-License-Identifier: Apache-2.0
"""A figure with one name is the same in every command and on the page, for each stored capture: time and launches of kernels, bytes of
copies, busy time, the captured time, the length of a step, the share of the roof."""
import json
import pathlib

import processes
import report_pages

DATA = pathlib.Path(processes.path("H200_CAPTURES")).parent
BUSY = ("compute", "compute_and_communication", "communication", "transfer")


def by_name(rows, *columns, name="Name"):
    """{name: [sum of each column]}; rows of one name are added up."""
    sums = {}
    for row in rows:
        of = sums.setdefault(row[name], [0] * len(columns))
        for at, column in enumerate(columns):
            of[at] += row[column]
    return sums


class EqualFigures(report_pages.Case):
    said, pages = {}, {}  # several tests ask the same

    def json_of(self, *words, capture):
        key = (*words, str(capture))
        if key not in self.said:
            self.said[key] = json.loads(self.run_gpuprof(*words, "-f", "json", capture).out)
        return self.said[key]

    def blocks(self, capture):
        """What the page holds, unpacked."""
        if capture not in self.pages:
            self.pages[capture] = report_pages.blocks_of(self.page_of(capture))
        return self.pages[capture]

    def document(self, capture, name):
        return json.loads(self.blocks(capture)[name])

    def of_all(self, check):
        captures = sorted(DATA.glob("*/*.gpuprof"))
        self.assertGreaterEqual(len(captures), 8)
        for capture in captures:
            with self.subTest(capture.name):
                check(capture)

    def assert_equal_sums(self, one, other):
        """JSON rounds times to whole nanoseconds in tables, and not elsewhere."""
        self.assertEqual(sorted(one), sorted(other))
        for name, values in one.items():
            for value, again in zip(values, other[name]):
                self.assertLessEqual(abs(value - again), 1 + 1e-9 * abs(value), (name, value, again))

    def has_counters(self, capture):
        key = ("counters", str(capture))
        if key not in self.said:
            self.said[key] = self.run_program(processes.path("BUILT_GPUPROF"), "roofline", "-f", "json", str(capture)).code == 0
        return self.said[key]

    def compared(self, capture):
        compared = self.json_of("compare", capture, capture=capture)
        return compared, "step" if compared["step"] else "run", compared["base"][0]["steps"] or 1

    def check_kernels(self, capture):
        stats = by_name(self.json_of("stats", "-r", "cuda_gpu_kern_sum", capture=capture), "Total Time (ns)", "Instances")
        compared, per, steps = self.compared(capture)
        lines = [line for line in compared["lines"] if line["kind"] == "kernel" and not line["name"].startswith("[CUDA ")]
        whole = {name: [value * steps for value in values]
                 for name, values in by_name(lines, f"base_total_ns_per_{per}", f"base_calls_per_{per}", name="name").items()}
        self.assert_equal_sums(stats, whole)
        held = {name: self.document(capture, name) for name in ("stats", "roofline")}
        self.assert_equal_sums(stats, by_name(held["stats"]["cuda_gpu_kern_sum"]["rows"], "Total Time (ns)", "Instances"))
        if self.has_counters(capture):
            roofline = self.json_of("roofline", capture=capture)
            self.assert_equal_sums(stats, by_name(roofline["kernels"], "time_ns", "launches", name="name"))
            self.assert_equal_sums(stats, by_name(held["roofline"]["kernels"]["kernels"], "time_ns", "launches", name="name"))
            self.assertAlmostEqual(sum(values[0] for values in stats.values()), roofline["kernel_time_ns"], delta=len(stats))
        for_ranks = by_name(self.json_of("stats", "-r", "ranks_kern_sum", capture=capture), "Total Time (ns)", "Instances")
        self.assert_equal_sums(stats, for_ranks)

    def test_time_and_launches_of_each_kernel(self):
        self.of_all(self.check_kernels)

    def check_bytes(self, capture):
        rows = self.json_of("stats", "-r", "cuda_gpu_trace", capture=capture)
        moved = {}
        for row in rows:
            if row["Name"].startswith("[CUDA mem"):
                moved[row["Name"]] = moved.get(row["Name"], 0) + row["Bytes (MB)"]
        sums = self.json_of("stats", "-r", "cuda_gpu_mem_size_sum", capture=capture) if moved else []
        held = self.document(capture, "stats").get("cuda_gpu_mem_size_sum", {}).get("rows", sums)
        for table in (sums, held):
            self.assertEqual(sorted(moved), sorted(row["Operation"] for row in table))
            for row in table:  # the trace has three digits behind the point of a megabyte
                self.assertAlmostEqual(row["Total (MB)"], moved[row["Operation"]], delta=0.0006 * row["Count"], msg=row)

    def test_bytes_of_copies(self):
        self.of_all(self.check_bytes)

    def check_busy(self, capture):
        analyzed = self.json_of("analyze", "--all", capture=capture)
        rank = self.json_of("stats", "-r", "ranks_sum", capture=capture)[0]
        self.assertEqual(rank["GPU Busy (ns)"], sum(line["ns"] for line in analyzed["ledger"] if line["bucket"] in BUSY))
        self.assertEqual(rank["Window (ns)"], analyzed["window_ns"])
        compared, _, _ = self.compared(capture)
        self.assertEqual(compared["base"][0]["window_ns"], analyzed["window_ns"])
        self.assertEqual(rank["Kernels"], sum(row["Instances"] for row in self.json_of("stats", "-r", "cuda_gpu_kern_sum", capture=capture)))
        shares = [line for line in compared["lines"] if line["kind"] == "bucket" and line["name"] == "compute"]
        steps = self.json_of("analyze", capture=capture)
        compute = sum(line["ns"] for line in steps["ledger"] if line["bucket"] == "compute")
        for line in shares:
            self.assertAlmostEqual(line["base_window_share"], compute / sum(part["ns"] for part in steps["ledger"]), places=6)

    def test_busy_time_and_captured_time(self):
        self.of_all(self.check_busy)

    def check_steps(self, capture):
        analyzed, whole = self.json_of("analyze", capture=capture), self.json_of("analyze", "--all", capture=capture)
        by_step = self.json_of("analyze", "--by", "step", capture=capture)
        self.assertEqual(by_step["steps"], analyzed["steps"])
        periods = [step["period_ns"] for step in whole["steps"]]
        blocks = self.blocks(capture)
        if "timeline-step-period" in blocks:
            self.assertEqual(report_pages.numbers_of(blocks["timeline-step-period"]), periods)
        if "part" in analyzed and analyzed["part"]["step"]:
            first = analyzed["part"]["first_step"]
            self.assertEqual([step["period_ns"] for step in analyzed["steps"]], periods[first:first + len(analyzed["steps"])])
            compared, _, _ = self.compared(capture)
            for line in compared["lines"]:
                if line["kind"] == "step":
                    self.assertAlmostEqual(line["base_total_ns_per_step"], sum(periods[first:]) / len(periods[first:]), delta=1)

    def test_the_length_of_a_step(self):
        self.of_all(self.check_steps)

    def check_roofs(self, capture):
        if not self.has_counters(capture):
            return
        lines = self.json_of("roofline", "--by", "signature", capture=capture)["signatures"]
        kernels = self.json_of("roofline", capture=capture)["kernels"]
        held = self.document(capture, "roofline")
        for row in (*lines, *kernels):
            for share in (row["of_roof"], *row["roof_shares"].values()):
                self.assertTrue(share is None or 0 <= share <= 1, row)
            self.assertTrue(row["bound_by"] != "L2" or row["roof_shares"].get("L2") is not None, row)
        roofs = lambda rows: [(row["name"], row["of_roof"], row["bound_by"], row["roof_shares"]) for row in rows]  # noqa: E731
        self.assertEqual(roofs(held["signatures"]["signatures"]), roofs(lines))
        self.assertEqual(roofs(held["kernels"]["kernels"]), roofs(kernels))
        known = [row for row in lines if row["of_roof"] is not None]
        roof = self.json_of("analyze", "--all", capture=capture)["roof"]
        self.assertEqual(roof is None, not known)
        if not known:
            return
        time = sum(row["time_ns"] for row in known)
        self.assertAlmostEqual(roof["share"], sum(row["time_ns"] * row["of_roof"] for row in known) / time, places=6)
        of_all = sum(row["time_ns"] for row in lines if "nccl" not in row["name"])
        self.assertAlmostEqual(roof["known_share"], time / of_all, places=6)
        compared, _, _ = self.compared(capture)
        alone = {line["name"]: line["base_of_roof"] for line in compared["lines"] if line["kind"] == "kernel"}
        for row in kernels:  # one line in both, where all launches have one geometry
            if sum(line["name"] == row["name"] for line in lines) == 1 and row["of_roof"] is not None and alone.get(row["name"]) is not None:
                self.assertAlmostEqual(alone[row["name"]], row["of_roof"], places=9)

    def test_the_share_of_the_roof(self):
        self.of_all(self.check_roofs)

    def test_figures_that_differ_are_found(self):
        self.assert_equal_sums({"a": [100, 3]}, {"a": [100.4, 3]})
        for other in ({"a": [102, 3]}, {"a": [100, 5]}, {"b": [100, 3]}, {}):
            with self.assertRaises(AssertionError):
                self.assert_equal_sums({"a": [100, 3]}, other)


processes.main()

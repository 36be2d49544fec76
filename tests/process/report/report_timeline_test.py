# SPDX-License-Identifier: Apache-2.0
"""What a page of gpuprof report holds of the timeline, without a browser: equal to what other commands write, and bounded."""
import csv
import itertools
import json
import subprocess

import processes
import report_pages


class Held(report_pages.Case):

    def timeline_of(self, capture):
        blocks = report_pages.blocks_of(self.page_of(capture))
        head = json.loads(blocks["timeline"])
        return head, lambda name, size: report_pages.numbers_of(blocks["timeline-" + name]) or [0] * size

    def test_idle_time_by_cause_equals_that_of_the_ledger(self):
        for capture in (self.h200("counted_auto"), self.made_fault("sync_in_loop"), self.made_fault("tiny_kernels"), self.made_shape("steps", 20)):
            with self.subTest(capture.stem):
                head, column = self.timeline_of(capture)
                size = sum(lane["bars"] for lane in head["idle"])
                length, pause, start = (column("idle-" + name, size) for name in ("length", "pause", "start"))
                sums, at = {}, 0
                for lane in head["idle"]:
                    of = range(at, at + lane["bars"])
                    sums[lane["device"], lane["cause"]] = sum(length[i] - pause[i] for i in of)
                    self.assertLessEqual(sum(start[i] for i in of), head["end_ns"] - head["begin_ns"])
                    at += lane["bars"]
                said = json.loads(self.run_gpuprof("analyze", "--all", "-f", "json", capture).out)["ledger"]
                busy = {"compute", "compute_and_communication", "communication", "transfer"}
                self.assertEqual(sums, {(line["device"], line["bucket"]): line["ns"] for line in said if line["bucket"] not in busy and line["ns"] > 0})

    def test_kernels_and_calls_have_their_place_in_the_program(self):
        head, column = self.timeline_of(self.made() / "python.gpuprof")
        size = sum(lane["bars"] for lane in head["lanes"])
        place, at, found = column("place", size), 0, {}
        for lane in head["lanes"]:
            found[lane["group"], lane["name"]] = [head["places"][i - 1] if i else "" for i in place[at:at + lane["bars"]]]
            at += lane["bars"]
        line = "model.py:20 Model.forward"
        self.assertEqual(found["GPU 0", "stream 7"], [line + ", module fc: Linear", line, "", line, line, line, line])
        self.assertEqual(found["CUDA calls", "thread 4242"], [line + ", module fc: Linear", line, "", line, line])
        self.assertEqual(found["NVTX", "thread 4242"], [""])
        self.assertEqual(self.timeline_of(self.made_shape("steps", 20))[0]["places"], [])

    def test_gaps_are_where_nothing_runs(self):
        head, column = self.timeline_of(self.made_shape("steps", 20))
        idle, bars = sum(lane["bars"] for lane in head["idle"]), sum(lane["bars"] for lane in head["lanes"])

        def stretches(lanes, start, length, wanted):
            at = 0
            for lane in lanes:
                moment = 0
                for i in range(at, at + lane["bars"]):
                    moment += start[i]
                    if wanted(lane):
                        yield moment, moment + length[i]
                at += lane["bars"]

        gaps = sorted(stretches(head["idle"], column("idle-start", idle), column("idle-length", idle), lambda lane: True))
        work = sorted(stretches(head["lanes"], column("start", bars), column("length", bars), lambda lane: lane["group"] == "GPU 0"))
        self.assertEqual(len(gaps), 41)  # two in each step, and the end of the window
        for begin, end in gaps:
            self.assertFalse(any(a < end and b > begin for a, b in work), (begin, end))
        joined = 0
        for begin, end in sorted(gaps + work):
            self.assertLessEqual(begin, joined)
            joined = max(joined, end)
        self.assertEqual(joined, head["end_ns"] - head["begin_ns"])

    def test_steps_equal_those_of_analyze(self):
        capture = self.made_shape("steps", 20)
        head, column = self.timeline_of(capture)
        said = json.loads(self.run_gpuprof("analyze", "--all", "-f", "json", capture).out)["steps"]
        self.assertEqual(head["steps"], {"name": "step", "count": 20, "left_out": 0, "warm_up": 0})
        self.assertEqual(column("step-period", 20), [line["period_ns"] for line in said])

    def test_a_step_that_is_asked_for_is_shown_first(self):
        capture = self.made_shape("steps", 20)
        for asked, number in (("slowest", 7), ("3", 3), ("step/4", 4)):
            steps = report_pages.documents_of(self.page_of(capture, "--step", asked, "--force-overwrite"))["timeline"]["steps"]
            self.assertEqual(steps["shown_first"], number)
        self.assertIn("there are 20 steps", self.run_gpuprof("report", "--step", "20", capture, "-o", self.folder / "none.html", code=1).err)

    def test_counters_equal_the_samples_of_the_capture(self):
        head, column = self.timeline_of(self.h200("mixed_sampled"))
        [of] = head["counters"]
        clock = next(i for i, track in enumerate(of["tracks"]) if track["name"] == "SM clock")
        mean = column("counter-mean", 0)[clock * of["points"]:(clock + 1) * of["points"]]
        track = of["tracks"][clock]
        shown = sorted(track["least"] + (level - 1) / 65534 * (track["greatest"] - track["least"]) for level in mean if level)
        self.run_gpuprof("export", self.h200("mixed_sampled"), "--type", "csv", "-o", self.folder / "tables")
        metrics = [line.split(",") for line in (self.folder / "tables/metric.csv").read_text().splitlines()[1:]]
        wanted = next(line[0] for line in metrics if line[1] == "sm__cycles_elapsed.avg.per_second")
        rows = [line.split(",") for line in (self.folder / "tables/sample.csv").read_text().splitlines()[1:]]
        values = sorted(float(row[3]) for row in rows if row[0] == wanted)
        self.assertEqual(of["joined_below_ns"], 0)
        self.assertEqual(len(shown), len(values))
        for a, b in zip(shown, values):
            self.assertAlmostEqual(a, b, delta=track["greatest"] / 60000)

    def test_ranges_have_rows_by_thread_and_domain(self):
        head, _ = self.timeline_of(self.made_shape("steps", 3))
        self.assertEqual([lane["name"] for lane in head["lanes"] if lane["group"] == "NVTX"], ["thread 4242", "thread 4243, loader"])

    def bars_of(self, lanes, column):
        """{lane: [(start, length, pieces)]}."""
        size = sum(lane["bars"] for lane in lanes)
        rows = iter(zip(column("start", size), column("length", size), column("count", size)))
        found = {}
        for lane in lanes:
            moment, bars = 0, []
            for _ in range(lane["bars"]):
                start, length, count = next(rows)
                moment += start
                bars.append((moment, length, count))
            found.setdefault((lane["group"], lane["name"]), []).extend(bars)
        return found

    def kernels_within(self, capture, begin, end):
        rows = self.run_gpuprof("stats", "-r", "cuda_gpu_trace", "-f", "csv", "--filter-time", f"{begin}ns/{end}ns", capture).out
        return [(int(row["Start (ns)"]), int(row["Duration (ns)"])) for row in csv.DictReader(rows.splitlines())]

    def test_the_links_of_a_critical_path_are_bars_and_as_long_as_the_step(self):
        capture = self.repaired("growing_cache")
        head, column = self.timeline_of(capture)
        self.assertEqual(head["joined_below_ns"], 0)
        path = json.loads(self.run_gpuprof("analyze", "-f", "json", capture).out)["critical_path"]
        size = sum(one["links"] for one in head["paths"])
        links = iter(zip(column("path-start", size), column("path-length", size), column("path-row", size)))
        bars = self.bars_of(head["lanes"], column)
        self.assertEqual([(one["slowest"], one["steps"]) for one in head["paths"]], [(False, path["steps"]), (True, path["steps"])])
        for one, of in zip(head["paths"], (path["median"], path["slowest"])):
            self.assertAlmostEqual((one["end_ns"] - one["begin_ns"]) / of["length_ns"], 1, delta=0.001)
            self.assertGreater(one["links"], 100)
            moment, end, on_gpu = 0, one["begin_ns"], 0
            for _ in range(one["links"]):
                start, length, number = next(links)
                moment += start
                self.assertGreaterEqual(moment, end)
                end = moment + length
                row = head["path_rows"][number]
                if row["group"] == "GPU 0":
                    self.assertIn((moment, length, 1), bars["GPU 0", row["name"]])
                    on_gpu += length
            self.assertLessEqual(end, one["end_ns"])
            self.assertAlmostEqual(on_gpu, of["kernels_ns"] + of["copies_ns"], delta=1000)

    def test_without_steps_a_timeline_has_no_critical_path(self):
        self.assertEqual(self.timeline_of(self.h200("counted_auto"))[0]["paths"], [])

    def test_the_slowest_steps_show_each_kernel_even_if_other_steps_are_summarized(self):
        capture = self.folder / "training.gpuprof"
        subprocess.run([processes.path("BUILT_MADE_CAPTURES"), capture, "--training", "600000"], check=True)
        head, column = self.timeline_of(capture)
        self.assertGreater(head["joined_below_ns"], 0)
        self.assertEqual(head["finer_joined_below_ns"], 0)
        bars = self.bars_of(head["lanes"], column)[("GPU 0", "stream 7")]
        self.assertEqual(sum(count for _, _, count in bars), 600000)
        [first, *_] = self.kernels_within(capture, 0, 1000000)
        offset = first[0] - bars[0][0]
        size = head["steps"]["count"]
        begins, periods = list(itertools.accumulate(column("step-begin", size))), column("step-period", size)
        slowest = begins[periods.index(max(periods))]
        windows = [(one["begin_ns"], one["end_ns"]) for one in head["finer"]]
        self.assertTrue(any(begin <= slowest and slowest + max(periods) <= end for begin, end in windows))
        idle = self.bars_of([{**lane, "group": lane["device"], "name": lane["cause"]} for lane in head["idle"]], lambda name, size: column("idle-" + name, size))
        of_step = [count for gaps in idle.values() for start, _, count in gaps if slowest <= start < slowest + max(periods)]
        self.assertGreater(head["idle_joined_below_ns"], 0)
        self.assertGreater(len(of_step), 100)
        self.assertEqual(set(of_step), {1})
        for begin, end in windows:
            kernels = [(start - offset, length, 1) for start, length in self.kernels_within(capture, begin + offset, end + offset)]
            self.assertEqual([bar for bar in bars if begin <= bar[0] < end], [kernel for kernel in kernels if begin <= kernel[0] < end])

    def test_the_page_of_a_million_ranges_and_five_thousand_streams_is_bounded(self):
        head, column = self.timeline_of(self.made_shape("ranges", 1000000))
        bars = sum(lane["bars"] for lane in head["lanes"])
        self.assertLessEqual(bars, 550000)  # with a tenth for what is read twice
        self.assertGreater(head["joined_below_ns"], 0)
        # All but those that never end and have too many such beside them.
        self.assertEqual(sum(column("count", bars)) + head["pieces_left_out"], 1000000)
        self.assertLess(head["pieces_left_out"], 10000)
        self.assertGreater(head["steps"]["left_out"], 0)
        self.assertLess((self.folder / "ranges_1000000.html").stat().st_size, 12e6)
        head, _ = self.timeline_of(self.made_shape("streams", 5000))
        self.assertEqual(len(head["lanes"]), 5000)
        self.assertEqual(head["lanes_left_out"], 0)


processes.main()

# SPDX-License-Identifier: Apache-2.0
"""What a page knows of each kernel beyond its sums: that it is what the other commands say, and that all launches are in it."""
import collections
import csv
import json

import processes
import report_pages


class Details(report_pages.Case):
    def stats(self, capture, report):
        return json.loads(self.run_gpuprof("stats", "-r", report, "-f", "json", capture).out)

    def check_durations(self, line, timed):
        shown = line["histogram"]
        counted = sum(shown["counts"]) + shown["shorter"] + shown["longer"]
        self.assertEqual(counted + line["left_out"], timed["Instances"])
        self.assertEqual(len(shown["edges"]), len(shown["counts"]) + 1)
        self.assertEqual(sum(launches for _, launches, *_ in line["points"]), counted)
        if line["left_out"] == 0:
            self.assertEqual(sum(total for *_, total, _ in line["points"]), timed["Total Time (ns)"])
            self.assertEqual(min(shortest for _, _, shortest, *_ in line["points"]), timed["Min (ns)"])
            self.assertEqual(max(longest for *_, longest in line["points"]), timed["Max (ns)"])

    def test_details_cover_all_launches_of_each_line(self):
        for capture in (self.h200("counted_auto"), self.h200("mixed_sampled"), self.made_job(), self.made_fault("misaligned_products")):
            with self.subTest(capture.name):
                details = report_pages.documents_of(self.page_of(capture))["details"]
                timed = self.stats(capture, "cuda_gpu_kern_sum")
                self.assertEqual([line["name"] for line in details["kernels"]], [row["Name"] for row in timed])
                for line, row in zip(details["kernels"], timed):
                    self.check_durations(line, row)
                    self.assertEqual(sum(one["launches"] for one in line["geometries"]), row["Instances"])
                    self.assertAlmostEqual(sum(one["total_ns"] for one in line["geometries"]), row["Total Time (ns)"])
                for line, row in zip(details["signatures"], self.stats(capture, "cuda_gpu_kern_gb_sum"), strict=True):
                    self.assertEqual((line["name"], line["grid"].split(" x "), line["block"].split(" x ")), (row["Name"], row["GridXYZ"].split(), row["BlockXYZ"].split()))
                    self.check_durations(line, row)

    def test_ranges_are_those_of_nvtx_kern_sum(self):
        capture = self.made_job()
        details = report_pages.documents_of(self.page_of(capture))["details"]
        said = collections.Counter()
        for row in self.stats(capture, "nvtx_kern_sum"):
            self.assertEqual(row["Style"], "PushPop")
            said[row["NVTX Range"], row["Kernel Name"]] += row["Total Time (ns)"]
            said[row["NVTX Range"], row["Kernel Name"], "launches"] += row["Kern Inst"]
        held = collections.Counter()
        for place in details["ranges"]:
            for kernel, launches, ns in place["kernels"]:
                held[place["name"], details["names"][kernel]] += ns
                held[place["name"], details["names"][kernel], "launches"] += launches
        self.assertNotEqual(said, {})
        self.assertEqual(held, said)
        self.assertEqual(details["not_placed"], 0)

    def test_start_end_ranges_are_those_of_nvtx_kern_sum(self):
        capture = self.made_shape("start-end", 7)
        details = report_pages.documents_of(self.page_of(capture))["details"]
        said = {row["NVTX Range"]: (row["Kern Inst"], row["Total Time (ns)"]) for row in self.stats(capture, "nvtx_kern_sum") if row["Style"] == "StartEnd"}
        self.assertEqual(len(said), 2)
        self.assertEqual({place["name"]: tuple(place["kernels"][0][1:]) for place in details["ranges"] if place["start_end"]}, said)
        self.assertEqual(details["not_placed"], 0)

    def test_neighbors_are_what_ran_before_and_after_on_the_stream(self):
        capture = self.made_job()
        details = report_pages.documents_of(self.page_of(capture))["details"]
        self.run_gpuprof("export", capture, "--type", "csv", "-o", self.folder / "tables")
        with open(self.folder / "tables" / "kernel.csv", newline="") as file:
            rows = sorted(csv.DictReader(file), key=lambda row: int(row["start"]))
        last, pairs = {}, collections.Counter()
        for row in rows:
            stream = row["device"], row["context"], row["stream"]
            if stream in last:
                pairs[last[stream], row["kernel_name"]] += 1
            last[stream] = row["kernel_name"]
        held = collections.Counter()
        for line in details["kernels"]:
            for kernel, times in line["before"]:
                held[details["names"][kernel], line["name"]] += times
        self.assertEqual(held, pairs)

    def test_samples_lie_only_in_launches_of_their_own_kernel(self):
        capture = self.h200("mixed_sampled")
        details = report_pages.documents_of(self.page_of(capture))["details"]
        self.run_gpuprof("export", capture, "--type", "csv", "-o", self.folder / "tables")
        rows = lambda table: list(csv.DictReader((self.folder / "tables" / f"{table}.csv").read_text().splitlines()))  # noqa: E731
        kernels = [(int(row["start"]), int(row["start"]) + int(row["duration"]), row["kernel_name"]) for row in rows("kernel")]
        names = {row["metric"]: row["name"] for row in rows("metric")}
        inside, at = collections.Counter(), 0
        kernels.sort()
        for row in sorted(rows("sample"), key=lambda row: int(row["start"])):
            start, end = int(row["start"]), int(row["start"]) + int(row["duration"])
            while at < len(kernels) and kernels[at][1] <= start:
                at += 1
            beside = [one for one in kernels[at:at + 50] if one[0] < end and one[1] > start]
            if len(beside) == 1 and beside[0][0] <= start and beside[0][1] >= end:
                inside[beside[0][2], names[row["metric"]]] += 1
        held = {(line["name"], course["metric"]): sum(course["samples"]) for line in details["kernels"] for course in line["samples"]}
        self.assertNotEqual(held, {})
        self.assertEqual(held, dict(inside))

    def test_occupancy_is_shown_with_its_limiter(self):
        details = report_pages.documents_of(self.page_of(self.h200("mixed_exact")))["details"]
        geometries = [one for line in details["kernels"] for one in line["geometries"]]
        self.assertNotEqual(geometries, [])
        for one in geometries:
            threads = 1
            for extent in one["block"].split(" x "):
                threads *= int(extent)
            self.assertGreater(one["blocks_per_sm"], 0)
            self.assertAlmostEqual(one["occupancy"], one["blocks_per_sm"] * -(-threads // 32) / 64)
            self.assertNotEqual(one["limited_by"], [])

    def test_details_of_a_long_training_are_bounded(self):
        capture = self.folder / "training.gpuprof"
        self.run_program(processes.path("BUILT_MADE_CAPTURES"), str(capture), "--training", "100000", timeout=120)
        details = report_pages.documents_of(self.page_of(capture))["details"]
        for line in details["kernels"] + details["signatures"]:
            self.assertLessEqual(len(line["points"]), 200)
            self.assertLessEqual(len(line["histogram"]["counts"]), 40)
            each_is_a_launch = len(line["points"]) == sum(point[1] for point in line["points"])
            self.assertEqual(line["joined_within_ns"] == 0, each_is_a_launch)
        for line, row in zip(details["kernels"], self.stats(capture, "cuda_gpu_kern_sum")):
            self.check_durations(line, row)

    def test_captures_of_a_page_share_its_room(self):
        capture = self.folder / "training.gpuprof"
        self.run_program(processes.path("BUILT_MADE_CAPTURES"), str(capture), "--training", "2000", timeout=120)
        others = [self.folder / f"again{number}.gpuprof" for number in range(7)]
        for other in others:
            other.write_bytes(capture.read_bytes())
        alone = report_pages.documents_of(self.page_of(capture))["details"]
        self.assertGreater(len(alone["kernels"]), 25)
        self.assertEqual(alone["more_kernels"], 0)
        page = self.folder / "eight.html"
        self.run_gpuprof("report", capture, *[word for other in others for word in ("--against", other)], "-o", page)
        for number in range(8):
            details = report_pages.documents_of(page)[f"capture-{number}-details"]
            self.assertEqual(len(details["kernels"]), 25)
            self.assertEqual(details["more_kernels"], len(alone["kernels"]) - 25)


processes.main()

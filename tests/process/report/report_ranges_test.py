# SPDX-License-Identifier: Apache-2.0
"""The tree of ranges that gpuprof report puts into a page: its times and figures are those of the other commands."""
import processes
import report_pages

FIGURES = ("flops", "dram_bytes_per_second", "l2_bytes_per_second", "bound_by", "of_roof")


class Ranges(report_pages.Case):
    def places_of(self, capture):
        return report_pages.documents_of(self.page_of(capture, "--force-overwrite"))["places"]

    def total(self, places, name, field):
        return sum(place[field] for place in places["paths"] if place["name"] == name)

    def test_times_by_name_are_those_of_stats(self):
        job = self.made_ranks("--fleet", 0, ranks=1) / "rank0.gpuprof"
        places = self.places_of(job)
        self.assertEqual([(place["name"], place["parent"]) for place in places["paths"]], [("step", None), ("forward", 0), ("backward", 0)])
        for row in self.said("stats", "-r", "nvtx_sum", job):
            self.assertEqual(self.total(places, row["Range"], "cpu_ns"), row["Total Time (ns)"], row)
            self.assertEqual(self.total(places, row["Range"], "instances"), row["Instances"])
        kernels = self.said("stats", "-r", "cuda_gpu_kern_sum", job)
        self.assertEqual(places["paths"][0]["gpu_ns"], sum(row["Total Time (ns)"] for row in kernels))
        self.assertEqual(places["paths"][0]["operations"], sum(row["Instances"] for row in kernels))

    def test_times_on_the_gpu_are_those_of_kernels_in_ranges(self):
        capture = self.compared(seed=1)
        places = self.places_of(capture)
        by_range = {}
        for row in self.said("stats", "-r", "nvtx_kern_sum", capture):
            name = "step" if row["NVTX Range"].startswith("step ") else row["NVTX Range"]  # each has a number
            by_range[name] = by_range.get(name, 0) + row["Total Time (ns)"]
        self.assertLessEqual({"step", "forward"}, set(by_range))
        for name, total in by_range.items():
            if name != "[launched outside any range]":
                self.assertEqual(self.total(places, name, "gpu_ns"), total, name)

    def test_own_times_add_up(self):
        for capture in (self.compared(seed=1), self.made() / "only_ranges.gpuprof", self.made_ranks("--profiled-job", 5, ranks=1) / "rank0.gpuprof"):
            paths = self.places_of(capture)["paths"]
            self.assertNotEqual(paths, [])
            for at, place in enumerate(paths):
                inside = [other for other in paths if other["parent"] == at]
                self.assertEqual(place["gpu_ns"], place["own_gpu_ns"] + sum(other["gpu_ns"] for other in inside), place)
                if all(other["cpu_ns"] <= place["cpu_ns"] for other in inside):
                    self.assertEqual(place["cpu_ns"], place["own_cpu_ns"] + sum(other["cpu_ns"] for other in inside), place)

    def test_figures_are_those_of_the_roofline(self):
        for capture in (self.compared(seed=1, counters=1), self.made_ranks("--fleet", 0, "40", ranks=1) / "rank0.gpuprof"):
            lines = {line["name"]: line for line in self.said("roofline", "--by", "range", capture)["ranges"]}
            places = {place["name"]: place for place in self.places_of(capture)["paths"]}
            self.assertLessEqual(set(places) - {"step"}, set(lines))
            if "step" not in lines:  # there each has a number
                places.pop("step")
            self.assertTrue(any(lines[name]["of_roof"] for name in places), lines)
            for name, place in places.items():
                self.assertEqual([place.get(figure) for figure in FIGURES], [lines[name][figure] for figure in FIGURES], name)

    def test_steps_and_operators_that_differ_only_in_their_number_are_one_place(self):
        paths = self.places_of(self.made_ranks("--profiled-job", 10, ranks=1) / "rank0.gpuprof")["paths"]
        self.assertEqual([(place["name"], place["instances"]) for place in paths],
                         [("ProfilerStep", 10), ("forward", 10), ("aten::mm #", 80), ("backward", 10), ("aten::mm #", 80)])

    def test_the_shortest_of_very_many_places_are_joined(self):
        places = self.places_of(self.many_ranges(3000))
        self.assertLessEqual(len(places["paths"]), 2000)
        self.assertEqual(len([place for place in places["paths"] if "joined" not in place]) + places["joined"], 3001)
        joined = [place for place in places["paths"] if "joined" in place]
        self.assertEqual(sum(place["joined"] for place in joined), places["joined"])
        self.assertEqual(sum(place["own_cpu_ns"] for place in places["paths"]), places["paths"][0]["cpu_ns"])

    def test_slow_steps_are_longer_than_the_others(self):
        places = self.places_of(self.compared(seed=1))
        held = report_pages.documents_of(self.folder / "seed=1.html")["analyze"]["steps"]
        self.assertEqual(places["slow_steps"], [at for at, step in enumerate(held) if step["period_ns"] > places["slow_beyond_ns"]])

    def test_a_capture_without_ranges_has_none(self):
        places = self.places_of(self.h200("counted_auto"))
        self.assertEqual((places["paths"], places["joined"], places["slow_steps"]), ([], 0, []))


processes.main()

# SPDX-License-Identifier: Apache-2.0
"""gpuprof report BASE --against NEW: the page holds what gpuprof compare says, and both sides."""
import processes
import report_pages


class Comparison(report_pages.Case):
    def page_against(self, base, new, *options):
        page = self.folder / "against.html"
        self.run_gpuprof("report", *base, *(word for file in new for word in ("--against", file)), "-o", page, "--force-overwrite", *options)
        return report_pages.documents_of(page)

    def test_the_comparison_equals_that_of_the_command(self):
        base, new = self.compared(seed=1, counters=1), self.compared(seed=2, counters=1, slowed=1.2, clock=0.94)
        held = self.page_against([base], [new])
        said = self.said("compare", base, new)
        self.assertEqual(held["comparison"]["compare"], said)
        self.assertEqual([line["name"] for line in said["lines"] if line["verdict"] == "worse" and line["kind"] == "kernel"], ["kernel_3(float*)"])
        for line in held["comparison"]["headlines"]:
            self.assertIn(line, self.run_gpuprof("compare", base, new).out)

    def test_the_page_can_show_both_sides(self):
        base, new = self.compared(seed=1), self.compared(seed=2, slowed=1.2)
        held = self.page_against([base], [new])
        self.assertEqual([one["label"] for one in held["captures"]["captures"]], [f"base: {base.name}", f"new: {new.name}"])
        for at, capture in enumerate((base, new)):
            self.assertEqual(held[f"capture-{at}-stats"], report_pages.documents_of(self.page_of(capture))["stats"])
        self.assertNotIn("ranks", held)

    def test_sides_of_several_captures(self):
        base, new = ([self.compared(seed=seed, slowed=slowed) for seed in range(first, first + 3)] for first, slowed in ((1, 1), (11, 1.1)))
        held = self.page_against(base, new)
        words = [word for file in base[1:] for word in ("--base", file)]
        self.assertEqual(held["comparison"]["compare"], self.said("compare", base[0], *new, *words))
        self.assertEqual(len(held["captures"]["captures"]), 6)

    def test_different_programs_are_reported_and_not_compared(self):
        base, new = self.compared(seed=1), self.compared(seed=2, program="/bin/other")
        held = self.page_against([base], [new])
        self.assertEqual(list(held["comparison"]), ["missing"])
        self.assertIn("different programs", held["comparison"]["missing"])
        self.assertIn("capture-1-stats", held)
        self.assertIn("compare", self.page_against([base], [new], "--different-programs")["comparison"])


class BadInput(report_pages.Case):
    def test_a_missing_side_is_refused(self):
        page = self.folder / "page.html"
        run = self.run_gpuprof("report", self.compared(seed=1), "--against", self.folder / "nowhere.gpuprof", "-o", page, code=1)
        self.assertIn("nowhere.gpuprof", run.err)
        self.assertFalse(page.exists())

    def test_different_programs_need_a_comparison(self):
        self.run_gpuprof("report", self.compared(seed=1), "--different-programs", "-o", self.folder / "page.html", code=2)


processes.main()

# SPDX-License-Identifier: Apache-2.0
"""The C++ interface to captures: examples/read_capture says of every capture what `gpuprof stats` says."""
import collections

import export_cases
import processes


class CaptureApi(export_cases.Case):
    def read(self, capture):
        """{kind: {name: (count, ns)}} of a run of the example."""
        run = self.run_program(processes.path("BUILT_READ_CAPTURE"), capture)
        self.assertEqual(run.code, 0, run.err)
        found = collections.defaultdict(dict)
        for text in run.out.split("\n"):
            words = text.split("\t", 3)
            if len(words) == 4 and words[1].isdigit():
                found[words[0]][words[3]] = (int(words[1]), int(words[2]))
        self.assertIn("in order\tyes", run.out)
        return found, run.out

    def test_the_api_agrees_with_stats(self):
        for capture in self.captures():
            if "hostile" in capture.name:
                continue  # its names break lines
            with self.subTest(capture.name):
                found, _ = self.read(capture)
                kernels = {row["Name"]: row["Instances"] for row in self.stats(capture, "cuda_gpu_kern_sum")}
                self.assertEqual({name: count for name, (count, _) in found["kernel"].items()}, kernels)
                if "h200" not in str(capture):  # where launches were slowed by counting, stats takes the time of others
                    times = {row["Name"]: row["Total Time (ns)"] for row in self.stats(capture, "cuda_gpu_kern_sum")}
                    self.assertEqual({name: ns for name, (_, ns) in found["kernel"].items()}, times)
                copies = [row for row in self.stats(capture, "cuda_gpu_mem_time_sum") if "memcpy" in row["Operation"]]
                self.assertEqual(found["copy"]["all"], (sum(r["Count"] for r in copies), sum(r["Total Time (ns)"] for r in copies)))
                calls = sum(row["Num Calls"] for row in self.stats(capture, "cuda_api_sum"))
                self.assertEqual(sum(count for count, _ in found["call"].values()), calls)

    def test_ranges_have_their_times(self):
        found, _ = self.read(self.made("only_ranges"))
        self.assertEqual({name: found["range"][name] for name in ("step", "forward")}, {"step": (1, 3000), "forward": (1, 1000)})
        self.assertEqual(found["range"]["never ends"], (1, 995_000))  # to the end of the capture

    def test_hostile_names_are_read(self):
        _, text = self.read(self.made("hostile"))
        self.assertIn("bad \ufffd\ufffd bytes \ufffd", text)

    def test_a_cut_capture_is_read_up_to_the_cut(self):
        whole = self.training(100_000).read_bytes()
        cut = self.folder / "cut.gpuprof"
        cut.write_bytes(whole[: len(whole) // 2])
        found, text = self.read(cut)
        self.assertGreater(sum(count for count, _ in found["kernel"].values()), 20_000)
        self.assertIn("\nlost\t", text)

    def test_a_file_that_is_not_a_capture_gives_one_line(self):
        other = self.folder / "other"
        other.write_text("text")
        run = self.run_program(processes.path("BUILT_READ_CAPTURE"), other)
        self.assertEqual((run.code, run.err.count("\n")), (1, 1), run.err)


export_cases.main()

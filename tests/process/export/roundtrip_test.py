# SPDX-License-Identifier: Apache-2.0
"""A capture that goes out as a Chrome trace or as SQLite and is imported again gets the same diagnosis."""
import collections
import json
import pathlib

import export_cases
import processes

SUFFIX = {"chrome": "json", "sqlite": "sqlite"}


class RoundTrip(export_cases.Case):
    def returned(self, capture, kind):
        file = self.export(capture, kind, name=f"{capture.stem}.{SUFFIX[kind]}")
        out = self.folder / f"{capture.stem}-{kind}"
        run = self.run_program(processes.path("BUILT_GPUPROF"), "import", file, "-o", f"{out}.gpuprof", "--force-overwrite")
        self.assertEqual(run.code, 0, run.err)
        return out.with_name(out.name + ".gpuprof")

    def diagnosis(self, capture):
        run = self.run_program(processes.path("BUILT_GPUPROF"), "analyze", "-f", "json", capture)
        self.assertEqual(run.code, 0, run.err)
        report = json.loads(run.out)
        ledger = collections.Counter()
        for line in report["ledger"]:
            ledger[line["bucket"]] += line["ns"]
        steps = [{key: value for key, value in step.items() if "ns" in key} for step in report["steps"]]
        steps.sort(key=lambda step: json.dumps(step, sort_keys=True))  # steps of two threads may begin in one nanosecond
        return {"window": report["window_ns"], "ledger": ledger, "ranges": {row["range"]: row["inclusive_ns"] for row in report["ranges"]},
                "steps": steps}

    def reports(self, capture):
        sums = lambda name, *columns: sorted(tuple(row[c] for c in columns) for row in self.stats(capture, name))
        overview = self.run_program(processes.path("BUILT_GPUPROF"), "stats", "-r", "cuda_api_sum", capture).out
        (captured,) = [line for line in overview.splitlines() if line.startswith("captured: ")]
        return {"captured": captured, "lost": [line for line in overview.splitlines() if line.startswith("lost: ")],
                "calls": sums("cuda_api_sum", "Name", "Num Calls", "Total Time (ns)"),
                "launches": sums("cuda_kern_exec_sum", "Kernel Name", "TID", "Count", "TMed (ns)", "QCount"),
                "kernels": sums("nvtx_kern_sum", "NVTX Range", "Style", "TID", "Kernel Name", "NVTX Inst", "Kern Inst", "Total Time (ns)"),
                "ranges": sums("nvtx_sum", "Range", "Style", "Instances", "Total Time (ns)")}

    def assert_same(self, capture):
        of_capture = {**self.diagnosis(capture), **self.reports(capture)}
        for kind in SUFFIX:
            with self.subTest(capture.name, kind=kind):
                back = self.returned(capture, kind)
                came_back = {**self.diagnosis(back), **self.reports(back)}
                for part, expected in of_capture.items():
                    self.assertEqual(came_back[part], expected, part)

    def test_captures_of_two_ranks_on_an_h100_survive_the_round_trip(self):
        for rank in (0, 1):
            self.assert_same(pathlib.Path(processes.path("H200_CAPTURES")).with_name("h100") / f"ddp.rank{rank}.gpuprof")

    def test_captures_with_counters_survive_the_round_trip(self):
        for capture in sorted(pathlib.Path(processes.path("H200_CAPTURES")).glob("*.gpuprof")):
            self.assert_same(capture)

    def test_recorded_sessions_keep_all_their_records(self):
        for session in processes.all_recorded():
            run = self.profile(session)
            self.assertEqual(run.code, 0, run.err)
            self.assert_same(self.capture.rename(self.folder / f"{pathlib.Path(session).stem}.gpuprof"))

    def test_a_job_with_all_calls_survives_the_round_trip(self):
        self.assert_same(self.job_rank(0))

    def test_exporting_an_imported_trace_gives_the_events_of_the_first_export(self):
        capture = pathlib.Path(processes.path("H200_CAPTURES")).with_name("h100") / "ddp.rank0.gpuprof"
        events = lambda file: json.loads(file.read_text())["traceEvents"]
        first = self.folder / "ddp.rank0.json"
        again = self.export(self.returned(capture, "chrome"), "chrome", name="again.json")
        count = lambda file, category: sum(e.get("cat") == category for e in events(file))
        for category in ("kernel", "gpu_memcpy", "cuda_runtime", "cuda_driver", "user_annotation", "gpu_user_annotation", "ac2g"):
            self.assertEqual(count(again, category), count(first, category), category)


export_cases.main()

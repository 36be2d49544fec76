# SPDX-License-Identifier: Apache-2.0
"""gpuprof export --type chrome: equal to `gpuprof stats`, and read by HolisticTraceAnalysis and Perfetto without a message."""
import collections
import gzip
import json
import math
import pathlib
import shutil
import subprocess
import sys

import clients
import export_cases
import processes

GPU = ("kernel", "gpu_memcpy", "gpu_memset", "gpu_graph")
CALLS = ("cuda_runtime", "cuda_driver")
# Lengths that `stats` leaves out of its sums: of kernels that were counted while they ran.
COUNTED = ("counted", "exact")


def no_constant(word):
    raise AssertionError(f"{word} is no JSON")


def parsed(file):
    data = file.read_bytes()
    text = gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data
    return json.loads(text.decode("utf-8"), parse_constant=no_constant)


def ns(microseconds):
    return round(microseconds * 1000)


def of_category(events, *categories):
    return [e for e in events if e.get("cat") in categories]


def by_name(events):
    """Count and nanoseconds by name."""
    found = collections.defaultdict(lambda: [0, 0])
    for event in events:
        found[event["name"]][0] += 1
        found[event["name"]][1] += ns(event["dur"])
    return dict(found)


def rows_with_cuts(events):
    """Rows on which a slice begins inside another and ends outside."""
    rows = collections.defaultdict(list)
    for event in events:
        if event["ph"] == "X":
            begin = ns(event["ts"])
            rows[event["pid"], event["tid"]].append((begin, -begin - ns(event["dur"])))
    cut = set()
    for row, slices in rows.items():
        around = []
        for begin, minus_end in sorted(slices):
            while around and around[-1] <= begin:
                around.pop()
            if around and -minus_end > around[-1]:
                cut.add(row)
            around.append(-minus_end)
    return cut


class Chrome(export_cases.Case):
    def trace(self, capture, *options, name=None):
        return parsed(self.export(capture, "chrome", *options, name=name or pathlib.Path(capture).stem + ".json.gz"))

    def test_kernels_equal_the_statistics(self):
        for capture in self.captures() + [self.job_rank(0)]:
            with self.subTest(capture.name):
                kernels = by_name(of_category(self.trace(capture)["traceEvents"], "kernel"))
                rows = self.stats(capture, "cuda_gpu_kern_sum")
                self.assertEqual(sum(count for count, _ in kernels.values()), sum(row["Instances"] for row in rows))
                if "hostile" in capture.name:
                    self.assertEqual(sum(time for _, time in kernels.values()), sum(row["Total Time (ns)"] for row in rows))
                elif not any(word in capture.name for word in COUNTED):
                    self.assertEqual(kernels, {row["Name"]: [row["Instances"], row["Total Time (ns)"]] for row in rows})

    def test_copies_and_fills_equal_the_statistics(self):
        for capture in self.captures():
            with self.subTest(capture.name):
                events = of_category(self.trace(capture)["traceEvents"], "gpu_memcpy", "gpu_memset")
                time = self.stats(capture, "cuda_gpu_mem_time_sum")
                self.assertEqual(len(events), sum(row["Count"] for row in time))
                self.assertEqual(sum(ns(e["dur"]) for e in events), sum(row["Total Time (ns)"] for row in time))
                for event in events:
                    if event["dur"]:
                        gb_per_s = event["args"]["bytes"] / ns(event["dur"])
                        self.assertAlmostEqual(event["args"]["memory bandwidth (GB/s)"], gb_per_s, delta=1e-9 * gb_per_s)

    def test_calls_and_ranges_equal_the_statistics(self):
        for capture in self.captures():
            with self.subTest(capture.name):
                events = self.trace(capture)["traceEvents"]
                calls = by_name(e for e in of_category(events, *CALLS) if "made by gpuprof" not in e["args"])
                self.assertEqual(calls, {row["Name"]: [row["Num Calls"], row["Total Time (ns)"]] for row in self.stats(capture, "cuda_api_sum")})
                ranges = of_category(events, "user_annotation")
                rows = self.stats(capture, "nvtx_sum")
                self.assertEqual(len(ranges), sum(row["Instances"] for row in rows))
                self.assertEqual(sum(ns(e["dur"]) for e in ranges), sum(row["Total Time (ns)"] for row in rows))

    def test_slices_of_one_row_never_partly_overlap(self):
        for capture in self.captures() + [self.job_rank(1)]:
            with self.subTest(capture.name):
                self.assertEqual(rows_with_cuts(self.trace(capture)["traceEvents"]), set())

    def test_work_that_overlaps_in_a_stream_gets_rows_of_its_own(self):
        events = self.trace(self.made("odd"))["traceEvents"]
        kernels = of_category(events, "kernel")
        self.assertEqual(len({e["tid"] for e in kernels}), 2)
        self.assertEqual({e["args"]["stream"] for e in kernels}, {7})
        names = {e["tid"]: e["args"]["name"] for e in events if e["name"] == "thread_name" and e["pid"] == 0}
        self.assertEqual(sorted(names.values()), ["stream 7", "stream 7 (2)"])

    def test_every_arrow_has_both_ends_at_the_start_of_a_slice(self):
        for capture in self.captures():
            with self.subTest(capture.name):
                events = self.trace(capture)["traceEvents"]
                starts = {(e["pid"], e["tid"], e["ts"]) for e in events if e["ph"] == "X" and e["dur"]}
                begins, ends = ([e for e in events if e["ph"] == phase] for phase in "sf")
                self.assertEqual(len({e["id"] for e in begins}), len(begins))
                self.assertEqual({e["id"] for e in begins}, {e["id"] for e in ends})
                self.assertLessEqual({(e["pid"], e["tid"], e["ts"]) for e in begins + ends}, starts)
                linked = {e["id"] for e in ends}
                called = {e["args"].get("correlation"): e["ts"] for e in of_category(events, *CALLS)}
                for event in of_category(events, *GPU):
                    correlation = event["args"]["correlation"]
                    if event["dur"] and correlation not in linked:  # nobody has seen its launch, or it was replayed much too late
                        self.assertGreater(called.get(correlation, math.inf), event["ts"] + 100_000, event)
                        self.assertTrue(correlation in called or capture.stem == "odd", event)

    def test_each_correlation_id_appears_only_once_among_the_calls(self):
        for capture in self.captures():
            with self.subTest(capture.name):
                calls = of_category(self.trace(capture)["traceEvents"], *CALLS)
                times = collections.Counter(e["args"].get("correlation") for e in calls)
                self.assertEqual([c for c, n in times.items() if n > 1 and c is not None], [])

    def test_calls_that_were_not_recorded_are_made_up_and_marked_as_such(self):
        capture = self.training(1000, rank=3)
        run = self.run_export(capture, "chrome", "-o", self.folder / "made.json")
        self.assertIn("1,000 launches of 1 us were made", run.err)
        self.assertIn("--trace cuda,nvtx,sync,cuda-api", run.err)
        calls = of_category(parsed(self.folder / "made.json")["traceEvents"], *CALLS)
        self.assertEqual(len(calls), 1000)
        self.assertTrue(all("made by gpuprof" in e["args"] and e["name"] == "cudaLaunchKernel" for e in calls))
        recorded = of_category(self.trace(self.job_rank(0))["traceEvents"], *CALLS)
        self.assertFalse([e for e in recorded if "made by gpuprof" in e["args"]])

    def test_python_frames_are_on_the_thread_and_end_where_its_ranges_do(self):
        events = self.trace(self.made("python"))["traceEvents"]
        rows = {e["tid"]: e["args"]["name"] for e in events if e["name"] == "thread_name"}
        frames = of_category(events, "python_function")
        found = [(rows[e["tid"]], e["name"], ns(e["ts"]), ns(e["dur"])) for e in sorted(frames, key=lambda e: e["args"]["Python id"])]
        main, beside, model, linear = "thread 4242 (main)", "thread 4243 (worker), Python", "/home/me/model.py(20): Model.forward", "torch/nn/modules/linear.py(125): Linear.forward"
        train = "/home/me/train.py(10): <module>"
        self.assertEqual(found, [
            (main, train, 2000, 6400), (main, model, 2000, 6400), (main, linear, 2000, 400),  # launches at 2000, 4000, 8000
            (main, train, 10_000, 400), (main, model, 10_000, 400),  # the range has ended at 9000
            (main, "/home/me/train.py(11): <module>", 14_000, 4000),  # looks
            (beside, train, 21_000, 6000), (beside, model, 21_000, 6000)])  # both operators
        names = {e["args"]["Python id"]: e["name"] for e in frames}
        self.assertEqual({(e["name"], names.get(e["args"]["Python parent id"])) for e in frames},
                         {(train, None), (model, train), (linear, model), ("/home/me/train.py(11): <module>", None)})
        self.assertEqual({e["args"].get("module") for e in frames if e["name"] == linear}, {"fc: Linear"})
        self.assertEqual({e["args"].get("thread") for e in frames}, {None, 4243})
        self.assertFalse(of_category(self.trace(self.job_rank(0))["traceEvents"], "python_function"))

    def test_names_of_any_bytes_leave_as_they_are(self):
        events = self.trace(self.made("hostile"))["traceEvents"]
        names = {e["name"] for e in of_category(events, "kernel")}
        for name in ("</script><img src=x onerror=alert(1)>", 'quotes " \' ` and \\ backslash', "bad \ufffd\ufffd bytes \ufffd", "a\0b", "x" * 65536):
            self.assertIn(name, names)
        self.assertEqual(names, {e["name"] for e in of_category(events, "user_annotation")})

    def test_the_header_names_the_rank_and_the_gpu_of_the_trace(self):
        trace = self.trace(self.training(1000, rank=3))
        self.assertEqual(trace["distributedInfo"], {"rank": 3, "world_size": 8})
        self.assertEqual((trace["schemaVersion"], trace["displayTimeUnit"], trace["missing"]), (1, "ms", []))
        self.assertEqual(trace["deviceProperties"][0]["name"], "NVIDIA H200")
        self.assertEqual(trace["baseTimeNanoseconds"], 1_700_000_000_000_000_000)
        self.assertNotEqual(trace["trace_id"], self.trace(self.training(1000, rank=4))["trace_id"])
        self.assertNotIn("distributedInfo", self.trace(self.made("odd")))

    def test_every_number_fits_exactly_into_a_double(self):
        def look(value):
            if isinstance(value, dict):
                for key, inner in value.items():
                    if key != "baseTimeNanoseconds":
                        look(inner)
            elif isinstance(value, list):
                for inner in value:
                    look(inner)
            elif isinstance(value, (int, float)):
                self.assertTrue(math.isfinite(value) and (isinstance(value, float) or abs(value) <= 2**53), value)
        for capture in self.captures():
            look(self.trace(capture))

    def test_the_trace_lists_what_a_cut_capture_lacks(self):
        whole = self.training(100_000).read_bytes()
        cut = self.folder / "cut.gpuprof"
        cut.write_bytes(whole[: len(whole) * 2 // 3])
        trace = self.trace(cut)
        self.assertTrue(trace["missing"])
        self.assertGreater(len(of_category(trace["traceEvents"], "kernel")), 30_000)

    def test_json_is_plain_and_gzip_has_members_of_a_mebibyte(self):
        capture = self.training(20_000)
        packed = self.export(capture, "chrome", name="t.json.gz")
        plain = self.export(capture, "chrome", name="t.json")
        self.assertEqual(gzip.decompress(packed.read_bytes()), plain.read_bytes())
        members = packed.read_bytes().count(b"\x1f\x8b\x08\x00\x00\x00\x00\x00")
        self.assertGreaterEqual(members, plain.stat().st_size >> 20)
        self.assertEqual(plain.read_bytes()[:1], b"{")

    def test_a_full_disk_leaves_nothing(self):
        run = subprocess.run(["bash", "-c", f"ulimit -f 64; exec {processes.path('BUILT_GPUPROF')} export "
                              f"{self.training(100_000)} --type chrome -o {self.folder / 'full.json.gz'}"], capture_output=True, text=True)
        self.assertEqual(run.returncode, 1, run.stderr)
        self.assertIn("cannot write", run.stderr)
        self.assertEqual(list(self.folder.iterdir()), [])


class Measured(export_cases.Case):
    def test_samples_are_counters_with_their_sums(self):
        capture = next(c for c in self.captures() if "sampled" in c.name)
        trace = parsed(self.export(capture, "chrome", name="s.json.gz"))
        raw = json.loads(self.export(capture, "json").read_text())["tables"]
        metrics = {row[0]: row[1] for row in raw["metric"]["rows"]}
        heads = [c["name"] for c in raw["sample"]["columns"]]
        sums = collections.Counter()
        for row in raw["sample"]["rows"]:
            sample = dict(zip(heads, row))
            sums[metrics[sample["metric"]]] += sample["value"]
        found = collections.Counter()
        for event in of_category(trace["traceEvents"], "hardware_counters"):
            found[event["name"]] += event["args"]["value"]
        self.assertTrue(sums)
        for name, total in sums.items():
            self.assertAlmostEqual(found[name], total, delta=1e-9 * abs(total), msg=name)

    def test_power_and_clocks_are_counters(self):
        events = parsed(self.export(self.with_power(), "chrome", name="p.json"))["traceEvents"]
        found = collections.defaultdict(list)
        for event in of_category(events, "hardware_counters"):
            found[event["name"]].append(event["args"]["value"])
        self.assertEqual({name: values for name, values in found.items() if name[-1] == ")"},
                         {"power (W)": [650] * 3, "SM clock by NVML (MHz)": [1700] * 3, "temperature (\u00b0C)": [60] * 3})

    def test_each_launch_has_the_counters_of_its_workload(self):
        events = parsed(self.export(self.job_rank(2), "chrome", name="r.json.gz"))["traceEvents"]
        launches = [e for e in of_category(events, "cuda_runtime") if e["name"] == "cudaLaunchKernel"]
        readings = of_category(events, "cuda_profiler_range")
        self.assertEqual(sorted(e["ts"] for e in launches), sorted(e["ts"] for e in readings))
        for event in readings:
            expected = {"smsp__sass_thread_inst_executed_op_ffma_pred_on.sum": 1e6, "dram__bytes_read.sum": 4e6} if "gemm" in event["name"] else {}
            self.assertEqual(event["args"], expected)


class Hta(export_cases.Case):
    """HolisticTraceAnalysis 0.5.0."""

    def analyzed(self, files, annotation):
        folder, scratch = self.folder / "traces", self.folder / "scratch"
        folder.mkdir()
        scratch.mkdir()
        for file in files:
            shutil.move(file, folder / file.name)
        # Without it times are rounded to microseconds, and shorter calls end before they begin.
        environment = {"HTA_DISABLE_NS_ROUNDING": "1", "PYTHONPATH": str(clients.folder_of("hta"))}
        script = pathlib.Path(__file__).with_name("hta_analyses.py")
        run = self.run_program(sys.executable, script, folder, annotation, "aten::mm", scratch, env=environment, timeout=300)
        self.assertEqual(run.code, 0, run.err)
        return json.loads((scratch / "said.json").read_text())

    def check_work(self, said, file, capture):
        work = [row for row in said["gpu_work"][file] if row["category"] == "kernel"]
        rows = self.stats(capture, "cuda_gpu_kern_sum")
        self.assertEqual({row["text"]: (row["count"], row["sum"]) for row in work},
                         {row["Name"]: (row["Instances"], row["Total Time (ns)"]) for row in rows})

    def test_four_ranks_pass_all_analyses(self):
        captures = {rank: self.job_rank(rank) for rank in range(4)}
        files = [self.export(c, "chrome", name=f"rank-{9 - r}.json.gz") for r, c in captures.items()]
        said = self.analyzed(files, "ProfilerStep")
        self.assertEqual(said["ranks"], [0, 1, 2, 3])
        self.assertEqual({tuple(v) for v in said["valid"].values()}, {(True, True, True)})
        for rank, capture in captures.items():
            self.check_work(said, f"rank-{9 - rank}.json.gz", capture)
        self.assertEqual({k: v for k, v in said.items() if isinstance(v, dict) and "raised" in v}, {})

        self.assertEqual([row["rank"] for row in said["temporal"]], [0, 1, 2, 3])
        for row in said["temporal"]:
            self.assertAlmostEqual(row["idle_time(us)"] + row["compute_time(us)"] + row["non_compute_time(us)"], row["kernel_time(us)"], places=3)
        self.assertEqual({row["idle_category"] for row in said["idle"]}, {"host_wait", "kernel_wait", "other"})
        for row in said["overlap"]:
            self.assertGreater(row["comp_comm_overlap_pctg"], 10)
        self.assertLessEqual({"COMPUTATION", "COMMUNICATION", "MEMORY", "COMPUTATION overlapping COMMUNICATION"}, {r["kernel_type"] for r in said["kernel_types"]})
        self.assertLessEqual({"forward", "backward"}, {row["name"] for row in said["annotations"]})
        self.assertLessEqual({"forward", "backward"}, {row["name"] for row in said["gpu_annotations"]})
        self.assertEqual(collections.Counter(row["s_user_annotation"] for row in said["annotated_kernels"] if row["s_name"] == "add"),
                         {"forward": 48, "backward": 48})
        self.assertEqual(said["steps"], [0, 1, 2, 3, 4, 5])
        self.assertTrue(said["stragglers"])
        for rank in "0123":  # kernels, copies; the wait is none of both
            self.assertEqual(len([r for r in said["launches"][rank] if r["cpu_duration"] == 3]), 6 * (34 + 1))
            self.assertEqual(said["bandwidth_series"][rank], 2 * 6)
            self.assertEqual({(r["dram__bytes_read.sum"], r["top_level_op"]) for r in said["counters"][rank] if "gemm" in r["name"] and r["top_level_op"] == "aten::mm"},
                             {(4e6, "aten::mm")})
            self.assertEqual(len(said["counters"][rank]), 6 * 34)
        self.assertEqual({(r["name"], r["count"], round(r["mean"], 4)) for r in said["bandwidth"]}, {("Memcpy HtoD", 6, 52.4288)})
        self.assertEqual({row["stream"] for row in said["queue"]}, {7, 20})
        self.assertEqual(said["sequences"][0]["count"], 96)
        self.assertEqual({row["diff_counts"] for row in said["difference"]}, {0})
        self.assertTrue(said["critical_path"]["success"])
        self.assertAlmostEqual(sum(said["critical_path"]["of"].values()), 100, places=3)

    def test_a_recorded_training_passes_the_analyses(self):
        capture = self.of_session("train_step")
        said = self.analyzed([self.export(capture, "chrome", name="train_step.json.gz")], "step")
        self.assertEqual(said["valid"], {"train_step.json.gz": [True, True, True]})
        self.check_work(said, "train_step.json.gz", capture)
        # It has no ProfilerStep#N, no operators of PyTorch and no counters.
        raised = {k: v["raised"] for k, v in said.items() if isinstance(v, dict) and "raised" in v}
        self.assertEqual(set(raised), {"stragglers", "operators"}, raised)
        self.assertAlmostEqual(sum(row["percentage"] for row in said["kernel_types"]), 100, delta=0.5)
        self.assertEqual({row["name"] for row in said["bandwidth"]}, {"Memcpy HtoD", "Memcpy DtoH", "Memcpy DtoD", "Memset"})
        self.assertTrue(said["critical_path"]["success"])


class Perfetto(export_cases.Case):
    """The importer of Perfetto's UI."""

    def test_the_importer_takes_every_slice(self):
        import perfetto_ui
        captures = [self.of_session("train_step"), self.of_session("graph"), self.made("hostile"), self.made("odd"), self.made("python"), self.job_rank(0)]
        browser = perfetto_ui.Browser()
        self.addCleanup(browser.close)
        for capture in captures:
            file = self.export(capture, "chrome", name=capture.stem + ".json.gz")
            events = parsed(file)["traceEvents"]
            with self.subTest(capture.stem), browser.opened(file) as ui:
                self.assertEqual(ui.import_problems(), {})
                self.assertEqual(ui.value("select count(*) from slice"), len([e for e in events if e["ph"] in "Xi"]))
                found = ui.query("select count(*) as n, sum(dur) as ns from slice where category = 'kernel' group by name")
                self.assertEqual(sorted([row["n"], row["ns"]] for row in found), sorted(by_name(of_category(events, "kernel")).values()))
                self.assertEqual(ui.value("select count(distinct arg_set_id) from slice where category = 'kernel'"), len(of_category(events, "kernel")))


export_cases.main()

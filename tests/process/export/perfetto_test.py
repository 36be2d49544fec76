# SPDX-License-Identifier: Apache-2.0
"""gpuprof export --type perfetto: decoded with Google's descriptors, and imported by Perfetto itself, against the capture's own rows."""
import collections
import functools
import json
import pathlib
import shutil
import subprocess
import tempfile

import clients
import export_cases
import perfetto_packets
import perfetto_ui
import processes

WORK = ("kernel", "copy", "memset", "graph")
NVTX = "nvtx"
API = ("cuda_runtime", "cuda_driver")
OURS = ("gpuprof", "cuda_sync", "unified_memory")


class Rows:
    """The tables of a capture, by name, as dictionaries."""

    def __init__(self, document):
        self._tables = document["tables"]

    def __getitem__(self, table):
        found = self._tables.get(table)
        if found is None:
            return []
        heads = [column["name"] for column in found["columns"]]
        return [dict(zip(heads, map(self._number, row))) for row in found["rows"]]

    @staticmethod
    def _number(value):
        """Integers that JSON readers would spoil are texts."""
        return int(value) if isinstance(value, str) and value.isdigit() else value

    def work(self):
        return [row for table in WORK for row in self[table]]

    def samples(self):
        """Values of sampled counters by name, as rates where they are counts."""
        names = {row["metric"]: row["name"] for row in self["metric"]}
        found = collections.defaultdict(list)
        for row in self["sample"]:
            name, value = names[row["metric"]], row["value"]
            if name.count(".") == 1:
                name, value = name + ".per_second", value / (row["duration"] / 1e9)
            found[name + " (sampled)"].append((row["start"] + row["duration"], value))
        return {name: sorted(values) for name, values in found.items()}


class Exported:
    """A capture's trace and the rows that it was made of, each read once for all tests."""

    def __init__(self, capture, file, rows):
        self.capture, self.file, self.rows = capture, file, rows

    @functools.cached_property
    def trace(self):
        return perfetto_packets.Trace(self.file)


class Perfetto(export_cases.Case):
    kept = tempfile.TemporaryDirectory(prefix="gpuprof-perfetto-")
    known = {}

    def exported(self, capture):
        if capture not in self.known:
            kept = pathlib.Path(self.kept.name) / f"{capture.stem}.perfetto-trace"
            shutil.move(self.export(capture, "perfetto"), kept)
            self.known[capture] = Exported(capture, kept, Rows(json.loads(self.export(capture, "json").read_text(encoding="utf-8"))))
        return self.known[capture]

    def of_h200(self, name):
        return self.exported(next(capture for capture in self.captures() if capture.stem == name))


def crooked(case):
    """A capture of two GPUs, with what overlaps, is lost, or came at one moment: see perfetto_captures.cpp."""
    file = pathlib.Path(Perfetto.kept.name) / "crooked.gpuprof"
    if not file.exists():
        subprocess.run([processes.path("BUILT_PERFETTO_CAPTURES"), file], check=True)
    return case.exported(file)


def of_each_capture(test):
    """Runs a test(self, capture, exported) for each."""
    @functools.wraps(test)
    def run(self):
        for capture in self.captures():
            with self.subTest(capture.name):
                test(self, capture, self.exported(capture))
    return run


class Decoded(Perfetto):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        clients.folder_of("perfetto")

    @of_each_capture
    def test_all_gpu_work_is_in_the_trace_with_its_time_and_place(self, capture, exported):
        rows = exported.rows
        trace = exported.trace
        of = [(w.begin, w.duration, w.gpu, int(w.queue.rsplit(" ", 1)[1])) for w in trace.work]
        self.assertEqual(sorted(of), sorted((r["start"], max(r["duration"], 0), r["device"], r["stream"]) for r in rows.work()))
        self.assertEqual(len({w.event for w in trace.work}), len(of), "event ids are not unique")

    @of_each_capture
    def test_kernels_are_those_of_stats(self, capture, exported):
        rows = exported.rows
        found = collections.defaultdict(list)
        for work in exported.trace.work:
            if work.kernel is not None:
                found[work.kernel["demangled"]].append(work.duration)
        stats = self.stats(capture, "cuda_gpu_kern_sum")
        if "hostile" in capture.name:  # stats shows other names for what is no text
            self.assertEqual(sum(map(len, found.values())), sum(row["Instances"] for row in stats))
            return
        self.assertEqual({name: len(times) for name, times in found.items()}, {row["Name"]: row["Instances"] for row in stats})
        if not rows["reading_value"]:  # stats corrects those that were slowed by being read
            self.assertEqual({name: sum(times) for name, times in found.items()}, {row["Name"]: row["Total Time (ns)"] for row in stats})

    def test_kernels_have_their_shape(self):
        exported = self.exported(self.of_session("train_step"))
        rows = exported.rows
        shapes = {row["id"]: row for row in rows["shape"]}
        expected = collections.Counter()
        for row in rows["kernel"]:
            shape = shapes[row["shape"]]
            expected[(row["kernel_name"], shape["grid_x"], shape["block_x"], shape["registers_per_thread"], shape["dynamic_shared_bytes"])] += 1
        found = collections.Counter((w.kernel["demangled"], w.launch["grid_size"][0], w.launch["workgroup_size"][0],
                                     w.kernel["args"]["registers_per_thread"], w.kernel["args"]["shared_mem_dynamic"])
                                    for w in exported.trace.work if w.kernel)
        self.assertEqual(found, expected)

    @of_each_capture
    def test_calls_and_ranges_nest_and_have_their_lengths(self, capture, exported):
        rows = exported.rows
        trace = exported.trace  # fails where a slice ends that is not the last begun
        calls = sorted((s.begin, s.end - s.begin) for s in trace.slices if s.category in API)
        self.assertEqual(calls, sorted((r["start"], r["duration"]) for r in rows["api"]))
        ends = {row["range"]: row["time"] for row in rows["range_end"]}
        ranges = [(s.begin, s.end) for s in trace.slices if s.category == NVTX]
        expected = [(row["time"], ends.get(row["range"])) for row in rows["range_begin"]] + [(row["time"], row["time"]) for row in rows["mark"]]
        self.assertEqual(collections.Counter(ranges), collections.Counter(expected))
        self.assertEqual(trace.unfinished, sum(row["range"] not in ends for row in rows["range_begin"]))

    @of_each_capture
    def test_calls_and_ranges_are_those_of_stats(self, capture, exported):
        rows = exported.rows
        if "hostile" in capture.name:
            return
        slices = exported.trace.slices
        calls = collections.Counter(s.name for s in slices if s.category in API)
        self.assertEqual(calls, {row["Name"]: row["Num Calls"] for row in self.stats(capture, "cuda_api_sum")} if calls else {})
        ranges = sum(s.category == NVTX for s in slices) - len(rows["mark"])
        operators = sum(row["domain"] == "torch" for row in rows["range_begin"])  # stats have a report of their own for these
        self.assertEqual(ranges - operators, sum(row["Instances"] for row in self.stats(capture, "nvtx_sum")))

    @of_each_capture
    def test_arrows_lead_from_calls_to_what_they_launched(self, capture, exported):
        rows = exported.rows
        trace = exported.trace
        events = {w.event for w in trace.work}
        arrows = [event for s in trace.slices for event in s.launches]
        self.assertEqual(set(arrows) - events, set())
        self.assertEqual(len(arrows), len(set(arrows)), "two calls launched the same")
        calls = {row["correlation"] for row in rows["api"]}
        launched = [r for r in rows.work() if (r["correlation"] in calls if calls else r["launched"] and r["thread"])]
        self.assertEqual(len(arrows), len(launched))

    def test_the_critical_path_is_a_chain_of_slices_with_arrows(self):
        trace = self.exported(self.repaired("growing_cache")).trace
        slices = [s for s in trace.slices if s.category == "critical_path"]
        steps = [s for s in slices if not s.notes]
        self.assertEqual([s.name for s in steps], ['1 of 23 steps "step"'] * 2)
        work = {(w.begin, w.duration) for w in trace.work}
        for step in steps:
            links = [s for s in slices if trace.tracks[s.track].parent_uuid == step.track]
            self.assertGreater(len(links), 100)
            self.assertLessEqual(max(s.end for s in links), step.end)
            for one, following in zip(links, links[1:]):
                self.assertLessEqual(one.end, following.begin)
                self.assertEqual((len(one.arrows_to), one.arrows_to), (1, following.arrows_from))
            self.assertEqual((links[0].arrows_from, links[-1].arrows_to), ([], []))
            for s in links:
                on_gpu = s.notes["kind"] in ("kernels", "copies")
                self.assertTrue(trace.tracks[s.track].name.startswith("GPU 0 stream " if on_gpu else "thread "))
                if on_gpu:
                    self.assertIn((s.begin, s.end - s.begin), work)
        median = next(s for s in steps if trace.tracks[s.track].name == "Critical path: median step")
        (whole,) = [row for row in self.stats(self.repaired("growing_cache"), "critical_path") if row["Kind"] == "step"]
        self.assertEqual(median.end - median.begin, whole["On Path (ns)"])

    def test_without_steps_there_is_no_critical_path(self):
        self.assertEqual([s for s in self.of_h200("counted_auto").trace.slices if s.category == "critical_path"], [])

    def test_samples_and_readings_equal_those_of_the_capture(self):
        for name in "counted_auto", "mixed_exact", "mixed_sampled":
            exported = self.of_h200(name)
            rows, trace = exported.rows, exported.trace
            samples = {n: [v for v in values if v[1] != 0] for (_, n, group), values in trace.counters.items() if group != 6}
            self.assertEqual({n: sorted(v) for n, v in samples.items()},
                             {n: [v for v in values if v[1] != 0] for n, values in rows.samples().items()})
            ends = {row["correlation"]: row["start"] + row["duration"] for row in rows["kernel"]}
            names = {row["metric"]: row["name"] for row in rows["metric"]}
            read = {(names[row["metric"]], ends.get(row["correlation"]), row["value"]) for row in rows["reading_value"]}
            written = {(n, *value) for (_, n, group), values in trace.counters.items() if group == 6 for value in values if value[1] != 0}
            self.assertEqual(written - read, set())
            if name == "mixed_exact":  # nothing ran beside
                self.assertEqual(written, {value for value in read if value[2] != 0})

    @of_each_capture
    def test_the_memory_counter_shows_memory_that_is_allocated_and_not_yet_released(self, capture, exported):
        rows = exported.rows
        expected, live, total = collections.defaultdict(list), {}, collections.Counter()
        for row in sorted(rows["memory"], key=lambda row: row["time"]):
            of = (row["kind"], row["device"])
            if row["operation"] == 1:
                live[row["address"]] = row["bytes"]
                total[of] += row["bytes"]
            elif row["address"] in live:
                total[of] -= live.pop(row["address"])
            else:
                continue
            expected[of].append((row["time"], total[of]))
        written = [values for name, values in exported.trace.track_counters.items() if name.startswith("Allocated memory: ")]
        self.assertEqual(sorted(written), sorted(expected.values()))

    def test_the_attributes_of_a_range_are_notes_on_its_slice(self):
        notes = [s.notes for s in crooked(self).trace.slices if s.name == "carries"]
        self.assertEqual([n.pop("payload") for n in notes], [2**64 - 1, -5, 2.5, '{"a": 1}'])
        self.assertEqual(notes, [{"category": "seventh", "color": "#ff00ff00", "flops": 1e9}] * 4)

    def test_python_frames_of_a_thread_are_on_a_track_of_it(self):
        slices = [s for s in self.exported(self.made("python")).trace.slices if s.category == "python"]
        train, model = "/home/me/train.py(10): <module>", "/home/me/model.py(20): Model.forward"
        begin = min(s.begin for s in slices)
        self.assertEqual(sorted((s.begin - begin, s.end - s.begin, s.name) for s in slices), sorted([
            (0, 8400, train), (0, 8400, model), (0, 400, "torch/nn/modules/linear.py(125): Linear.forward"),  # not cut by the range
            (12_000, 4000, "/home/me/train.py(11): <module>"), (19_000, 6000, train), (19_000, 6000, model)]))
        self.assertEqual(len({s.track for s in slices}), 2)
        self.assertEqual({s.notes.get("module") for s in slices if "linear.py" in s.name}, {"fc: Linear"})

    def test_a_graph_is_one_call_that_launched_all_its_kernels(self):
        trace = crooked(self).trace
        (call,) = [s for s in trace.slices if s.name == "cudaGraphLaunch"]
        of_graph = [w for w in trace.work if w.extra.get("graph") == "5"]
        self.assertEqual(sorted(call.launches), sorted(w.event for w in of_graph))
        self.assertEqual(len(of_graph), 3)

    def test_ranges_that_the_format_cannot_hold_are_reported(self):
        run = self.run_export(crooked(self).capture, "perfetto", "-o", self.folder / "said")
        self.assertIn("1 NVTX range cut off where the range around ends", run.err)

    def test_a_gpu_has_its_name_architecture_and_uuid(self):
        trace = self.exported(self.made("odd")).trace
        (gpu,) = trace.gpus
        self.assertEqual((gpu.name, gpu.architecture, gpu.uuid.hex()), ("NVIDIA H200", "GH100", "00000000000000000000000000000001"))
        self.assertEqual(next(t for t in trace.tracks.values() if t.HasField("process")).process.pid, 4194999)

    def test_the_same_capture_is_the_same_trace(self):
        one = self.export(self.of_session("graph"), "perfetto", name="one").read_bytes()
        self.assertEqual(one, self.export(self.of_session("graph"), "perfetto", name="two").read_bytes())


class Imported(Perfetto):
    """The real importer and UI."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.browser = perfetto_ui.Browser()
        cls.addClassCleanup(cls.browser.close)

    @of_each_capture
    def test_every_capture_is_imported_unchanged(self, capture, exported):
        rows = exported.rows
        with self.browser.opened(exported.file) as ui:
            # The arrows are an extension that Perfetto knows from v55 on.
            self.assertEqual(set(ui.import_problems()) - {"unknown_extension_fields"}, set())
            self.check_gpu(ui, rows)
            self.check_cpu(ui, rows)
            self.check_counters(ui, rows)

    def check_gpu(self, ui, rows):
        found = ui.query("select s.ts, s.dur, t.name as queue from slice s join track t on s.track_id = t.id where t.type = 'gpu_render_stage'")
        self.assertEqual(sorted((s["ts"], s["dur"], int(s["queue"].rsplit(" ", 1)[1])) for s in found),
                         sorted((r["start"], max(r["duration"], 0), r["stream"]) for r in rows.work()))

    def check_cpu(self, ui, rows):
        slices = collections.Counter((s["category"], s["ts"], s["dur"]) for s in ui.query(
            "select s.category, s.ts, s.dur from slice s join track t on s.track_id = t.id where t.type != 'gpu_render_stage'"))
        of = lambda *categories: collections.Counter({(ts, dur): n for (category, ts, dur), n in slices.items() if category in categories})
        ends = {row["range"]: row["time"] for row in rows["range_end"]}
        length = lambda row: ends[row["range"]] - row["time"] if row["range"] in ends else -1  # as Perfetto has it
        self.assertEqual(of(NVTX), collections.Counter([(row["time"], length(row)) for row in rows["range_begin"]]
                                                       + [(row["time"], 0) for row in rows["mark"]]))
        self.assertEqual(of(*API), collections.Counter((row["start"], row["duration"]) for row in rows["api"]))
        self.assertEqual(of("cuda_sync"), collections.Counter((row["start"], row["duration"]) for row in rows["sync"]))
        threads = {row["tid"] for row in ui.query("select distinct tid from thread_track join thread using (utid)")}
        self.assertLessEqual({row["os_thread"] for row in rows["api"]}, threads)

    def check_counters(self, ui, rows):
        """Perfetto moves a value to where its interval begins."""
        found = collections.defaultdict(list)
        for row in ui.query("select t.name, c.value from counter c join track t on c.track_id = t.id where t.name like '% (sampled)' order by c.ts"):
            if row["value"] != 0:
                found[row["name"]].append(row["value"])
        self.assertEqual(found, {name: values for name, all_ in rows.samples().items() if (values := [v for _, v in all_ if v != 0])})

    def test_arrows_lead_along_the_critical_path(self):
        exported = self.exported(self.repaired("growing_cache"))
        links = [s for s in exported.trace.slices if s.category == "critical_path" and s.notes]
        with self.browser.opened(exported.file) as ui:
            (found,) = ui.query("select count(*) as arrows, sum(one.ts + one.dur <= following.ts) as forward from flow"
                                " join slice one on slice_out = one.id join slice following on slice_in = following.id"
                                " where one.category = 'critical_path' and following.category = 'critical_path'")
        self.assertEqual(found, {"arrows": len(links) - 2, "forward": len(links) - 2})

    def test_power_and_clocks_are_counters_of_the_process(self):
        with self.browser.opened(self.exported(self.with_power()).file) as ui:
            found = ui.query("select t.name, t.unit, c.value from counter c join counter_track t on c.track_id = t.id where t.name like 'GPU 0 %' order by t.name, c.ts")
        self.assertEqual([tuple(row.values()) for row in found],
                         [("GPU 0 SM clock by NVML", "MHz", 1700)] * 3 + [("GPU 0 power", "W", 650)] * 3 + [("GPU 0 temperature", "\u00b0C", 60)] * 3)

    def test_the_counters_of_a_kernel_lie_within_its_time(self):
        exported = self.of_h200("mixed_exact")
        rows = exported.rows
        names = {row["metric"]: row["name"] for row in rows["metric"]}
        starts = {row["correlation"]: row["start"] for row in rows["kernel"]}
        expected = sorted((starts[r["correlation"]], names[r["metric"]], r["value"]) for r in rows["reading_value"] if r["value"] != 0)
        with self.browser.opened(exported.file) as ui:
            found = ui.query("select s.ts, t.name, c.value from slice s join counter c on c.ts >= s.ts and c.ts < s.ts + s.dur join track t on c.track_id = t.id"
                             " join track q on s.track_id = q.id where q.type = 'gpu_render_stage' and c.value != 0")
        self.assertEqual(sorted((r["ts"], r["name"], r["value"]) for r in found), expected)

    def test_ranges_and_calls_that_overlap_keep_their_lengths(self):
        with self.browser.opened(crooked(self).file) as ui:
            self.assertEqual(set(ui.import_problems()) - {"unknown_extension_fields"}, set())
            rows = ui.query("select s.name, s.ts - 1700000000000000000 as ts, s.dur, s.depth from slice s join track t on s.track_id = t.id"
                            " where t.type != 'gpu_render_stage' and s.name != 'carries' order by s.ts, s.depth, s.name")
            allocated = ui.query("select t.name, c.value from counter c join track t on c.track_id = t.id where t.name like 'Allocated%' order by c.ts")
            queues = {row["name"] for row in ui.query("select name from track where type = 'gpu_render_stage'")}
        self.assertEqual([tuple(row.values()) for row in rows], [
            ("capture 1", 0, 100000, 0), ("elsewhere", 100, 200, 0), ("outer", 100, 200, 0), ("inner", 100, 50, 1), ("overlaps", 250, 100, 0),
            ("no length", 300, 0, 0), ("next", 350, 10, 0), ("migration to device", 5000, 150, 0), ("migration to host", 5100, 150, 0),
            ("CPU page fault", 5200, 150, 0), ("stream synchronize", 6000, 100, 0), ("context synchronize", 6050, 100, 0),
            ("first", 11000, 1000, 0), ("moment", 12000, 0, 0), ("second", 12000, 1000, 0), ("left", 21000, 1000, 0), ("right", 21500, 1500, 0),
            ("back", 32000, 0, 0), ("cudaGraphLaunch", 40000, 2000, 0), ("whole", 41000, 1000, 0), ("cut", 41500, 500, 1)])
        self.assertEqual([(row["name"][len("Allocated memory: "):], row["value"]) for row in allocated],
                         [("Device, GPU 0", 1000), ("Device, GPU 0", 1500), ("Pinned, GPU 0", 70), ("Device, GPU 0", 500)])
        self.assertEqual(queues, {f"GPU {gpu} context {context} stream 007" for gpu, context in ((0, 1), (1, 2), (1, 3))})

    def test_hostile_names_come_through_unchanged(self):
        with self.browser.opened(self.exported(self.made("hostile")).file) as ui:
            names = [row["name"] for row in ui.query("select name from slice where category = 'nvtx' and dur > 0 order by ts")]
        self.assertEqual(names[1:4], ["</script><img src=x onerror=alert(1)>", "line\nbreak, tab\t and \x01\x1f\x7f controls", "bad \ufffd\ufffd bytes \ufffd"])
        self.assertIn("x" * (64 << 10), names)


export_cases.main()

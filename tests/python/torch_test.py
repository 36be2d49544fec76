# SPDX-License-Identifier: Apache-2.0
"""libgpuprof.torch: scripts written for torch.profiler run with one import line changed. torch itself is not needed."""
import gzip
import json

import package


class TorchNames(package.Case):
    def test_a_script_of_torch_runs(self):
        run = self.python("""
            from libgpuprof.torch import profile, record_function, ProfilerActivity, schedule, tensorboard_trace_handler
            assert "torch" not in sys.modules
            with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA], schedule=schedule(wait=1, warmup=1, active=2, repeat=1),
                         on_trace_ready=tensorboard_trace_handler("logs", worker_name="me", use_gzip=True)) as prof:
                for i in range(5):
                    with record_function("## forward ##"):
                        if i == 2: play()
                    prof.step()
            averages = prof.key_averages()
            table = averages.table(sort_by="cuda_time_total", row_limit=4)
            print(table)
            rows = {row.key: row for row in averages}
            print(rows["## forward ##"].count, rows["## forward ##"].cuda_time_total, rows["even(float*, int)"].count,
                  rows["even(float*, int)"].self_device_time_total, averages.total_average().self_cuda_time_total)
            print(averages.table(sort_by="cpu_time_total", row_limit=1).count("\\n"), "forward" in str(averages))
            prof.export_chrome_trace("trace.json")
            print(prof.step_num, os.listdir("logs")[0].startswith("me."), os.listdir("logs")[0].endswith(".pt.trace.json.gz"))
            """)
        lines = run.out.splitlines()
        self.assertEqual(lines[-3:], ["2 205.0 100 100.0 206.0", "3 True", "5 True True"])
        self.assertIn("Self CUDA time total: 206.000us", run.out)
        self.assertNotIn("Warning", run.err)
        events = json.loads((self.folder / "trace.json").read_text())["traceEvents"]
        self.assertEqual(len([e for e in events if e.get("cat") == "kernel"]), 205)
        logged = json.loads(gzip.decompress(next((self.folder / "logs").iterdir()).read_bytes()))["traceEvents"]
        # The frames of a thread may have been looked at once more since the log was written.
        without_frames = [[e for e in each if e.get("cat") != "python_function"] for each in (logged, events)]
        self.assertEqual(len(without_frames[0]), len(without_frames[1]))

    def test_requested_data_that_is_not_recorded_is_reported(self):
        run = self.python("""
            from libgpuprof.torch import profile, schedule, record_function
            with profile(record_shapes=True, with_stack=True, profile_memory=True, with_flops=True, with_modules=True, output="run") as prof:
                with record_function("mine", "arguments"): play()
            for ask in (prof.events, lambda: prof.export_stacks("x"), lambda: prof.export_memory_timeline("x"), lambda: prof.key_averages(True),
                        lambda: prof.key_averages(group_by_stack_n=5), lambda: prof.add_metadata("a", "b")):
                try: ask()
                except NotImplementedError as why: print(why)
            try: prof.key_averages().table(sort_by="cuda_memory_usage")
            except ValueError as why: print(why)
            try: schedule(wait=0, warmup=0, active=0)
            except ValueError as why: print("ValueError")
            """)
        for name in ("record_shapes", "with_stack", "profile_memory", "with_flops", "with_modules"):
            self.assertEqual(run.err.count(f"RuntimeWarning: {name}: "), 1, run.err)
        said = run.out.splitlines()
        self.assertEqual(len(said), 8)
        self.assertTrue(all(": " in line for line in said[:7]), said)  # what there is, or what to use instead

    def test_signatures_equal_those_of_torch(self):
        """A script for torch 2.14 may name each of these."""
        self.assertEqual(self.lines("""
            import inspect
            from libgpuprof import torch as ours
            theirs = ["activities", "schedule", "on_trace_ready", "record_shapes", "profile_memory", "with_stack", "with_flops", "with_modules",
                      "experimental_config", "execution_trace_observer", "acc_events", "use_cuda", "custom_trace_id_callback"]
            print([name for name in theirs if name not in inspect.signature(ours.profile).parameters])
            print(list(inspect.signature(ours.schedule).parameters))
            print(list(inspect.signature(ours.tensorboard_trace_handler).parameters))
            print([name for name in ("start", "stop", "step", "key_averages", "events", "export_chrome_trace", "export_stacks", "add_metadata",
                                     "add_metadata_json", "export_memory_timeline", "toggle_collection_dynamic") if not hasattr(ours.profile, name)])
            """), ["[]", "['wait', 'warmup', 'active', 'repeat', 'skip_first', 'skip_first_wait']", "['dir_name', 'worker_name', 'use_gzip']", "[]"])

    def test_a_schedule_may_skip_the_first_wait(self):
        self.assertEqual(self.lines("""
            from libgpuprof.torch import schedule
            made = schedule(wait=2, warmup=0, active=1, skip_first=1, skip_first_wait=1)
            print([made(i).name for i in range(6)])
            """), ["['NONE', 'RECORD_AND_SAVE', 'NONE', 'NONE', 'RECORD_AND_SAVE', 'NONE']"])

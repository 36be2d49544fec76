# SPDX-License-Identifier: Apache-2.0
"""gpuprof demo, as somebody meets it who has installed the package on a machine without a GPU."""
import pathlib
import re
import sys

import processes

DEMO = pathlib.Path(processes.path("BUILT_DEMO"))
PLAYER, SESSION = DEMO / "play-session", DEMO / "session.gprec"


class Demo(processes.Case):
    def gpuprof(self, *words, **more):
        return self.run_program(processes.path("BUILT_GPUPROF"), *words, timeout=120, **more)

    def kernels_in_session(self):
        """Counts concurrent kernels, kind 10: the recorder asks for no other."""
        run = self.run_program(processes.path("BUILT_PLAY"), SESSION, "--info")
        return processes.numbers(run.out)["records.kind_10"]

    def check(self, run, name="gpuprof-demo"):
        self.assertEqual(run.code, 0, run.out + run.err)
        self.assertIn(f"[gpuprof] {self.kernels_in_session():,} kernels", run.err)
        self.assertIn("lost: nothing", run.out)
        self.assertTrue((self.folder / (name + ".gpuprof")).is_file())
        self.assertIn("</html>", (self.folder / (name + ".html")).read_text()[-1000:])

    def test_the_demo_shows_the_output_of_every_command_for_a_recorded_session(self):
        run = self.gpuprof("demo")
        self.check(run)
        self.assertRegex(run.out, r"^This is a recorded session of .+ on an NVIDIA H\w+ \(20\d\d-\d\d-\d\d\), played here\. It uses no GPU; "
                                  r"all figures are those of that run\.\n")
        commands = re.findall(r"^\$ gpuprof (\w+)", run.out, re.MULTILINE)
        self.assertEqual(commands, ["profile", "stats", "analyze", "report"])
        self.assertIn("CUDA GPU Kernel Summary", run.out)
        self.assertIn("Where the time of the GPU went:", run.out)
        self.assertIn(f"The page is {self.folder / 'gpuprof-demo.html'}", run.out)

    def test_it_replaces_an_earlier_demo_but_no_other_capture(self):
        self.check(self.gpuprof("demo"))
        self.check(self.gpuprof("demo"))
        (self.folder / "mine.gpuprof").write_text("a capture of the user")
        run = self.gpuprof("demo", "-o", "mine")
        self.assertEqual(run.code, 1)
        self.assertIn("exists already", run.err)
        self.assertEqual((self.folder / "mine.gpuprof").read_text(), "a capture of the user")
        self.check(self.gpuprof("demo", "-o", "mine.gpuprof", "--force-overwrite"), "mine")

    def test_nothing_in_the_environment_changes_it(self):
        hostile = {"GPUPROF_TRACE": "none", "GPUPROF_OUTPUT": "elsewhere", "GPUPROF_CUPTI_PATH": "/nowhere/libcupti.so", "RANK": "3", "WORLD_SIZE": "8",
                   "SLURM_PROCID": "2", "SLURM_NTASKS": "4", "CUDA_INJECTION64_PATH": "/nowhere/tool.so", "NVTX_INJECTION64_PATH": "/nowhere/tool.so",
                   "REPLAY_FAIL": "cuptiSubscribe=39", "LD_LIBRARY_PATH": processes.path("BUILT_REPLAY_LIBS")}
        self.check(self.gpuprof("demo", env=hostile))
        self.assertEqual(sorted(file.name for file in self.folder.glob("*.*")), ["gpuprof-demo.gpuprof", "gpuprof-demo.html"])

    def test_a_place_that_cannot_be_written_is_named(self):
        run = self.gpuprof("demo", "-o", "/nowhere/run")
        self.assertEqual(run.code, 1)
        self.assertIn("/nowhere", run.err)
        self.assertIn("gpuprof demo: nothing was recorded", run.err)

    def tables(self, capture):
        run = self.run_program(sys.executable, processes.path("READ_CAPTURE"), capture)
        self.assertEqual(run.code, 0, run.err)
        return set(re.findall(r"^(\w+): \d+ rows", run.out, re.MULTILINE))

    def test_the_demo_does_not_invent_counters_clocks_or_power(self):
        """The emulation can do that for tests; what is installed cannot, even if it is asked to."""
        self.check(self.gpuprof("demo"))
        # With the usual budget so short a run asks for no counters.
        run = self.gpuprof("profile", "--metrics", "auto", "--overhead-budget", "90", "--peaks", "off", "-o", "counted", PLAYER, SESSION)
        self.assertEqual(run.code, 0, run.err)
        self.assertRegex(run.err, "is off: this libcupti has no cuptiProfiler")
        recorded = {"schema", "name", "fact", "window", "clock", "counter", "device", "context", "thread", "copy", "shape", "kernel", "memset",
                    "sync", "memory", "api", "range_begin", "range_end", "mark", "end"}
        self.assertEqual(self.tables("gpuprof-demo.gpuprof") - recorded, set())
        self.assertEqual(self.tables("counted.gpuprof") - recorded - {"kernel_code", "thread_sample"}, set())  # threads are those of the player


if __name__ == "__main__":
    processes.main()

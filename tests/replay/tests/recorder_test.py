# SPDX-License-Identifier: Apache-2.0
"""The recorder against the replay: what is recorded from a replayed session is that session again."""
import os
import pathlib

import processes

RECORD = pathlib.Path(__file__).parents[1] / "record"
COUNTS = ("threads", "driver_callbacks", "resource_callbacks", "nvtx_calls", "records.kind_1", "records.kind_4",
          "records.kind_10")


class Recorder(processes.Case):
    def info(self, session):
        run = self.run_program(processes.path("BUILT_PLAY"), session, "--info")
        self.assertEqual(run.code, 0, run.err)
        return run.out

    def record(self, session, *options, **env):
        again = self.folder / "again.gprec"
        run = self.play(session, *options, preload=[processes.path("BUILT_RECORDER")],
                        env={"GPUPROF_RECORD_OUTPUT": str(again), **env})
        self.assertEqual(run.code, 0, run.err)
        return str(again), run

    def test_a_recorded_replay_is_the_same_session(self):
        for session in [self.synthetic(threads=3, launches=60, copies=4, graphs=2)] + processes.all_recorded():
            with self.subTest(session):
                again, run = self.record(session)
                was, now = processes.numbers(self.info(session)), processes.numbers(self.info(again))
                for count in COUNTS:
                    self.assertEqual(was.get(count), now.get(count), count)
                for fact in ("device.0.name", "device.0.uuid", "driver_version"):
                    lines = [[l for l in text.splitlines() if l.startswith(fact)] for text in
                             (self.info(session), self.info(again))]
                    self.assertEqual(*lines)
                self.assertEqual(self.play(again).code, 0)
                pathlib.Path(again).unlink()

    def test_the_command_writes_a_session_only_when_there_is_one(self):
        if os.environ.get("BUILT_PRELOAD_FIRST"):
            self.skipTest("a sanitizer's library must be preloaded first")
        again, session = self.folder / "again.gprec", self.synthetic()
        record = [RECORD, "-l", processes.path("BUILT_RECORDER"), "-o", again, "--"]
        for program in (["true"], ["false"], [processes.path("BUILT_PLAY"), session, "--exit-with", "abort"]):
            self.assertEqual(self.run_program(*record, *program).code, 2)
            self.assertEqual(list(self.folder.glob("*again*")), [])
        run = self.run_program(*record, processes.path("BUILT_PLAY"), session)
        self.assertEqual(run.code, 0, run.err)
        self.assertEqual(processes.numbers(self.info(again))["records.kind_10"], processes.numbers(self.info(session))["records.kind_10"])

    def test_kinds_can_be_chosen(self):
        again, _ = self.record(self.synthetic(), GPUPROF_RECORD_KINDS="kernel")
        n = processes.numbers(self.info(again))
        self.assertIn("records.kind_10", n)
        self.assertNotIn("records.kind_4", n)

    def test_without_cupti_the_recorder_prints_one_line_and_the_program_runs_normally(self):
        again = self.folder / "again.gprec"
        run = self.play(self.synthetic(), preload=[processes.path("BUILT_RECORDER")],
                        env={"GPUPROF_RECORD_OUTPUT": str(again), "REPLAY_HELD_BY": "another tool"})
        self.assertEqual(run.code, 0)
        self.assertIn("nothing is recorded: cuptiSubscribe failed", run.err)
        self.assertFalse(again.exists())


class Player(processes.Case):
    def test_damaged_sessions_are_refused(self):
        session = self.synthetic()
        whole = open(session, "rb").read()
        for length in (0, 1, 8, 19, 20, len(whole) // 2, len(whole) - 1):
            cut = self.folder / "cut.gprec"
            cut.write_bytes(whole[:length])
            run = self.play(cut)
            self.assertEqual(run.code, 2)
            self.assertIn("cannot be used", run.err)

    def test_the_player_supports_every_way_to_end(self):
        session = self.synthetic(threads=2, launches=50)
        for how, code in {"normal": 0, "_exit": 0, "kill": -9, "throw": -6, "abort": -6, "fork": 0, "exec": 0,
                          "in-flight": 0, "device-reset": 0}.items():
            with self.subTest(how):
                run = self.play(session, "--exit-with", how, "--exit-at", "0.5")
                self.assertEqual(run.code, code, run.err)
                if code == 0 and how != "_exit":
                    self.assertIn("launches=101 ", run.out)

    def test_bad_arguments_of_the_player_are_refused(self):
        for arguments in (["--speed", "0"], ["--exit-with", "dance"], ["--nonsense", "1"], ["--speed"]):
            self.assertEqual(self.play(self.synthetic(), *arguments).code, 2)


if __name__ == "__main__":
    processes.main()

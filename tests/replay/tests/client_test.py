# SPDX-License-Identifier: Apache-2.0
"""The replay libcupti as a client sees it, in a real process."""
import processes


class Client(processes.Case):
    def profile(self, session, *options, **settings):
        """Plays a session with the test client injected; returns the run and the client's counts."""
        output = self.folder / "counts"
        env = {"CUDA_INJECTION64_PATH": processes.path("BUILT_CLIENT"), "REPLAY_CLIENT_OUTPUT": str(output)}
        env.update({k: str(v) for k, v in settings.items()})
        run = self.play(session, *options, env=env)
        text = output.read_text() if output.exists() else ""
        return run, processes.numbers(text), text

    def broken(self, rule, session=None, **settings):
        run, _, _ = self.profile(session or self.synthetic(), REPLAY_CLIENT_MISUSE=rule, **settings)
        self.assertEqual(run.code, -6, run.err)
        self.assertIn("the client broke the contract: ", run.err)
        return run.err


class Records(Client):
    def test_every_record_and_callback_arrives_once(self):
        run, n, text = self.profile(self.synthetic(threads=4, launches=50, copies=3, graphs=2, nodes=5))
        self.assertEqual(run.code, 0, run.err)
        self.assertNotIn("failed:", text)
        self.assertEqual(n["records_10"], 4 * 50 + 2 * 5)
        self.assertEqual(n["records_1"], 3)
        self.assertEqual(n["records_4"], 4 * 50)
        self.assertEqual(n["enters"], 4 * 50 + 3 + 2)
        self.assertEqual(n["exits"], n["enters"])
        self.assertEqual(n["dropped"], 0)
        self.assertEqual(n["resource_1"], 1)
        for wrong in ("kernels_without_launch", "kernels_before_launch", "kernels_backwards", "kernels_without_times",
                      "correlation_data_lost", "launches_without_name"):
            self.assertNotIn(wrong, n)

    def test_kernels_keep_their_length_and_name_at_any_speed(self):
        for speed in ("0.5", "1", "1000"):
            _, n, text = self.profile(self.synthetic(launches=40, graphs=0, kernel_ns=1234), "--speed", speed)
            self.assertEqual(n["kernel_ns"], 40 * 1234)
            self.assertIn("kernel:_Z4evenPfi=1", text)
            self.assertIn("kernel:_Z3oddPfi=1", text)

    def test_repeats_have_correlation_ids_of_their_own(self):
        _, n, _ = self.profile(self.synthetic(launches=30, graphs=1, nodes=4), "--repeat", "3")
        self.assertEqual(n["records_10"], 3 * (30 + 4))
        self.assertNotIn("kernels_without_launch", n)

    def test_only_enabled_kinds_arrive(self):
        _, n, _ = self.profile(self.synthetic(), REPLAY_CLIENT_KINDS="1")
        self.assertIn("records_1", n)
        self.assertNotIn("records_10", n)
        self.assertNotIn("records_4", n)

    def test_graph_level_records_replace_those_of_nodes(self):
        _, n, _ = self.profile(self.synthetic(launches=10, graphs=3, nodes=5), REPLAY_CLIENT_KINDS="10,51")
        self.assertEqual(n["records_51"], 3)
        self.assertEqual(n["records_10"], 10)

    def test_an_older_cupti_has_shorter_records(self):
        _, n, text = self.profile(self.synthetic(launches=30), REPLAY_CUPTI_VERSION=24)
        self.assertEqual(n["records_10"], 35)
        self.assertNotIn("failed:", text)

    def test_full_buffers_come_back_before_any_flush(self):
        _, n, _ = self.profile(self.synthetic(launches=400), REPLAY_CLIENT_BUFFER_BYTES=4096)
        self.assertGreater(n["completions"], 20)
        self.assertEqual(n["records_10"], 405)

    def test_kernels_that_still_run_at_the_end_have_no_end(self):
        run, n, _ = self.profile(self.synthetic(launches=40, graphs=0), "--exit-with", "in-flight", "--exit-at", "0.5")
        self.assertEqual(run.code, 0, run.err)
        self.assertEqual(n["records_10"], 40)
        self.assertGreater(n["kernels_without_times"], 10)

    def test_recorded_sessions_keep_all_their_records(self):
        sessions = processes.all_recorded()
        for session in sessions:
            with self.subTest(session):
                info = processes.numbers(self.run_program(processes.path("BUILT_PLAY"), session, "--info").out)
                run, n, text = self.profile(session)
                self.assertEqual(run.code, 0, run.err)
                self.assertEqual(n["records_10"], info["records.kind_10"])
                self.assertNotIn("kernels_before_launch", n)
        if not sessions:
            self.skipTest("no recorded sessions")


class Faults(Client):
    def test_refused_buffers_are_counted_as_dropped_records(self):
        _, n, _ = self.profile(self.synthetic(launches=200), REPLAY_CLIENT_MOST_BUFFERS=0)
        self.assertNotIn("records_10", n)
        self.assertEqual(n["dropped"], 205 + 2 + 200)

    def test_every_nth_record_is_dropped(self):
        _, n, _ = self.profile(self.synthetic(launches=100, graphs=0, copies=0), REPLAY_DROP=10,
                               REPLAY_CLIENT_KINDS=10)
        self.assertEqual((n["records_10"], n["dropped"]), (90, 10))

    def test_every_nth_kernel_has_no_times(self):
        _, n, _ = self.profile(self.synthetic(launches=100, graphs=0), REPLAY_ZERO_TIMES=4)
        self.assertEqual((n["records_10"], n["kernels_without_times"]), (100, 25))

    def test_the_second_subscriber_is_refused(self):
        _, n, _ = self.profile(self.synthetic())
        self.assertEqual(n["second_subscribe"], 39)

    def test_the_holder_of_cupti_is_named(self):
        _, _, text = self.profile(self.synthetic(), REPLAY_HELD_BY="Nsight Systems")
        self.assertIn("failed:subscribe=39", text)
        self.assertIn("held_by=Nsight Systems", text)

    def test_a_named_call_fails(self):
        _, n, text = self.profile(self.synthetic(), REPLAY_FAIL="cuptiActivityEnable:2=999,cuptiFinalize=7")
        self.assertEqual(text.count("failed:enable=999"), 1)
        self.assertIn("records_10", n)

    def test_cupti_shuts_itself_down_after_a_fatal_error(self):
        _, n, text = self.profile(self.synthetic(launches=100), REPLAY_FATAL_AFTER=50)
        self.assertEqual(n["state_1"], 1)
        self.assertLess(n["enters"], 100)

    def test_after_finalize_nothing_arrives_until_tracing_is_enabled_again(self):
        plan = dict(launches=100, graphs=0, copies=0)
        _, n, _ = self.profile(self.synthetic(**plan), REPLAY_CLIENT_DETACH_AT=40)
        self.assertEqual((n["enters"], n["exits"]), (40, 40))
        self.assertLessEqual(n["records_10"], 40)
        _, n, _ = self.profile(self.synthetic(**plan), REPLAY_CLIENT_DETACH_AT=40, REPLAY_CLIENT_ATTACH_AGAIN=1)
        self.assertEqual((n["enters"], n["records_10"]), (100, 100))

    def test_a_driver_that_shuts_down_first_makes_cupti_calls_fail(self):
        run, _, text = self.profile(self.synthetic(), REPLAY_DRIVER_TEARDOWN="early")
        self.assertEqual(run.code, 0, run.err)
        self.assertIn("failed:flush=999", text)


class Misuse(Client):
    def test_a_flush_inside_a_buffer_callback_ends_the_program(self):
        for rule in ("flush in complete", "flush in request"):
            self.assertIn("cuptiActivityFlushAll was called from inside a buffer callback", self.broken(rule))

    def test_a_flush_inside_a_resource_callback_ends_the_program(self):
        self.assertIn("inside a resource or state callback", self.broken("flush in resource callback"))

    def test_bad_buffers_end_the_program(self):
        for rule, words in {"unaligned": "aligned", "not zeroed": "not zeroed", "small": "room for 100 bytes",
                            "most records": "maxNumRecords", "throw": "an exception left its buffer request"}.items():
            self.assertIn(words, self.broken(rule))

    def test_a_buffer_handed_out_twice_ends_the_program(self):
        session = self.synthetic(threads=4, launches=50)
        self.assertIn("had not got back", self.broken("reuse", session))

    def test_missing_buffer_callbacks_end_the_program(self):
        self.assertIn("cuptiActivityRegisterCallbacks was not called", self.broken("not registered"))

    def test_a_per_thread_attribute_that_is_set_too_late_ends_the_program(self):
        self.assertIn("PER_THREAD", self.broken("late per thread"))

    def test_a_refused_buffer_is_reported_in_versions_that_crash(self):
        run, _, _ = self.profile(self.synthetic(), REPLAY_CUPTI_VERSION=24, REPLAY_CLIENT_MOST_BUFFERS=0)
        self.assertIn("refused a buffer", run.err)

    def test_two_flushes_at_once_end_the_program(self):
        err = self.broken("two flushes", REPLAY_SLOW_FLUSH_MS=200)
        self.assertIn("two threads called cuptiActivityFlushAll", err)

    def test_cupti_calls_in_a_forked_child_end_the_program(self):
        run, _, _ = self.profile(self.synthetic(), REPLAY_CLIENT_MISUSE="fork")
        self.assertIn("was called in a forked child", run.err)


if __name__ == "__main__":
    processes.main()

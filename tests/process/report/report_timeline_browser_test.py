# SPDX-License-Identifier: Apache-2.0
"""The timeline of gpuprof report in a real browser: what it shows, finds and adds up."""
import json
import pathlib
import subprocess

import processes
import report_pages
from report_browser import Browser

PIXELS = "document.getElementById('timeline-canvas').toDataURL()"
# The pixels of a part of the canvas, through a copy: Chromium speaks on the console of one that is read often.
READ = """((x, y, width) => { const copy = new OffscreenCanvas(width, 1).getContext('2d', {willReadFrequently: true});
  copy.drawImage(document.getElementById('timeline-canvas'), x, y, width, 1, 0, 0, width, 1); return [...copy.getImageData(0, 0, width, 1).data]; })"""
SHOWN = "document.getElementById('timeline-{}').textContent"


class Shown(Browser):
    def press(self, tab, *keys):
        tab.focus("#timeline-view")
        for key in keys:
            tab.keyboard.press(key)

    def box(self, tab):
        tab.locator("#timeline-canvas").scroll_into_view_if_needed()
        return tab.locator("#timeline-canvas").bounding_box()

    def row(self, tab, group, label):
        """The middle of a row, on the screen."""
        y = tab.evaluate(f"(() => {{ const row = timelineRows.groups().find((one) => one.title === {json.dumps(group)}).rows.find((one) => one.label === {json.dumps(label)});"
                         " return row.y + row.height / 2 - document.getElementById('timeline-view').scrollTop; })()")
        return self.box(tab)["y"] + y

    def hovered(self, tab, group, label, part):
        """What is said at this part of the width of a row."""
        box, labels = self.box(tab), tab.evaluate("timelineView.state.labels")
        tab.mouse.move(box["x"] + labels + part * (box["width"] - labels), self.row(tab, group, label))
        return tab.inner_text("#timeline-tip")

    def span(self, tab):
        return tab.evaluate("[timelineView.state.from, timelineView.state.to]")

    def test_counters_show_value_unit_and_source_on_hover(self):
        with self.opened(self.page_of(self.made_shape("steps", 20))) as tab:
            for label, said in {"SM active": "SM active 25.0 %", "Tensor active": "Tensor active 10.0 %", "DRAM": "DRAM 150 GB/s", "SM clock": "SM clock 1.80 GHz"}.items():
                with self.subTest(label):
                    tip = self.hovered(tab, "GPU 0 counters", label, 0.4)
                    self.assertIn(said, tip)
                    self.assertIn("sampled: ", tip)
            for label, said in {"Power": "Power 650 W", "SM clock by NVML": "1.70 GHz", "Temperature": "60.0 \u00b0C"}.items():
                with self.subTest(label):
                    tip = self.hovered(tab, "GPU 0 power and clock", label, 0.4)
                    self.assertIn(said, tip)
                    self.assertIn("read: NVML", tip)

    def test_kernels_and_calls_name_their_line_on_hover(self):
        with self.opened(self.page_of(self.made() / "python.gpuprof")) as tab:
            tab.evaluate("timelineView.look(0, 12000)")  # ns
            self.assertIn("launched by model.py:20 Model.forward, module fc: Linear", self.hovered(tab, "GPU 0", "stream 7", 2800 / 12000))
            self.assertIn("called by model.py:20 Model.forward, module fc: Linear", self.hovered(tab, "CUDA calls", "thread 4242", 2200 / 12000))
            self.assertNotIn("by ", self.hovered(tab, "NVTX", "thread 4242", 0.3))

    def test_gaps_have_the_color_and_name_of_their_cause(self):
        with self.opened(self.page_of(self.made_shape("steps", 20))) as tab:
            tab.click("#timeline-slowest")
            self.assertIn("idle: CPU work, 950 us", self.hovered(tab, "GPU 0", "idle, by cause", 0.7))
            wanted = tab.evaluate("theme.bucketColor('cpu_work')")
            y = self.row(tab, "GPU 0", "idle, by cause") - self.box(tab)["y"]
            drawn = f"{READ}(Math.round(0.7 * document.getElementById('timeline-canvas').width), {y}, 1)"
            self.wait(tab, f"'#' + {drawn}.slice(0, 3).map(part => part.toString(16).padStart(2, '0')).join('') === '{wanted}'")  # in the next frame
            legend = tab.evaluate("[...document.querySelectorAll('#timeline-legend li')].map(one => one.dataset.bucket)")
            self.assertEqual(legend, ["cpu_work", "start_up", "nothing_to_do"])

    def test_the_critical_path_is_a_line_from_bar_to_bar(self):
        page = self.page_of(self.repaired("growing_cache"))
        path = report_pages.documents_of(page)["analyze"]["critical_path"]
        # The color in the middle of the longest link of the path on the GPU.
        drawn = """(() => { const path = timelinePath.all()[%d], view = document.getElementById('timeline-view');
          const link = path.links.filter((one) => one.place.title === 'GPU 0').reduce((a, b) => (b.end - b.begin > a.end - a.begin ? b : a));
          return '#' + %s(Math.round(timelineView.xOf((link.begin + link.end) / 2)), link.row.y + link.row.height - 3 - view.scrollTop, 1)
            .slice(0, 3).map((part) => part.toString(16).padStart(2, '0')).join(''); })()"""
        with self.opened(page) as tab:
            line = tab.evaluate("theme.color('text')")
            for at, which in enumerate(("median", "slowest")):
                tab.select_option("#timeline-path", which)
                self.assertIn(f"critical path of the {which} of {path['steps']} steps", tab.inner_text("#timeline-at"))
                begin, end = self.span(tab)
                self.assertAlmostEqual((end - begin) / path[which]["length_ns"], 1.1, delta=0.02)
                tab.evaluate("document.getElementById('timeline-view').scrollTop = 0")
                self.wait(tab, f"{drawn % (at, READ)} === '{line}'")
            tab.locator(".timeline-group", has_text="NVTX").click()
            self.wait(tab, f"{drawn % (1, READ)} === '{line}'")
            tab.select_option("#timeline-path", "")
            self.wait(tab, f"{drawn % (1, READ)} !== '{line}'")
            self.assertEqual(self.span(tab), [begin, end])

    def test_without_steps_there_is_no_switch_for_the_critical_path(self):
        with self.opened(self.page_of(self.h200("counted_auto"))) as tab:
            self.assertFalse(tab.locator("#timeline-path").is_visible())

    def test_the_slowest_step_is_none_of_the_warm_up(self):
        page = self.page_of(pathlib.Path(processes.path("H200_CAPTURES")).parent / "h100" / "ddp.rank0.gpuprof")
        steps = report_pages.documents_of(page)["timeline"]["steps"]
        self.assertEqual((steps["count"], steps["warm_up"]), (5, 2))
        with self.opened(page) as tab:
            tab.click("#timeline-slowest")
            self.assertRegex(tab.inner_text("#timeline-at"), "^step [234] of 5, ")

    def test_the_page_opens_with_the_step_that_was_asked_for(self):
        with self.opened(self.page_of(self.made_shape("steps", 20), "--step", "slowest")) as tab:
            self.assertIn("step 7 of 20, 1.50 ms", tab.inner_text("#timeline-at"))
            box = tab.locator("#timeline").bounding_box()
            self.assertLess(abs(box["y"]), 120)

    def test_buttons_and_keys_go_to_steps(self):
        with self.opened(self.page_of(self.made_shape("steps", 20))) as tab:
            tab.click("#timeline-slowest")
            self.assertIn("step 7 of 20, 1.50 ms", tab.inner_text("#timeline-at"))
            begin, end = self.span(tab)
            self.assertTrue(1.4e6 < end - begin < 1.7e6, (begin, end))
            tab.click("#timeline-step-next")
            self.assertIn("step 8 of 20, 1.00 ms", tab.inner_text("#timeline-at"))
            self.press(tab, ",", ",")
            self.assertIn("step 6 of 20", tab.inner_text("#timeline-at"))
            tab.click("#timeline-all")
            self.press(tab, ".")
            self.assertIn("step 7 of 20", tab.inner_text("#timeline-at"))

    def test_hits_are_shown_one_after_the_other(self):
        with self.opened(self.page_of(self.made_shape("steps", 20))) as tab:
            self.assertTrue(tab.is_disabled("#timeline-next"))
            tab.fill("#timeline-search", "second")
            self.assertEqual(tab.inner_text("#timeline-hits"), "40 hits")
            tab.click("#timeline-next")
            self.assertEqual(tab.inner_text("#timeline-hits"), "1 of 40 hits")
            self.assertIn("second, 200 us, at 1.400 ms, GPU 0 stream 7", tab.inner_text("#timeline-at"))
            tab.press("#timeline-search", "Enter")
            self.assertIn("at 1.450 ms, GPU 0 stream 8", tab.inner_text("#timeline-at"))
            tab.click("#timeline-previous")
            tab.click("#timeline-previous")  # beyond the first: the last
            self.assertEqual(tab.inner_text("#timeline-hits"), "40 of 40 hits")
            tab.fill("#timeline-search", "nothing has this name")
            self.assertEqual(tab.inner_text("#timeline-hits"), "0 hits")
            self.assertTrue(tab.is_disabled("#timeline-next"))

    def test_a_hit_in_a_closed_group_opens_it(self):
        with self.opened(self.page_of(self.made_shape("steps", 20))) as tab:
            button = tab.locator(".timeline-group", has_text="NVTX")
            button.focus()
            tab.keyboard.press("Enter")
            self.assertEqual(button.get_attribute("aria-expanded"), "false")
            tab.fill("#timeline-search", "load")
            tab.click("#timeline-next")
            self.assertEqual(button.get_attribute("aria-expanded"), "true")
            self.assertIn("thread 4243, loader", tab.inner_text("#timeline-at"))

    def test_groups_close_and_open(self):
        with self.opened(self.page_of(self.made_shape("steps", 20))) as tab:
            height = "document.getElementById('timeline-space').clientHeight"
            whole = tab.evaluate(height)
            tab.locator(".timeline-group", has_text="GPU 0 counters").click()
            self.wait(tab, f"{height} === {whole - 4 * 40 - 4}")
            tab.locator(".timeline-group", has_text="GPU 0 counters").click()
            self.wait(tab, f"{height} === {whole}")

    def test_a_selection_adds_up_work_idle_time_and_counters(self):
        with self.opened(self.page_of(self.made_shape("steps", 20))) as tab:
            tab.click("#timeline-all")
            tab.click("#timeline-add")
            sums = tab.inner_text("#timeline-sum")
            self.assertIn("GPU 0: 12.0 ms in 60 pieces", sums)
            self.assertIn("GPU 0 did nothing for 12.5 ms: idle: CPU work 11.1 ms, idle: start-up 1.10 ms, idle: after the last work 350 us", sums)
            averages = [line for line in sums.splitlines() if "on average: " in line]  # of samples and of power: one line
            self.assertEqual(len(averages), 1)
            for text in ("GPU 0 on average: ", "DRAM 150 GB/s", "Power 650 W"):
                self.assertIn(text, averages[0])
            self.press(tab, "Escape")
            self.assertEqual(tab.inner_text("#timeline-sum"), "")
            tab.click("#timeline-select")
            self.assertEqual(tab.get_attribute("#timeline-select", "aria-pressed"), "true")
            box = self.box(tab)
            tab.mouse.move(box["x"] + 300, box["y"] + 60)
            tab.mouse.down()
            tab.mouse.move(box["x"] + 700, box["y"] + 60, steps=4)
            tab.mouse.up()
            self.wait(tab, SHOWN.format("sum") + ".includes('idle: CPU work')")

    def test_wheel_keys_and_drag_move_and_zoom(self):
        with self.opened(self.page_of(self.made_shape("steps", 20))) as tab:
            whole = self.span(tab)
            box = self.box(tab)
            tab.mouse.move(box["x"] + box["width"] / 2, box["y"] + 60)
            tab.mouse.wheel(0, -600)
            self.wait(tab, f"timelineView.state.to - timelineView.state.from < {(whole[1] - whole[0]) / 2}")
            for keys, grows in (("w", -1), ("s", 1), ("+", -1), ("-", 1)):
                before = self.span(tab)
                self.press(tab, keys)
                after = self.span(tab)
                self.assertGreater(grows * ((after[1] - after[0]) - (before[1] - before[0])), 0, keys)
            for key, to in (("d", 1), ("a", -1), ("ArrowRight", 1), ("ArrowLeft", -1)):
                before = self.span(tab)
                self.press(tab, key)
                self.assertGreater(to * (self.span(tab)[0] - before[0]), 0, key)
            before = self.span(tab)
            tab.mouse.down()
            tab.mouse.move(box["x"] + box["width"] / 2 - 100, box["y"] + 60, steps=3)
            tab.mouse.up()
            self.assertGreater(self.span(tab)[0], before[0])
            tab.click("#timeline-in")
            self.assertLess(self.span(tab)[1] - self.span(tab)[0], before[1] - before[0])
            tab.click("#timeline-all")
            self.assertEqual(self.span(tab), whole)

    def drag(self, tab, **how):
        box = self.box(tab)
        tab.mouse.move(box["x"] + 600, box["y"] + 60)
        tab.mouse.down(**how)
        tab.mouse.move(box["x"] + 500, box["y"] + 60, steps=3)
        tab.mouse.up(**how)

    def test_other_buttons_do_not_drag(self):
        with self.opened(self.page_of(self.made_shape("steps", 20))) as tab:
            tab.click("#timeline-in")
            before = self.span(tab)
            for button in ("right", "middle"):
                self.drag(tab, button=button)
                tab.mouse.move(self.box(tab)["x"] + 400, self.box(tab)["y"] + 60, steps=3)
                self.assertEqual(self.span(tab), before, button)
            self.drag(tab)
            self.assertGreater(self.span(tab)[0], before[0])

    def test_a_drag_ends_if_the_button_was_released_outside(self):
        with self.opened(self.page_of(self.made_shape("steps", 20))) as tab:
            tab.click("#timeline-in")
            box = self.box(tab)
            tab.evaluate("document.getElementById('timeline-canvas').addEventListener('pointerdown', event => { window.pressed = event.pointerId; })")
            tab.mouse.move(box["x"] + 600, box["y"] + 60)
            tab.mouse.down()
            before = self.span(tab)
            tab.evaluate("document.getElementById('timeline-canvas').dispatchEvent(new PointerEvent('pointermove', {pointerId: window.pressed, buttons: 0, clientX: 500, clientY: 60}))")
            tab.mouse.move(box["x"] + 400, box["y"] + 60, steps=3)
            self.assertEqual(self.span(tab), before)
            tab.mouse.up()

    def test_a_hit_is_bright_even_if_longer_bars_share_its_pixel(self):
        capture = self.folder / "training.gpuprof"
        subprocess.run([processes.path("BUILT_MADE_CAPTURES"), capture, "--training", "20000"], check=True)
        # How opaque the brightest of the three pixels around the middle of each bar is, of those found and of the others.
        brightness = """((read) => { const {from, to, labels, width} = timelineView.state, canvas = document.getElementById('timeline-canvas');
            const row = timelineRows.groups()[0].rows.find(one => one.kind === 'bars'), found = timelineSearch.found();
            const line = read(0, row.y + row.height / 2, canvas.width), made = {found: [], other: []};
            for (let i = 0; i < row.lane.size; ++i) {
              const x = Math.floor(labels + ((row.lane.start[i] + row.lane.end[i]) / 2 - from) / (to - from) * width);
              made[found.has(row.lane.name[i]) ? 'found' : 'other'].push(Math.max(...[-1, 0, 1].map(by => line[4 * (x + by) + 3] || 0)));
            }
            return {found: Math.min(...made.found), other: Math.min(...made.other), count: made.found.length}; })(%s)""" % READ
        with self.opened(self.page_of(capture)) as tab:
            tab.evaluate("document.getElementById('timeline-view').scrollTop = 0")
            tab.fill("#timeline-search", "kernel_10")
            self.wait(tab, f"(({{other}}) => other < 100)({brightness})")  # drawn: the others are dimmed
            drawn = tab.evaluate(brightness)
            self.assertGreater(drawn["count"], 200)
            self.assertGreater(drawn["found"], 110)

    def test_only_the_outermost_of_nested_ranges_are_added_up(self):
        page = self.page_of(self.made_job())
        outermost = [path for path in report_pages.documents_of(page)["places"]["paths"] if path["parent"] is None]
        with self.opened(page) as tab:
            tab.click("#timeline-add")
            time = tab.evaluate(f"words.time({sum(path['cpu_ns'] for path in outermost)})")
            self.assertIn(f"NVTX: {time} in {sum(path['instances'] for path in outermost)} outermost pieces", tab.inner_text("#timeline-sum"))

    def test_selecting_part_of_a_joined_bar_counts_about_that_part_of_its_pieces(self):
        capture = self.folder / "training.gpuprof"
        subprocess.run([processes.path("BUILT_MADE_CAPTURES"), capture, "--training", "600000"], check=True)
        with self.opened(self.page_of(capture)) as tab:
            begin, end = tab.evaluate("(lane => { let i = 0; while (lane.count[i] < 2) ++i; return [lane.start[i], lane.end[i]]; })(timelineRows.groups()[0].rows.find(one => one.kind === 'bars').lane)")
            tab.evaluate(f"timelineView.look({begin}, {end})")
            tab.click("#timeline-add")
            whole = tab.inner_text("#timeline-sum")
            self.assertRegex(whole, r"GPU 0: \S+ \S+ in \d+ pieces")
            tab.evaluate(f"timelineView.look({begin}, {begin + (end - begin) / 100})")
            tab.click("#timeline-add")
            self.assertRegex(tab.inner_text("#timeline-sum"), r"GPU 0: \S+ \S+ in about 1 piece")

    def test_the_last_step_shows_no_time_to_a_next_step(self):
        with self.opened(self.page_of(self.made_shape("steps", 3))) as tab:
            tab.click("#timeline-slowest")
            for step in range(3):
                self.wait(tab, f"document.getElementById('timeline-at').textContent.startsWith('step {step} of 3, ')")
                self.assertEqual("to the beginning of the next" in tab.inner_text("#timeline-at"), step < 2)
                tab.click("#timeline-step-next")

    def test_a_place_of_the_icicle_is_shown(self):
        with self.opened(self.page_of(self.made_job())) as tab:
            self.assertTrue(tab.is_disabled("#icicle-timeline"))
            for name, hits in (("forward", 5), ("aten::mm #", 80)):
                tab.locator(f"#icicle .place[title^='{name}']").first.click()
                tab.click("#icicle-timeline")
                self.assertEqual(tab.inner_text("#timeline-hits"), f"{hits} hits")

    def test_fingers_on_a_phone(self):
        with self.opened(self.page_of(self.made_shape("steps", 20)), viewport={"width": 390, "height": 800}, has_touch=True, is_mobile=True) as tab:
            whole = self.span(tab)
            box = self.box(tab)
            x, y = box["x"] + 240, box["y"] + 60
            fingers = tab.context.new_cdp_session(tab)

            def touch(kind, *places):
                fingers.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": [{"x": at, "y": y, "id": number} for number, at in enumerate(places)]})

            touch("touchStart", x - 20, x + 20)
            for apart in (40, 60, 80):
                touch("touchMove", x - apart, x + apart)
            touch("touchEnd")
            self.wait(tab, f"timelineView.state.to - timelineView.state.from < {(whole[1] - whole[0]) / 2}")
            before = self.span(tab)
            touch("touchStart", x)
            for by in (20, 40, 60):
                touch("touchMove", x - by)
            touch("touchEnd")
            self.wait(tab, f"timelineView.state.from > {before[0]}")
            self.assertLessEqual(tab.evaluate("document.documentElement.scrollWidth"), 390)
            tab.tap("#timeline-all")
            tab.touchscreen.tap(x, self.row(tab, "GPU 0 counters", "DRAM"))
            self.wait(tab, SHOWN.format("at") + ".includes('DRAM 150 GB/s')")

    def test_five_thousand_streams_scroll_inside_of_the_page(self):
        with self.opened(self.page_of(self.made_shape("streams", 5000))) as tab:
            self.assertLess(tab.evaluate("document.documentElement.scrollHeight"), 6000)
            self.assertLess(tab.evaluate("document.getElementById('timeline-canvas').height"), 2000)
            first = tab.evaluate(PIXELS)
            box = self.box(tab)
            tab.mouse.move(box["x"] + 40, box["y"] + 200)
            tab.mouse.wheel(0, 40000)  # over the names
            self.wait(tab, f"{PIXELS} !== '{first}'")
            self.assertIn("stream 3000", self.scrolled_to(tab, "stream 3000"))

    def scrolled_to(self, tab, label):
        tab.evaluate("new Promise(done => { const view = document.getElementById('timeline-view'); view.addEventListener('scroll', () => requestAnimationFrame(done), {once: true}); "
                     f"view.scrollTop = timelineRows.groups()[0].rows.find((row) => row.label === '{label}').y - 100; }})")
        return self.hovered(tab, "GPU 0", label, 0.0915)

    def test_summarized_bars_are_reported(self):
        capture = self.folder / "training.gpuprof"
        subprocess.run([processes.path("BUILT_MADE_CAPTURES"), capture, "--training", "600000"], check=True)
        with self.opened(self.page_of(capture)) as tab:
            notes = tab.inner_text("#timeline-notes")
            self.assertIn("Summarized: pieces of work shorter than", notes)
            self.assertIn("Summarized: gaps of one cause", notes)
            self.assertRegex(notes, r"In the slowest steps and in one of median length, \d+ stretches of time, each piece is a bar of its own\.")
            tab.click("#timeline-add")
            self.assertIn("in 600,000 pieces", tab.inner_text("#timeline-sum"))
        with self.opened(self.page_of(self.made_shape("steps", 20))) as tab:
            self.assertEqual(tab.inner_text("#timeline-notes"), "")


class Odd(Browser):
    """Captures that are hard to draw open without a message on the console."""

    def test_made_captures_are_shown_without_errors(self):
        made = self.made()
        captures = [made / f"{name}.gpuprof" for name in ("empty", "only_ranges", "odd", "lossy", "rare")]
        captures += [self.made_shape("long-kernel", 3600), self.made_shape("ranges", 1000000), self.made_shape("streams", 64)]
        for capture in captures:
            with self.subTest(capture.stem), self.opened(self.page_of(capture)) as tab:
                self.assertTrue(tab.evaluate("document.getElementById('stop').hidden"))
                self.assertEqual(tab.is_visible("#timeline-frame"), capture.stem != "empty")
                if capture.stem == "empty":
                    self.assertIn("holds no GPU work", tab.inner_text("#timeline-notes"))
                else:
                    tab.click("#timeline-add")
                    tab.click("#timeline-in")

    def test_a_kernel_of_an_hour_is_one_bar(self):
        with self.opened(self.page_of(self.made_shape("long-kernel", 3600))) as tab:
            tab.click("#timeline-add")
            self.assertIn("GPU 0: 3600 s in 1 piece", tab.inner_text("#timeline-sum"))

    def test_steps_that_are_not_drawn_are_reported(self):
        [capture] = self.made_ranks("--fleet", 0, "10005", ranks=1).iterdir()
        with self.opened(self.page_of(capture)) as tab:
            self.assertIn("Length of the first 10,000 of 10,005 steps", tab.inner_text("#steps-title"))
            self.assertIn("Steps beyond the first 10,000 are left out", tab.inner_text("#range-notes"))

    def test_captures_without_ranges_and_cut_captures_are_shown(self):
        whole = self.made_shape("streams", 5000).read_bytes()
        cut = self.folder / "cut.gpuprof"
        cut.write_bytes(whole[: len(whole) * 2 // 3])
        for capture in (self.h200("mixed_exact"), cut):
            with self.subTest(capture.stem), self.opened(self.page_of(capture)) as tab:
                self.assertFalse(tab.is_visible("#timeline-steps"))
                self.assertEqual(tab.locator(".timeline-group", has_text="NVTX").count(), 0)
                self.assertTrue(tab.is_visible("#timeline-frame"))


processes.main()

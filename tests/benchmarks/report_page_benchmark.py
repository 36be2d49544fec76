#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What pages of long trainings cost: to write them, and to look at them in headless Chromium. Not a test: it wants a machine that does nothing else.

    GPUPROF_CLIENTS=FOLDER report_page_benchmark.py BUILD

BUILD is the build folder, with gpuprof and gpuprof-made-captures. Exits with 1 where a goal is missed or the console has a message."""
import argparse
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "process/export"))
import clients  # noqa: E402

# (kernels, with as many calls, {figure: goal})
RUNS = [(500_000, True, {"page, MB": 6, "summary, s": 0.5, "timeline, s": 1.0, "zoom step, ms": 100}),
        (10_000_000, False, {"written, s": 10, "memory, MiB": 512, "page, MB": 12})]
READY = "document.documentElement.dataset.ready === 'yes'"
# Out and in again, each step with the frame that it draws.
ZOOM_STEPS = """(async () => {
  const step = (factor) => new Promise((done) => {
    const begin = performance.now();
    timelineView.zoom(factor);
    requestAnimationFrame(() => done(performance.now() - begin));
  });
  const took = [];
  for (let i = 0; i < 40; ++i) took.push(await step(i < 20 ? 0.7 : 1 / 0.7));
  return took;
})()"""


def made(build, capture, kernels, with_calls):
    subprocess.run([build / "tests/process/export/gpuprof-made-captures", capture, "--training", str(kernels), *(["--calls"] if with_calls else [])], check=True)


def written(build, capture, page):
    """Seconds, seconds of processors, MiB."""
    begin = time.monotonic()
    process = subprocess.Popen([build / "bin/gpuprof", "report", capture, "-o", page], stderr=subprocess.DEVNULL)
    _, code, used = os.wait4(process.pid, 0)
    if code != 0:
        raise SystemExit(f"gpuprof report ends with {code}")
    return {"written, s": time.monotonic() - begin, "processor time, s": used.ru_utime + used.ru_stime, "memory, MiB": used.ru_maxrss / 1024, "page, MB": page.stat().st_size / 1e6}


def looked_at(browser, page):
    said = []
    tab = browser.new_page(viewport={"width": 1300, "height": 900})
    tab.on("console", lambda message: said.append(message.text))
    tab.on("pageerror", lambda failure: said.append(str(failure)))
    tab.goto(page.as_uri())
    while not tab.evaluate(READY):
        tab.wait_for_timeout(50)
    mark = lambda name: tab.evaluate(f"performance.getEntriesByName('{name}')[0].startTime") / 1000  # noqa: E731
    figures = {"summary, s": mark("summary"), "timeline, s": mark("timeline"), "zoom step, ms": statistics.median(tab.evaluate(ZOOM_STEPS))}
    tab.close()
    return figures, said


def middle_of(looks):
    """The median of each figure: the first look warms the disk."""
    return {name: statistics.median(one[name] for one in looks) for name in looks[0]}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build", type=pathlib.Path)
    build = parser.parse_args().build
    clients.on_path(clients.folder_of("perfetto_ui") / "python")
    from playwright.sync_api import sync_playwright

    missed = False
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=clients.program(*clients.CHROMIUM), args=["--no-sandbox"])
        for kernels, with_calls, goals in RUNS:
            capture, page = pathlib.Path(folder) / f"{kernels}.gpuprof", pathlib.Path(folder) / f"{kernels}.html"
            made(build, capture, kernels, with_calls)
            figures = written(build, capture, page)
            looks, said = zip(*(looked_at(browser, page) for _ in range(3)))
            figures.update(middle_of(looks))
            print(f"{kernels:,} kernels{' with as many calls' if with_calls else ''}:")
            for name, value in figures.items():
                goal = goals.get(name)
                print(f"  {name:18} {value:8.2f}" + (f"   goal {goal}" + ("  MISSED" if value > goal else "") if goal else ""), flush=True)
                missed = missed or (goal is not None and value > goal)
            messages = [text for one in said for text in one]
            print(f"  console messages   {len(messages):8}", *messages[:3], sep="\n    " if messages else "")
            missed = missed or bool(messages)
            capture.unlink()
        browser.close()
    sys.exit(1 if missed else 0)


main()

# SPDX-License-Identifier: Apache-2.0
"""Pages of gpuprof report in tests: writes one, and takes out of it again what it holds."""
import base64
import json
import pathlib
import re
import subprocess
import zlib

import processes

BLOCK = re.compile(r'<script type="application/octet-stream" id="data-([a-z0-9-]+)">([A-Za-z0-9+/=]*)</script>')


def blocks_of(page):
    """{name: bytes} of a page."""
    return {name: zlib.decompress(base64.b64decode(packed)) for name, packed in BLOCK.findall(page.read_text())}


def documents_of(page):
    """{name: object} of the parts that are JSON."""
    return {name: json.loads(of) for name, of in blocks_of(page).items() if "timeline-" not in name}


def numbers_of(planes):
    """A column, from planes of bytes."""
    count = (len(planes) - 1) // planes[0] if planes[0] else 0
    return [sum(planes[1 + plane * count + at] << (8 * plane) for plane in range(planes[0])) for at in range(count)]


class Case(processes.Case):
    def run_gpuprof(self, *words, code=0):
        run = self.run_program(processes.path("BUILT_GPUPROF"), *map(str, words), timeout=120)
        self.assertEqual(run.code, code, run.out + run.err)
        return run

    def made(self):
        """The folder of the odd captures that gpuprof-made-captures makes."""
        folder = self.folder / "made"
        folder.mkdir()
        subprocess.run([processes.path("BUILT_MADE_CAPTURES"), folder], check=True)
        return folder

    def made_fault(self, name, *options):
        """The capture of a program with this fault; "--mended": without it."""
        capture = self.folder / f"{name}.gpuprof"
        subprocess.run([processes.path("BUILT_MADE_CAPTURES"), capture, "--fault", name, *options], check=True, stdout=subprocess.DEVNULL)
        return capture

    def made_ranks(self, *how, ranks):
        """A folder with a capture of each rank: how is "--fleet", 0 and the like."""
        folder = self.folder / "ranks"
        folder.mkdir()
        for rank in range(ranks):
            subprocess.run([processes.path("BUILT_MADE_CAPTURES"), folder / f"rank{rank}.gpuprof", how[0], str(how[1]), "--rank", str(rank), *how[2:]], check=True)
        return folder

    def compared(self, **wanted):
        """A capture of a made training: seed, slowed, split and the like."""
        words = [f"{key}={value}" for key, value in wanted.items()]
        capture = self.folder / f"{'-'.join(words).replace('/', '_')}.gpuprof"
        subprocess.run([processes.path("BUILT_COMPARED_RUNS"), capture, *words], check=True)
        return capture

    def many_ranges(self, count):
        """A capture of a range with so many others of different names inside, each a little longer than the one before."""
        events, begin = [], 10
        for at in range(count):
            name = "".join(chr(ord("a") + at // 26**place % 26) for place in range(4))
            events.append({"ph": "X", "cat": "user_annotation", "name": f"part {name}", "pid": 1, "tid": 1, "ts": begin, "dur": 2 + at / 1000})
            begin += 6
        events.insert(0, {"ph": "X", "cat": "user_annotation", "name": "all", "pid": 1, "tid": 1, "ts": 0, "dur": begin})
        trace = self.folder / "many.pt.trace.json"
        trace.write_text(json.dumps({"schemaVersion": 1, "traceEvents": events}))
        capture = self.folder / "many.gpuprof"
        self.run_gpuprof("import", trace, "-o", capture)
        return capture

    def made_shape(self, what, count):
        """The capture of a timeline that is hard to draw: so many "streams", "ranges", "steps", or seconds of a "long-kernel"."""
        capture = self.folder / f"{what}_{count}.gpuprof"
        subprocess.run([processes.path("BUILT_MADE_CAPTURES"), capture, f"--{what}", str(count)], check=True)
        return capture

    def made_job(self, steps=5):
        """The capture of a rank of a training: ranges inside of ranges, three kernels on two streams."""
        capture = self.folder / "job.gpuprof"
        subprocess.run([processes.path("BUILT_MADE_CAPTURES"), capture, "--profiled-job", str(steps), "--rank", "0"], check=True)
        return capture

    def made_sweep(self):
        """The capture of seven products, each in a range; counters and peaks are known."""
        folder = self.folder / "swept"
        folder.mkdir(exist_ok=True)
        subprocess.run([processes.path("BUILT_SWEPT_CAPTURES"), folder], check=True)
        return folder / "payload_unsigned.gpuprof"

    def h200(self, name):
        return pathlib.Path(processes.path("H200_CAPTURES")) / f"{name}.gpuprof"

    def repaired(self, name):
        """The capture of a fault and its repair, with steps."""
        return pathlib.Path(processes.path("H200_CAPTURES")).parent / "repaired" / f"{name}.gpuprof"

    def page_of(self, capture, *options):
        page = self.folder / f"{capture.stem}.html"
        self.run_gpuprof("report", capture, "-o", page, *options)
        return page

    def said(self, *words):
        """What a command says as JSON."""
        return json.loads(self.run_gpuprof(*words, "-f", "json").out)

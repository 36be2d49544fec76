# SPDX-License-Identifier: Apache-2.0
"""Pages of gpuprof report in tests: writes one, and takes out of it again what it holds."""
import base64
import json
import pathlib
import re
import subprocess
import zlib

import processes

BLOCK = re.compile(r'<script type="application/octet-stream" id="data-([a-z-]+)">([A-Za-z0-9+/=]*)</script>')


def blocks_of(page):
    """{name: bytes} of a page."""
    return {name: zlib.decompress(base64.b64decode(packed)) for name, packed in BLOCK.findall(page.read_text())}


def documents_of(page):
    """{name: object} of the parts that are JSON."""
    return {name: json.loads(of) for name, of in blocks_of(page).items() if not name.startswith("timeline-")}


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

    def page_of(self, capture, *options):
        page = self.folder / f"{capture.stem}.html"
        self.run_gpuprof("report", capture, "-o", page, *options)
        return page

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The queries of docs/at-scale.md by Spark on many ranks: how long each takes, and how much memory. Not a test: it takes half an hour.

    at_scale.py BUILD OUT [--ranks 1024] [--steps 16667] [--memory 4g]     PYTHONPATH has pyspark; BUILD is the build folder

Every rank is made, exported and added to OUT by a call of its own; ranks that are in OUT already are kept."""
import argparse
import concurrent.futures
import os
import pathlib
import re
import subprocess
import tempfile
import time

PAGE = pathlib.Path(__file__).resolve().parents[3] / "docs/at-scale.md"
TABLES = ("kernel", "range", "capture", "peak", "metric", "reading_value")


def add_rank(build, out, rank, steps):
    with tempfile.TemporaryDirectory() as folder:
        capture = f"{folder}/rank.gpuprof"
        subprocess.run([build / "tests/process/export/gpuprof-made-captures", capture, "--fleet", "0", "--rank", str(rank), str(steps)], check=True)
        subprocess.run([build / "bin/gpuprof", "export", capture, "--type", "parquet", "-o", out], check=True, stderr=subprocess.DEVNULL)


def make(build, out, ranks, steps):
    missing = [rank for rank in range(ranks) if not (out / f"capture/rank={rank}").exists()]
    begin = time.monotonic()
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(lambda rank: add_rank(build, out, rank, steps), missing))
    size = sum(file.stat().st_size for file in out.rglob("*.parquet"))
    print(f"{len(missing)} ranks made and exported in {time.monotonic() - begin:.0f} s; all take {size / 1e9:.2f} GB", flush=True)


def peak_memory():
    """Of the JVM, in GB."""
    for process in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            if (process / "comm").read_text().strip() == "java" and f"PPid:\t{os.getpid()}\n" in (process / "status").read_text():
                return int(re.search(r"VmHWM:\s+(\d+)", (process / "status").read_text())[1]) / 1e6
        except OSError:
            continue
    return float("nan")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--ranks", type=int, default=1024)
    parser.add_argument("--steps", type=int, default=16667)  # of six kernels
    parser.add_argument("--memory", default="4g")
    asked = parser.parse_args()
    make(asked.build, asked.out, asked.ranks, asked.steps)
    from pyspark.sql import SparkSession
    spark = (SparkSession.builder.master("local[2]").config("spark.driver.memory", asked.memory).config("spark.ui.enabled", "false").config("spark.ui.showConsoleProgress", "false")
             .config("spark.driver.host", "127.0.0.1").config("spark.local.dir", str(asked.out.parent / "spark-tmp")).getOrCreate())
    spark.sparkContext.setLogLevel("ERROR")
    begin = time.monotonic()
    for table in TABLES:
        spark.read.parquet(str(asked.out / table)).createOrReplaceTempView(table)
    print(f"tables found in {time.monotonic() - begin:.0f} s; {spark.table('kernel').count():,} kernels", flush=True)
    for head, sql in re.findall(r"^## (.*?)$.*?^```sql\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL):
        begin = time.monotonic()
        rows = spark.sql(sql).collect()
        print(f"{time.monotonic() - begin:6.1f} s  {peak_memory():4.1f} GB  {head}\n           {rows[0] if rows else 'no rows'}", flush=True)
    spark.stop()


main()

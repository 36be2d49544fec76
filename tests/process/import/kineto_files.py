# SPDX-License-Identifier: Apache-2.0
"""Writes traces as Kineto does."""
import gzip
import json

BASE, PID = 1_699_000_000_000_000_000, 9001


class KinetoFile:
    """Times in nanoseconds from the base on; written in microseconds with three decimals, as numbers and not as texts."""

    def __init__(self, rank=None, base=BASE, pid=PID):
        self.base, self.pid, self.events = base, pid, []
        self.head = {"schemaVersion": 1, "deviceProperties": [{"id": 0, "name": "NVIDIA H100 80GB HBM3", "totalGlobalMem": 85_000_000_000,
                                                               "computeMajor": 9, "computeMinor": 0, "warpSize": 32, "numSms": 132}],
                     "cuda_runtime_version": 12040, "cuda_driver_version": 12040, "with_flops": 0, "trace_id": "ABC", "host_name": "node9"}
        if rank is not None:
            self.head["distributedInfo"] = {"backend": "nccl", "rank": rank, "world_size": 8, "pg_count": 1,
                                            "pg_config": [{"pg_name": "0", "ranks": [0, 1]}], "nccl_version": "2.21.5"}
        self.head["displayTimeUnit"] = "ms"
        if base:
            self.head["baseTimeNanoseconds"] = base

    def event(self, category, name, start, length, pid, tid, **args):
        self.events.append({"ph": "X", "cat": category, "name": name, "pid": pid, "tid": tid, "ts": _us(start), "dur": _us(length), "args": args})

    def call(self, name, start, length, correlation, category="cuda_runtime", tid=None):
        self.event(category, name, start, length, self.pid, tid or self.pid, **{"External id": 5, "cbid": 211, "correlation": correlation})

    def kernel(self, name, start, length, correlation, stream=7, device=0, **args):
        self.event("kernel", name, start, length, device, stream,
                   **{"External id": 5, "queued": 0, "device": device, "context": 1, "stream": stream, "correlation": correlation,
                      "registers per thread": 32, "shared memory": 1024, "blocks per SM": 0.5, "warps per SM": 4.0, "grid": [4, 2, 1],
                      "block": [256, 1, 1], "est. achieved occupancy %": 6, **args})

    def annotation(self, name, start, length, tid=None, category="user_annotation", **args):
        self.event(category, name, start, length, self.pid, tid or self.pid, **args)

    def metadata(self, name, pid, tid, /, **args):
        self.events.append({"ph": "M", "name": name, "pid": pid, "tid": tid, "ts": _us(0), "args": args})

    def text(self):
        text = json.dumps({**self.head, "traceEvents": self.events, "traceName": "trace.json"}, indent=1, ensure_ascii=False)
        return text.replace('"@', "").replace('@"', "")

    def write(self, path, text=None, encoding="utf-8"):
        content = (text or self.text()).encode(encoding, "surrogateescape")
        path.write_bytes(gzip.compress(content) if path.suffix == ".gz" else content)
        return path


def _us(nanoseconds):
    return f"@{'-' if nanoseconds < 0 else ''}{abs(nanoseconds) // 1000}.{abs(nanoseconds) % 1000:03d}@"

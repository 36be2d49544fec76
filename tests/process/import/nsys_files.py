# SPDX-License-Identifier: Apache-2.0
"""Writes SQLite files as nsys export does, of several versions, without nsys.

Real files have no secondary index, tables only where there is data, times from the beginning of the session on.
"""
import sqlite3

PID, TID = 4711, 4711
EPOCH = 1_700_000_000_000_000_000

COMMON = ["start", "end", "deviceId", "contextId", "greenContextId", "streamId", "correlationId", "globalPid"]
KERNEL = COMMON + ["demangledName", "shortName", "mangledName", "launchType", "cacheConfig", "registersPerThread", "gridX", "gridY", "gridZ", "blockX",
                   "blockY", "blockZ", "staticSharedMemory", "dynamicSharedMemory", "localMemoryPerThread", "localMemoryTotal", "gridId",
                   "sharedMemoryExecuted", "graphNodeId", "sharedMemoryLimitConfig"]
NEWEST_KERNEL = KERNEL + ["qmdBulkReleaseDone", "graphId", "clusterX", "clusterY", "clusterZ", "maxActiveClusters"]
OLDEST_KERNEL = ["start", "end", "deviceId", "contextId", "streamId", "correlationId", "globalPid", "demangledName", "shortName", "registersPerThread",
                 "gridX", "gridY", "gridZ", "blockX", "blockY", "blockZ", "staticSharedMemory", "dynamicSharedMemory", "localMemoryPerThread",
                 "localMemoryTotal"]
TABLES = {
    "CUPTI_ACTIVITY_KIND_KERNEL": KERNEL,
    "CUPTI_ACTIVITY_KIND_MEMCPY": COMMON + ["bytes", "copyKind", "deprecatedSrcId", "srcKind", "dstKind", "srcDeviceId", "srcContextId", "dstDeviceId",
                                            "dstContextId", "migrationCause", "graphNodeId", "virtualAddress"],
    "CUPTI_ACTIVITY_KIND_MEMSET": COMMON + ["value", "bytes", "graphNodeId", "memKind"],
    "CUPTI_ACTIVITY_KIND_GRAPH_TRACE": COMMON + ["graphId", "graphExecId"],
    "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION": COMMON + ["deprecatedSyncType", "syncType", "eventId"],
    "CUPTI_ACTIVITY_KIND_RUNTIME": ["start", "end", "eventClass", "globalTid", "correlationId", "nameId", "returnValue", "callchainId"],
    "CUDA_GPU_MEMORY_USAGE_EVENTS": ["start", "globalPid", "deviceId", "contextId", "address", "pc", "bytes", "memKind", "memoryOperationType", "name",
                                     "correlationId", "streamId"],
    "NVTX_EVENTS": ["start", "end", "eventType", "rangeId", "category", "color", "text", "globalTid", "endGlobalTid", "textId", "domainId",
                    "uint64Value", "int64Value", "doubleValue", "uint32Value", "int32Value", "floatValue", "jsonTextId", "jsonText"],
    "TARGET_INFO_GPU": ["vmId", "id", "name", "busLocation", "l2CacheSize", "totalMemory", "clockRate", "smCount", "uuid", "chipName", "cuDevice",
                        "computeMajor", "computeMinor"],
    "TARGET_INFO_SESSION_START_TIME": ["utcEpochNs", "utcTime", "localTime"],
    "TARGET_INFO_SYSTEM_ENV": ["globalVid", "devStateName", "name", "nameEnum", "value"],
    "META_DATA_EXPORT": ["name", "value"],
    "ANALYSIS_DETAILS": ["globalVid", "duration", "startTime", "stopTime"],
    "ThreadNames": ["nameId", "priority", "globalTid"],
    "PROCESSES": ["globalPid", "pid", "name"],
}


def global_pid(pid, vm=1):
    return vm << 48 | pid << 24


class NsysFile:
    """Rows are given as dictionaries; columns that a version lacks are dropped. `version`: "2022", "2023" or "2026"."""

    def __init__(self, path, version="2023"):
        self.version, self.strings = version, {}
        self.file = sqlite3.connect(path, isolation_level=None)
        self.file.execute("PRAGMA journal_mode = OFF")
        self.file.execute("PRAGMA synchronous = OFF")
        self.file.execute("BEGIN")
        self.file.execute("CREATE TABLE StringIds (id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL)")
        self.made, self.cursor = {}, self.file.cursor()

    def columns(self, table):
        if table == "CUPTI_ACTIVITY_KIND_KERNEL":
            return {"2022": OLDEST_KERNEL, "2023": KERNEL, "2026": NEWEST_KERNEL}[self.version]
        known = TABLES[table]
        if self.version == "2022":
            return [c for c in known if c not in ("greenContextId", "syncType", "graphNodeId", "jsonTextId", "jsonText", "domainId", "endGlobalTid")]
        return known

    def string(self, text):
        if text not in self.strings:
            self.strings[text] = len(self.strings) + 1
            # As nsys stores them: bytes that are no UTF-8 too.
            stored = text if isinstance(text, str) else text.decode("latin-1")
            if isinstance(text, bytes):
                self.file.execute("INSERT INTO StringIds VALUES (?, CAST(? AS TEXT))", (self.strings[text], text))
            else:
                self.file.execute("INSERT INTO StringIds VALUES (?, ?)", (self.strings[text], stored))
        return self.strings[text]

    def table(self, name):
        if name not in self.made:
            columns = self.columns(name)
            self.file.execute(f"CREATE TABLE {name} ({', '.join(columns)})")
            self.made[name] = (columns, f"INSERT INTO {name} VALUES ({', '.join('?' * len(columns))})")
        return self.made[name]

    def add(self, table, **row):
        columns, insert = self.table(table)
        self.cursor.execute(insert, [row.get(c) for c in columns])

    def kernel(self, name, start, length, correlation, /, pid=PID, mangled=None, **more):
        row = dict(start=start, end=start + length, deviceId=0, contextId=1, streamId=7, correlationId=correlation, globalPid=global_pid(pid),
                   demangledName=self.string(name), shortName=self.string(name), mangledName=self.string(mangled) if mangled else None, launchType=1,
                   registersPerThread=32, gridX=4, gridY=1, gridZ=1, blockX=256, blockY=1, blockZ=1, staticSharedMemory=0, dynamicSharedMemory=1024,
                   localMemoryPerThread=0, localMemoryTotal=0, gridId=0)
        self.add("CUPTI_ACTIVITY_KIND_KERNEL", **{**row, **more})

    def call(self, name, start, length, correlation, /, pid=PID, tid=TID, **more):
        self.add("CUPTI_ACTIVITY_KIND_RUNTIME", **{**dict(start=start, end=start + length, eventClass=0, globalTid=global_pid(pid) | tid,
                                                          correlationId=correlation, nameId=self.string(name), returnValue=0), **more})

    def range(self, text, start, end, /, pid=PID, tid=TID, kind=59, **more):
        self.add("NVTX_EVENTS", **{**dict(start=start, end=end, eventType=kind, text=text, globalTid=global_pid(pid) | tid, domainId=0), **more})

    def copy(self, start, length, correlation, size, kind, source, destination, /, pid=PID, **more):
        self.add("CUPTI_ACTIVITY_KIND_MEMCPY", **{**dict(start=start, end=start + length, deviceId=0, contextId=1, streamId=7, correlationId=correlation,
                                                         globalPid=global_pid(pid), bytes=size, copyKind=kind, srcKind=source, dstKind=destination), **more})

    def target(self, pids=(PID,), duration=1_000_000_000):
        self.add("TARGET_INFO_SESSION_START_TIME", utcEpochNs=EPOCH)
        self.add("TARGET_INFO_GPU", vmId=1 << 48, id=0, name="NVIDIA H200", busLocation="0000:01:00.0", l2CacheSize=62914560, totalMemory=150110011392,
                 clockRate=1980000000, smCount=132, uuid="00000000-0000-0000-0000-000000000001", chipName="GH100", cuDevice=0, computeMajor=9, computeMinor=0)
        self.add("TARGET_INFO_SYSTEM_ENV", name="Hostname", value="node7")
        for name, value in (("EXPORT_PRODUCT_NAME", "Nsight Systems"), ("EXPORT_PRODUCT_VERSION", f"{self.version}.4.4"), ("EXPORT_SCHEMA_VERSION", "3.7.2")):
            self.add("META_DATA_EXPORT", name=name, value=value)
        self.add("ANALYSIS_DETAILS", duration=duration, startTime=339_299_299, stopTime=339_299_299 + duration)
        for pid in pids:
            self.add("PROCESSES", globalPid=global_pid(pid), pid=pid, name=f"/usr/bin/train{pid}")
            self.add("ThreadNames", nameId=self.string("main"), globalTid=global_pid(pid) | pid)

    def close(self):
        self.file.execute("COMMIT")
        self.file.close()


def training(path, kernels, version="2023"):
    """Kernels with their launches, twenty in a range, ten such in a step."""
    out = NsysFile(path, version)
    out.target(duration=kernels * 3000 + 10000)
    names = [out.string(f"void kernel_{i}<float>(float*, int)") for i in range(60)]
    launch = out.string("cudaLaunchKernel_v7000")
    _, kernel_insert = out.table("CUPTI_ACTIVITY_KIND_KERNEL")
    columns, call_insert = out.table("CUPTI_ACTIVITY_KIND_RUNTIME")[0], out.table("CUPTI_ACTIVITY_KIND_RUNTIME")[1]
    kernel_columns = out.made["CUPTI_ACTIVITY_KIND_KERNEL"][0]
    base = dict(deviceId=0, contextId=1, streamId=7, globalPid=global_pid(PID), launchType=1, registersPerThread=32, gridY=1, gridZ=1, blockX=256, blockY=1,
                blockZ=1, staticSharedMemory=0, dynamicSharedMemory=1024, localMemoryPerThread=0, localMemoryTotal=0)
    template = [base.get(c) for c in kernel_columns]
    at = {c: i for i, c in enumerate(kernel_columns)}

    def kernel_rows():
        for i in range(kernels):
            row = template.copy()
            row[at["start"]], row[at["end"]] = i * 3000 + 2000, i * 3000 + 2000 + 1500 + i % 1300
            row[at["correlationId"]], row[at["gridX"]] = i + 1, i % 240 + 1
            row[at["demangledName"]] = row[at["shortName"]] = names[i % 60]
            yield row

    thread = global_pid(PID) | TID
    out.file.executemany(call_insert, ([i * 3000 + 500, i * 3000 + 900, 0, thread, i + 1, launch, 0, None][:len(columns)] for i in range(kernels)))
    out.file.executemany(kernel_insert, kernel_rows())
    for i in range(0, kernels, 200):
        out.range("step", i * 3000, (i + 200) * 3000 - 1)
        for j in range(i, min(i + 200, kernels), 20):
            out.range("forward" if j % 40 == 0 else "backward", j * 3000 + 1, (j + 20) * 3000 - 2)
    out.close()


if __name__ == "__main__":
    import sys
    training(sys.argv[1], int(sys.argv[2]), *sys.argv[3:])

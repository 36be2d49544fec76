# SPDX-License-Identifier: Apache-2.0
"""Threads, contexts, modules, graphs and ranges that come and go: the program ends as by itself, and the capture has every kernel."""

from harness import HERE, SCRATCH, keep_log, outcomes, row, run

PROGRAM = HERE.parent / "gpu_lifetimes"
MODES = ("none", "auto")
TIMEOUT = 150


def once(mode, *words, **settings):
    settings = {"traced": False} if mode == "bare" else {"metrics": mode, **settings}
    done = run([PROGRAM, *words], timeout=TIMEOUT, **settings)
    keep_log(f"{words[0]} {mode}", done.err)
    return done


def under(*words, **settings):
    """The program by itself, then under each mode; what ends otherwise than by itself has its row here and is left out."""
    name, bare = words[0], once("bare", *words)
    if bare.code != 0:
        row(name, f"by itself: exit {bare.code}: {bare.err.strip()[-150:]}", "runs by itself", "not run")
        return
    for mode in MODES:
        done = once(mode, *words, **settings)
        wrong = "" if done.code == 0 else f"exit {done.code}: {done.err.strip()[-200:]}"
        outcomes.append((f"{name} under {mode}", wrong))
        if wrong:
            row(f"{name}, {mode}", wrong, "as by itself", False)
        else:
            yield mode, done


def all_there(*words):
    """Every kernel the program launched is in the capture."""
    for mode, done in under(*words):
        measured, launched = f"{done.kernels()}; {done.lost()}", int(done.value("kernels"))
        row(f"{' '.join(map(str, words))}, {mode}: kernels; lost", measured, f"{launched}; nothing", measured == f"{launched}; nothing")
        yield mode, done


def resets():
    list(all_there("resets", 8))


def two_contexts():
    list(all_there("two-contexts"))


def green_context():
    list(all_there("green-context"))


def cancel():
    for mode, done in under("cancel", 20):
        row(f"threads that were canceled, {mode}", int(done.value("canceled")), "= 160", done.value("canceled") == 160)


def many_threads():
    list(all_there("many-threads", 1000, 100))


def many_texts():
    for mode, done in all_there("many-texts", 300_000):
        ranges = done.stats("nvtx_kern_sum")
        row(f"many-texts, {mode}: rows by range; kernels in them", f"{len(ranges)}; {sum(int(r['Kern Inst']) for r in ranges)}", "", "")


def modules():
    for mode, done in all_there("modules", 500):
        found = sum(int(k["Instances"]) for k in done.stats("cuda_gpu_kern_sum") if k["Name"] == "module_3")
        row(f"modules, {mode}: kernels of the fourth", found, f"= {int(done.value('kernels_of_module_3'))}", found == done.value("kernels_of_module_3"))


def graphs():
    for mode, done in all_there("graphs", 300):
        row_in_range(mode, done, "graphs", done.value("kernels"))


def graph_beside_launches():
    for mode, done in under("graph-beside-launches", 5):
        row_in_range(mode, done, "long graph", done.value("in_graph"))
        row_in_range(mode, done, "beside", done.value("beside"))


def row_in_range(mode, done, name, expected):
    kernels = sum(int(r["Kern Inst"]) for r in done.stats("nvtx_kern_sum") if r["NVTX Range"] == name)
    row(f"kernels in the range '{name}', {mode}; lost", f"{kernels}; {done.lost()}", f"{int(expected)}; nothing", kernels == expected and done.lost() == "nothing")


def prefork():
    for mode, done in under("prefork", 3, output=SCRATCH / "prefork_%p.gpuprof"):
        counts = []
        for capture in sorted(SCRATCH.glob("prefork_*.gpuprof")):
            done.capture = capture
            counts.append(done.kernels())
            capture.unlink()
        row(f"captures of workers that a server forked after its first range, {mode}: kernels", [c for c in counts if c], "three of 1000", [c for c in counts if c] == [1000] * 3)


def growth(done, name):
    """kB that each round of the second half left behind."""
    values = [float(v) for v in done.values[name]]
    half = len(values) // 2
    rounds = done.value("rounds") * (len(values) - 1 - half) / len(values)
    return (values[-1] - values[half]) * 1024 / rounds


def soak():
    """CUPTI itself keeps some memory of what has gone: we may keep no more than raw kernel records do."""
    seconds = 40
    runs = {"bare": once("bare", "soak", seconds), "raw CUPTI": run([PROGRAM, "soak", seconds], traced=False, injected=HERE.parent / "gpu_raw_cupti.so", timeout=TIMEOUT)}
    if any(done.code != 0 for done in runs.values()):
        row("soak", "; ".join(f"{name}: exit {done.code}" for name, done in runs.items()), "runs by itself", "not run")
        return
    runs.update(all_there("soak", seconds))
    for name, done in runs.items():
        row(f"soak, {name}: MiB resident, MiB allocated every 5 s", " ".join(f"{float(v):.0f}" for v in done.values["resident_mib"]) + "; " + " ".join(f"{float(v):.0f}" for v in done.values["allocated_mib"]), "", "")
    floor = growth(runs["raw CUPTI"], "allocated_mib")
    for mode in runs.keys() & set(MODES):
        more = growth(runs[mode], "allocated_mib")
        row(f"soak, {mode}: kB allocated more after each round; raw CUPTI", f"{more:.1f}; {floor:.1f}", "raw CUPTI's + 10", more <= floor + 10)


ALL = (resets, two_contexts, green_context, cancel, many_threads, many_texts, modules, graphs, graph_beside_launches, prefork, soak)

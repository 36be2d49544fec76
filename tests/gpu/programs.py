# SPDX-License-Identifier: Apache-2.0
"""Unmodified programs by themselves, traced and with counters: what it costs them, that their results stay, what the captures cover."""

import dataclasses
import os
import statistics
import sys
import threading

import shares
from harness import COMMAND, HERE, SCRATCH, WORKLOAD, gpus, keep_log, outcomes, ratio_of_medians, row, run

os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("TRANSFORMERS_VERBOSITY", "error")
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")

PATIENCE, LIFETIMES = HERE.parent / "gpu_patience", HERE.parent / "gpu_lifetimes"
FLOOR = HERE.parent / "gpu_raw_cupti.so"  # records of CUPTI that are thrown away


@dataclasses.dataclass
class Program:
    """A script of unmodified/, the steps that take some seconds on an H200, and what counters may cost it there."""

    name: str
    steps: int
    quick_steps: int
    goal: float = 0.0  # auto / traced; 0: none
    gpus: int = 1
    script: str = ""  # when it is not the name
    timeout: float = 0.0  # seconds in all; 0: TIMEOUT
    without: tuple = ("floor",)  # the modes in which it does not run
    rounds: int = 3  # at most
    traced_goal: float = 0.0  # traced / bare; 0: none

    def words(self, steps):
        script = HERE / "unmodified" / f"{self.script or self.name}.py"
        start = [sys.executable]
        if self.gpus > 1:
            start += ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node", self.gpus]
        return [*start, script, steps]


PROGRAMS = (
    Program("gpt2", 60, 60, goal=1.06),
    Program("resnet50", 55, 55, goal=1.20),
    Program("llama", 3, 2, without=()),
    Program("serving", 3000, 2000, goal=1.02, without=("sampled",), rounds=8, traced_goal=1.10),
    Program("jax_train", 4000, 2500),
    Program("triton_kernels", 4000, 3000),
    Program("products", 1000, 800),
    Program("graph_decode", 20000, 10000),
    Program("cupy_numba", 20000, 10000),
    Program("compiled_mlp", 4000, 2000),
    Program("lightning_loop", 3000, 1500),
    Program("ddp", 400, 200, goal=1.05, gpus=2),
)
MODES = ("bare", "floor", "none", "auto", "sampled")
SAMPLED_IN_QUICK = ("gpt2", "products", "jax_train")  # the others are not, for time
TIMEOUT = 120


def once(program, mode, steps, number):
    """One run; of a profiled one the largest capture of its processes, as .capture, or None."""
    stem = f"{program.name}_{mode}_{number}"
    if mode in ("bare", "floor"):
        words = ["env", "RAW_CUPTI_GRAPHS=whole", *program.words(steps)] if mode == "floor" else program.words(steps)
        done = run(words, traced=False, toolkit=False, timeout=program.timeout or TIMEOUT, injected=FLOOR if mode == "floor" else None)
    else:
        done = run(program.words(steps), way="command", toolkit=False, timeout=program.timeout or TIMEOUT, metrics=mode, output=SCRATCH / f"{stem}_%p.gpuprof")
        keep_log(stem, done.err)
    done.capture = max(SCRATCH.glob(f"{stem}_*.gpuprof"), key=lambda file: file.stat().st_size, default=None)
    seconds = f"{done.value('seconds'):.2f} s of its own, " if "seconds" in done.values else ""
    print(f"    {program.name} {mode}: exit {done.code}, {seconds}{done.seconds:.1f} s in all", flush=True)
    return done


def why_not(done):
    """In a few words, why a program does not run here by itself."""
    if done.code == -9:
        return "takes more time than there is by itself"
    lines = done.err.strip().splitlines() or ["says nothing"]
    error = next((line for line in reversed(lines) if "Error" in line), lines[-1])
    return f"exit {done.code} by itself: {error.strip()[-150:]}"


def in_turns(program, modes, steps, times):
    """{mode: [Run]}, of runs that take turns. A mode that fails once is left out from then on; None when the program fails by itself."""
    runs = {mode: [] for mode in modes}
    for number in range(times):
        for mode in list(runs):
            done = once(program, mode, steps, number)
            if done.code == 0 and "checksum" in done.values:
                runs[mode].append(done)
                continue
            if mode == "bare":
                row(program.name, why_not(done), "runs by itself", "not run")
                return None
            how = "hangs" if done.code == -9 else f"exit {done.code}: {(done.err.strip() or 'says nothing')[-150:]}"
            row(f"{program.name} under --metrics {mode}", how, "ends", False)
            outcomes.append((f"{program.name} under {mode}", how))
            del runs[mode]
    return runs


def same_results(program, runs, steps):
    """Whether results stay what they are without a profiler; a program whose results differ between runs by themselves is not judged."""
    alone = {done.text("checksum") for done in runs["bare"]}
    found = {mode: {done.text("checksum") for done in all_of_mode} for mode, all_of_mode in runs.items() if mode not in ("bare", "floor")}
    if len(runs["bare"]) == 1 and any(results - alone for results in found.values()):
        alone.update(once(program, "bare", steps, "again").values.get("checksum", ["none"]))
    differ = [mode for mode, results in found.items() if results - alone]
    if len(alone) > 1:
        row(f"{program.name}: results", "differ between runs by themselves", "the same", "not run")
        differ = []
    else:
        row(f"{program.name}: results", f"differ under {', '.join(differ)}" if differ else "the same", "the same", not differ)
    outcomes.extend((f"{program.name} under {mode}", "another result" if mode in differ else "") for mode in found)


def costs(program, runs):
    modes = [mode for mode in MODES if runs.get(mode)]
    names = " / ".join("traced" if mode == "none" else mode for mode in modes)

    def medians(what, value, digits):
        row(f"{program.name}: {what}, {names}", " / ".join(f"{statistics.median(value(done) for done in runs[mode]):.{digits}f}" for mode in modes), "", "")

    medians("seconds of its own", lambda done: done.value("seconds"), 3)
    medians("median step, ms", lambda done: done.value("step_ms"), 3)
    medians("whole wall clock, s", lambda done: done.seconds, 1)
    own = {mode: [done.value("seconds") for done in runs[mode]] for mode in modes}
    for above, below, goal in (("none", "bare", program.traced_goal), ("none", "floor", 1.03), ("auto", "none", program.goal), ("sampled", "none", 0)):
        if above in own and below in own:
            ratio_row(f"{program.name}: {above} / {below}".replace("none", "traced"), own[above], own[below], goal)
    if program.rounds > 3 and {"none", "auto"} <= runs.keys():
        slowest = {mode: [done.value("p999_ms") for done in runs[mode]] for mode in modes}
        medians("99.9th percentile of a step, ms", lambda done: done.value("p999_ms"), 3)
        ratio_row(f"{program.name}: 99.9th percentile of a step, auto / traced", slowest["auto"], slowest["none"], 1.05)


def ratio_row(name, above, below, goal):
    """The ratio of the medians, and the quartiles of the ratios of runs that followed each other."""
    ratio, pairs = ratio_of_medians(above, below), sorted(a / b for a, b in zip(above, below))
    spread = f" [{pairs[len(pairs) // 4]:.3f} {pairs[-1 - len(pairs) // 4]:.3f}]" if len(pairs) > 3 else ""
    row(name, f"{ratio:.3f}{spread}", f"<= {goal}" if goal else "", ratio <= goal if goal else "")


def losses(program, runs):
    found = [(mode, done.lost()) for mode, all_of_mode in runs.items() for done in all_of_mode if done.capture]
    lost = [f"{mode}: {what}" for mode, what in found if what != "nothing"]
    row(f"{program.name}: lost records", "; ".join(lost) or f"nothing in {len(found)} captures", "nothing", bool(found) and not lost)
    for done in runs.get("auto", [])[-1:]:
        row(f"{program.name}: what it cost by the profiler's own account", next((line for line in done.overview() if line.startswith("cost:")), "no line says") if done.capture else "no capture", "", "")
    if runs.get("none"):
        lost_beside_spent(program, runs)


def lost_beside_spent(program, runs):
    """What counters cost: how much longer the program took than traced, beside what the captures say."""
    traced = statistics.median(done.value("seconds") for done in runs["none"])
    longer = [done.value("seconds") - traced for done in runs.get("auto", []) if done.capture]
    accounts = [done.costs() for done in runs.get("auto", []) if done.capture]
    if not accounts:
        return
    spent = statistics.median(account.get("cost.counters_ns", 0) / 1e6 for account in accounts)
    rates = [(account["cost.counters_lost_ns"] / 1e6, account["cost.counters_lost_error_ns"] / 1e6) for account in accounts if "cost.counters_lost_ns" in account]
    by_rates = ", ".join(f"{lost:.0f} +- {error:.0f}" for lost, error in rates) or "not told"
    row(f"{program.name}: ms lost to counters by turns; counted by its captures; by rates of launches", f"{1e3 * statistics.median(longer):.0f} ({1e3 * min(longer):.0f} to {1e3 * max(longer):.0f}); {spent:.0f}; {by_rates}", "", "")


RATES, FLOP = 0.98, 0.95
RECURRING = 10  # launches from which work counts as recurring


def covered(program, runs):
    """What the last captures with counters cover."""
    reports = {mode: report for mode in ("auto", "sampled") if runs.get(mode) and (report := report_of(runs[mode][-1]))}
    for mode, report in reports.items():
        row(f"{program.name}: readings and windows, {mode}", f"{shares.readings(report)} and {shares.windows(report)}", "", "")
        recurring, everything = shares.recurring(report, RECURRING), report
        cpu, allowed = report["cost"].get("cost.counter_cpu_ns", 0) / 1e9, max(0.6, 0.06 * runs[mode][-1].seconds)
        row(f"{program.name}: CPU time of the thread that reads counters, {mode}", f"{cpu:.2f} s", f"<= {allowed:.2f} s", 0 < cpu <= allowed)
        judged = runs[mode][-1].value("seconds") >= 2  # else it is over before it should be told
        share_row(program, "rates", mode, shares.rates_share(recurring), shares.rates_share(everything), RATES if judged else 0)
        share_row(program, "FLOP", mode, shares.flop_share(recurring), shares.flop_share(everything), FLOP if judged and mode == "auto" else 0)
    if "auto" in reports:
        workloads, geometries = shares.workloads_and_geometries(reports["auto"])
        row(f"{program.name}: workloads, and (function, geometry)", f"{workloads} and {geometries}", "<= 3 times", workloads <= 3 * geometries)
    elif runs.get("auto"):
        row(f"{program.name}: what its capture covers", "gpuprof roofline has nothing to say", "shares", False)
    if len(reports) == 2:
        flop_from_samples(program.name, reports["sampled"], reports["auto"])


def share_row(program, what, mode, recurring, everything, goal):
    row(f"{program.name}: share of recurring kernel time with {what}, {mode}", f"{recurring:.4f} (of all {everything:.4f})", f">= {goal}" if goal else "", recurring >= goal if goal else "")


def report_of(done):
    return shares.roofline_of(COMMAND, done.capture) if done.capture else None


def flop_from_samples(name, sampled, counted):
    """Tensor FLOP of a launch, by samples alone and counted, for each kernel of 20 us and more that both know."""
    exact, found = shares.tensor_flop(counted, sources={"counted"}), shares.tensor_flop(sampled)
    both = sorted((found[key] / exact[key], key) for key in exact.keys() & found.keys())
    if not exact:
        return
    off = [ratio for ratio, _ in both if abs(ratio - 1) > 0.02]
    for ratio, key in both:
        print(f"    tensor FLOP from samples / counted: {ratio:.4f} {key[0][:60]} {key[1]}", flush=True)
    extremes = f", {both[0][0]:.4f} to {both[-1][0]:.4f}" if both else ""
    row(f"{name}: tensor kernels of 20 us with FLOP from samples within 2 % of counted", f"{len(both) - len(off)} of {len(exact)}{extremes}", "all", len(both) == len(exact) and not off)


def delay_kernel_ns(done):
    """Mean time of the kernel with which XLA holds the GPU back while it launches what it tunes."""
    delays = [line for line in done.stats("cuda_gpu_kern_sum") if "DelayKernel" in (line.get("Name") or "")]
    times = [(float(line["Total Time (ns)"].replace(",", "")), int(line["Instances"].replace(",", ""))) for line in delays]
    return sum(t for t, _ in times) / sum(n for _, n in times) if times else None


def delay_kernel(runs):
    traced, auto = (delay_kernel_ns(runs[mode][-1]) if runs[mode][-1].capture else None for mode in ("none", "auto"))
    if traced is None or auto is None:
        row("DelayKernel of XLA, auto / traced", "none ran: nothing was tuned", "<= 1.2", "not run")
        return
    row("DelayKernel of XLA, auto / traced", f"{auto / 1e3:.1f} us / {traced / 1e3:.1f} us = {auto / traced:.2f}", "<= 1.2", auto <= 1.2 * traced)


def forget(runs):
    """Captures are large."""
    for all_of_mode in runs.values():
        for done in all_of_mode:
            for file in done.capture.parent.glob(f"{done.capture.stem.rpartition('_')[0]}_*.gpuprof") if done.capture else ():
                file.unlink()


def check(program, times, quick, steps=None, modes=None):
    if program.gpus > 1 and len(gpus()) < program.gpus:
        row(program.name, f"{len(gpus())} GPU here", f"needs {program.gpus}", "not run")
        return
    modes = [mode for mode in modes or MODES if mode not in program.without and not (mode == "sampled" and quick and program.name not in SAMPLED_IN_QUICK)]
    steps = steps or (program.quick_steps if quick else program.steps)
    runs = in_turns(program, modes, steps, min(times, program.rounds))
    if runs is None:
        return
    same_results(program, runs, steps)
    costs(program, runs)
    losses(program, runs)
    covered(program, runs)
    if program.name == "jax_train" and {"none", "auto"} <= runs.keys():
        delay_kernel(runs)
    forget(runs)


def minute(times, quick):
    """A minute of training: what counters cost goes down with time."""
    program = dataclasses.replace(PROGRAMS[0], name="gpt2_minute", script="gpt2", goal=1.01)
    if quick:
        row(program.name, "left out of a quick run", "<= 1.01", "not run")
        return
    first = once(program, "bare", program.steps, "measure")
    if first.code != 0:
        row(program.name, why_not(first), "runs by itself", "not run")
        return
    check(program, 1, False, steps=round(60 / first.value("seconds") * first.value("steps")), modes=("bare", "none", "auto"))


def minute_of_ranks(times, quick):
    """The same on two GPUs with NCCL."""
    program = dataclasses.replace(next(p for p in PROGRAMS if p.name == "ddp"), name="ddp_minute", script="ddp", goal=1.01, timeout=3 * TIMEOUT)  # a slow host takes twice a minute
    if quick or len(gpus()) < program.gpus:
        row(program.name, "left out of a quick run" if quick else f"{len(gpus())} GPU here", "<= 1.01", "not run")
        return
    runs = in_turns(program, ("none", "auto", "sampled"), 10 * program.steps, min(times, 3))
    if runs is None:
        return
    costs(program, runs)
    losses(program, runs)
    covered(program, runs)
    forget(runs)


SIDE_BY_SIDE = ("gpt2", "resnet50", "jax_train")


def pair_side_by_side(program, steps, modes, number):
    """Seconds of their own of two runs at once, one on each GPU, in the order of `modes`; None where one fails."""
    done = [None, None]

    def run_on(gpu):
        words = program.words(steps)
        stem = SCRATCH / f"{program.name}_side_{number}_{gpu}_%p.gpuprof"
        done[gpu] = run(["env", f"CUDA_VISIBLE_DEVICES={gpu}", *words], way="command", toolkit=False, timeout=TIMEOUT + 60, metrics=modes[gpu], output=stem)

    threads = [threading.Thread(target=run_on, args=(gpu,)) for gpu in (0, 1)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if any(one is None or one.code != 0 for one in done):
        return None
    seconds = [one.value("seconds") for one in done]
    print(f"    {program.name}, {steps} steps: {modes[0]} {seconds[0]:.3f} s, {modes[1]} {seconds[1]:.3f} s", flush=True)
    for capture in SCRATCH.glob(f"{program.name}_side_*.gpuprof"):
        capture.unlink()
    return seconds


def ratio_side_by_side(program, steps, rounds):
    """auto / traced on the two GPUs of a host at once, then the other way round: what slows the host slows both, and how the GPUs differ cancels."""
    ratios = []
    for number in range(rounds):
        first = pair_side_by_side(program, steps, ("auto", "none"), f"{number}a")
        second = pair_side_by_side(program, steps, ("none", "auto"), f"{number}b")
        if first is None or second is None:
            row(f"{program.name}: side by side", "a run failed", "ends", False)
            return
        ratios.append((first[0] / first[1] * second[1] / second[0]) ** 0.5)
    ratio = statistics.median(ratios)
    row(f"{program.name}, {steps} steps on two GPUs at once: auto / traced, {', '.join(f'{one:.3f}' for one in ratios)}", f"{ratio:.4f}", f"<= {program.goal}" if program.goal else "",
        ratio <= program.goal if program.goal else "")


def side_by_side(times, quick):
    if len(gpus()) < 2:
        row("programs side by side", f"{len(gpus())} GPU here", "needs 2", "not run")
        return
    for program in PROGRAMS:
        if program.name in SIDE_BY_SIDE:
            ratio_side_by_side(program, program.quick_steps if quick else program.steps, 1 if quick else min(times, 3))


def two_seconds(times, quick):
    """What is known two seconds into recurring work: captures of programs that end then."""
    for program in PROGRAMS:
        if program.gpus > 1 or program.name == "lightning_loop" or (quick and program.name not in SAMPLED_IN_QUICK):
            continue  # those that count steps, not seconds
        program = dataclasses.replace(program, name=f"{program.name}_2s", script=program.name)
        done = once(program, "auto", "2s", 0)
        if done.code == 0:
            covered(program, {"auto": [done]})
            forget({"auto": [done]})
        else:
            row(program.name, f"exit {done.code}: {done.err.strip()[-150:]}", "ends", "not run")


SHORT = {"short kernels": (WORKLOAD, "mixed", 50_000), "threads": (LIFETIMES, "many-threads"), "modules": (LIFETIMES, "modules"), "graphs": (LIFETIMES, "graphs")}


def short(times, quick):
    """Programs of one or two seconds, whose set-up counts: all of their time, from start to end."""
    for name, words in SHORT.items():
        seconds = {mode: [] for mode in ("bare", "none", "auto")}
        for _ in range(min(times, 8)):
            for mode, kept in seconds.items():
                done = run(words, timeout=TIMEOUT, **({"traced": False} if mode == "bare" else {"way": "command", "metrics": mode}))
                if done.code != 0:
                    row(f"{name}, {mode}", f"exit {done.code}: {done.err.strip()[-150:]}", "ends", False if mode != "bare" else "not run")
                    break
                kept.append(done.seconds)
        if all(seconds.values()):
            row(f"short program, {name}: seconds from start to end, bare / traced / auto", " / ".join(f"{statistics.median(kept):.2f}" for kept in seconds.values()), "", "")
            ratio_row(f"short program, {name}: auto / traced", seconds["auto"], seconds["none"], 1.03)


LATENCY_MODES = ("bare", "none", "auto", "sampled")


def launches(times, quick):
    """How long launches take at worst, by themselves, traced and with counters."""
    seconds, runs = (5 if quick else 20), {}
    for mode in LATENCY_MODES:
        settings = {"traced": False} if mode == "bare" else {"metrics": mode}
        done = run([PATIENCE, "launch-latency", seconds], timeout=seconds + 60, **settings)
        keep_log(f"launch-latency {mode}", done.err)
        if done.code != 0:
            row("launch-latency", f"{mode}: exit {done.code}: {done.err.strip()[-200:]}", "ends", "not run" if mode == "bare" else False)
            return
        runs[mode] = done
    for name in ("p50_ns", "p99_ns", "p9999_ns", "max_ns", "over_1ms"):
        row(f"time of a launch call, {name}, bare / traced / auto / sampled", " / ".join(f"{runs[mode].value(name):.0f}" for mode in LATENCY_MODES), "", "")
    for mode in ("auto", "sampled"):
        longest, traced = runs[mode].value("max_ns") / 1e6, runs["none"].value("max_ns") / 1e6
        row(f"longest launch call, {mode} (traced {traced:.2f} ms)", f"{longest:.2f} ms", "<= 2 ms, or as traced", longest <= max(2, traced))
        more = (runs[mode].value("p9999_ns") - runs["none"].value("p9999_ns")) / 1e6
        row(f"99.99th percentile of launch calls, {mode} over traced", f"{more:.3f} ms", "<= 1 ms", more <= 1)


def readings(times, quick):
    """What reading one launch costs its program."""
    # What comes before counters are set up is not read, and what comes after the capture costs nothing.
    done = run([WORKLOAD, "mixed", 200_000], metrics="exact,basic", duration=4 if quick else 10, timeout=120)
    report = shares.roofline_of(COMMAND, done.capture)
    cost = shares.reading_ms(report) if report else None
    if cost is None:
        row("a launch that is read costs", f"exit {done.code}, nothing was read: {done.err.strip()[-150:]}", "<= 0.8 ms", False)
        return
    row("a launch that is read costs", f"{cost:.3f} ms, mean of {shares.readings(report)}", "<= 0.8 ms", cost <= 0.8)


def named(program):
    def check_one(times, quick):
        check(program, times, quick)

    check_one.__name__ = program.name
    return check_one


ALL = [launches, readings, short, two_seconds, *(named(program) for program in PROGRAMS), minute, minute_of_ranks, side_by_side]

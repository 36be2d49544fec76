# SPDX-License-Identifier: Apache-2.0
"""Judges what `gpuprof analyze -f json` says of programs whose faults are known. Pure: runs nothing."""

import csv
import dataclasses
import json
import pathlib

ABOVE = 0.02  # of the window: a finding on a good program, or on a mended one, must stay below


@dataclasses.dataclass(frozen=True)
class Fault:
    """A planted fault, and the rules that name it."""

    name: str
    rules: frozenset
    kernel: str = ""  # part of the kernel's name that the finding must have
    steps: int = 1000  # about a second on an H200
    script: str = ""  # of planted/, when it is not gpu_planted
    is_once: bool = False  # its cost is of the run, not of each step


FAULTS = (
    Fault("pageable_copies", frozenset({"pageable_copy"})),
    Fault("sync_in_loop", frozenset({"sync_point"})),
    Fault("alloc_in_loop", frozenset({"alloc_in_loop"})),
    Fault("tiny_kernels", frozenset({"cuda_graph", "launch_bound"})),
    Fault("strided_access", frozenset({"uncoalesced"}), kernel="sum_masses"),
    Fault("bank_conflicts", frozenset({"bank_conflicts"}), kernel="read_shared"),
    Fault("fp32_products", frozenset({"fp32_products"}), script="products", steps=1000),
    Fault("misaligned_products", frozenset({"misaligned_products"}), script="products", steps=1000),
    Fault("one_block_too_many", frozenset({"tail"}), kernel="whole_sm_fma"),
    Fault("low_occupancy", frozenset({"low_occupancy"}), kernel="chase_rows"),
    Fault("serialized_streams", frozenset({"serialized_streams", "default_stream"})),
    Fault("late_loader", frozenset({"late_module_load"}), is_once=True),
)


# The faults of planted/frameworks.py, with the rules that say of them what they are.
FRAMEWORK_FAULTS = {
    "hand_attention": {"unfused_attention"},
    "nchw_convolutions": {"layout_conversion"},
    "repeated_cast": {"repeated_cast"},
    "odd_vocabulary": {"misaligned_products"},
    "growing_cat": {"data_movement"},
    "layer_norm_by_hand": {"fusible_chain"},
    "fp64_chain": {"fp64_elementwise"},
    "same_input_products": {"products_in_a_row"},
    "scatter_into_four": {"atomic_adds"},
    "masked_loss": {"boolean_mask"},
    "index_by_arange": {"data_movement"},
    "transposed_weights": {"layout_conversion"},
    "rotary_in_each_layer": {"fusible_chain"},
    "one_hot_embedding": {"repeated_cast"},
    "sort_for_best": {"sort_in_step"},
    "padded_batch": {"padded_batch"},
    "loader_on_main": {"gpu_idle"},
    "unfused_optimizer": {"unfused_optimizer"},
    "clip_with_item": {"sync_point"},
    "pageable_big_copy": {"pageable_copy"},
    "eager_decoding": {"cuda_graph", "launch_bound"},
    "small_batch": {"small_batch"},
    "cudnn_benchmark_sizes": {"library_tuning"},
    "logits_to_host": {"work_on_host"},
    "pinned_in_each_step": {"alloc_in_loop"},
    "noise_from_cpu": {"gpu_idle"},
}


@dataclasses.dataclass(frozen=True)
class Finding:
    rule: str
    low_ns: float
    high_ns: float
    of_window: float  # at most, as a fraction
    range: str
    kernel: str
    of_window_low: float = 0.0
    condition: str = ""  # what the gain takes for granted

    def __str__(self):
        where = f" on {self.kernel[:40]}" if self.kernel else f" in {self.range[:40]}" if self.range else ""
        return f"{self.rule}{where}, {self.low_ns / 1e6:.1f} to {self.high_ns / 1e6:.1f} ms ({100 * self.of_window:.1f} %)"


@dataclasses.dataclass(frozen=True)
class Advice:
    findings: list  # as printed: the greatest gain first
    ledger: dict  # {bucket: ns}, all GPUs together
    not_looked_at: list  # names of rules


def read_advice(text):
    """What `gpuprof analyze -f json` printed. All that is known of its form is here."""
    document = json.loads(text)
    findings = []
    for one in document["findings"]:
        gain, where = one["potential_gain_ms"], one["where"]
        findings.append(Finding(one["rule"], 1e6 * gain["low"], 1e6 * gain["high"], one["of_window"]["high"], where["range"] or "", where["kernel"] or "",
                                one["of_window"]["low"], one["condition"]))
    return Advice(findings, read_ledger(document["ledger"]), [one["rule"] for one in document["not_looked_at"]])


def read_ledger(lines):
    """{bucket: ns} of all GPUs. A line is a bucket of a GPU."""
    times = {}
    for line in lines:
        times[line["bucket"]] = times.get(line["bucket"], 0) + line["ns"]
    return times


@dataclasses.dataclass(frozen=True)
class Judgment:
    text: str
    is_named: bool = False
    is_within: bool = False

    @property
    def is_met(self):
        return self.is_named and self.is_within


def judge_fault(fault, advice, won_ns, error_ns=0):
    """Whether the first finding names the fault, and what the mend won, as exactly as it is known, lies in its interval."""
    won = f"the mend won {won_ns / 1e6:.1f} ms" + (f" +- {error_ns / 1e6:.1f}" if error_ns else "")
    if not advice.findings:
        looked = f", not looked at: {', '.join(sorted(fault.rules & set(advice.not_looked_at)))}" if fault.rules & set(advice.not_looked_at) else ""
        return Judgment(f"nothing is found{looked}; {won}")
    first = advice.findings[0]
    named = names(fault, first)
    later = next((one for one in advice.findings if names(fault, one)), None)
    judged = first if named else later
    text = str(first) if named else f"first is {first}; {f'later {later}' if later else 'the fault is not found'}"
    within = judged is not None and judged.low_ns - error_ns <= won_ns <= judged.high_ns + error_ns
    return Judgment(f"{text}; {won}", named, within)


def names(fault, finding):
    return finding.rule in fault.rules and fault.kernel in finding.kernel


@dataclasses.dataclass(frozen=True)
class ShareJudgment:
    """What analyze says of a program of which the share of a step that the fix saves is known."""

    text: str
    rank: int = 0  # of the first finding that names the fault, from 1; 0 if there is none
    is_within: bool = False


def judge_share(rules, advice, won):
    """won: the share of a step that the fix saved, 0 to 1."""
    rank = next((number for number, one in enumerate(advice.findings, 1) if one.rule in rules), 0)
    saved = f"the fix saved {100 * won:.1f} %"
    if not rank:
        first = f"first is {share_of(advice.findings[0])}" if advice.findings else "nothing is found"
        return ShareJudgment(f"not named, {first}; {saved}")
    named = advice.findings[rank - 1]
    before = "" if rank == 1 else f"finding {rank}, after {advice.findings[0].rule}: "
    return ShareJudgment(f"{before}{share_of(named)}; {saved}", rank, named.of_window_low <= won <= named.of_window)


def share_of(finding):
    return f"{finding.rule}, {100 * finding.of_window_low:.1f} to {100 * finding.of_window:.1f} % of the steps"


def summary_of_shares(judgments):
    """(measured, whether 31 of 34 are named among the first two and nine of ten gains hold)"""
    judgments = list(judgments)
    first, second, within = (sum(map(test, judgments)) for test in (lambda one: one.rank == 1, lambda one: one.rank in (1, 2), lambda one: one.is_within))
    text = f"of {len(judgments)} programs {first} are named first, {second} among the first two; {within} gains hold"
    return text, second >= len(judgments) * 31 / 34 and within >= 0.9 * len(judgments)


def judge_mended(fault, advice):
    """Findings of the fault's kind that the mended twin should not have."""
    return [str(one) for one in advice.findings if one.rule in fault.rules and one.of_window > ABOVE]


def judge_good(advice):
    return [str(one) for one in advice.findings if one.of_window > ABOVE]


def summary(judgments):
    """Over all faults: (measured, whether the goal is met): each is named, ten of twelve gains hold."""
    named, within = (sum(getattr(one, what) for one in judgments) for what in ("is_named", "is_within"))
    needed = len(judgments) * 10 / 12
    return f"{named} of {len(judgments)} named first; the gain holds in {within}", named == len(judgments) and within >= needed


BUSY = ("compute", "compute_and_communication", "communication", "transfer")


def busy_of(ledger):
    return sum(ledger.get(bucket, 0) for bucket in BUSY)


def union_ns(intervals, begin, end):
    """How much of begin..end the intervals cover."""
    covered, until = 0, begin
    for start, stop in sorted(intervals):
        start, stop = max(start, until), min(stop, end)
        if stop > start:
            covered += stop - start
            until = stop
    return covered


def busy_of_tables(folder):
    """(busy ns, window ns) of the CSV export of a capture of one GPU: nothing here is gpuprof's arithmetic."""
    folder = pathlib.Path(folder)
    intervals = []
    for table in ("kernel", "copy", "memset", "graph"):
        intervals += [(int(line["start"]), int(line["start"]) + int(line["duration"])) for line in rows_of(folder / f"{table}.csv")]
    # A window has a row when it opens, without its end, and another when it closes: the later one holds.
    windows = {line["index"]: (int(line["start"]), int(line["end"])) for line in rows_of(folder / "window.csv")}
    busy = whole = 0
    for begin, end in windows.values():
        end = end or max(stop for _, stop in intervals)
        busy += union_ns(intervals, begin, end)
        whole += end - begin
    return busy, whole


def rows_of(path):
    if not path.exists():
        return []
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


# Buckets that a planted wait may be in, by what gpu_planted known_waits calls it.
CAUSES = {"sync": ("synchronization",), "cpu": ("cpu_work", "data_loading", "between_steps"), "dependency": ("dependency",)}


def judge_waits(ledger, planted_ns):
    """[(cause, found ns, planted ns, whether it is within 2 %)]"""
    found = {cause: sum(ledger.get(bucket, 0) for bucket in buckets) for cause, buckets in CAUSES.items()}
    return [(cause, found[cause], planted, abs(found[cause] / planted - 1) <= 0.02) for cause, planted in planted_ns.items()]


def judge_clock(comparison):
    """(what `gpuprof compare -f json` says of the kernel of both sides that takes longest, whether most of its change is told as clock and the rest as noise)"""
    both = [line for line in comparison["lines"] if line["kind"] == "kernel" and line["base_call_ns"] and line["new_call_ns"]]
    if not both:
        return "no kernel is in both", False
    line = max(both, key=lambda one: next(ns for name, ns in one.items() if name.startswith("base_total_ns")))
    what, by_clock = f"{line['name'][:40]} {100 * line['change']:+.1f} %", line["by_clock"]
    if by_clock is None:
        return f"{what}, its clock is not known", False
    return f"{what}, of which {100 * by_clock:+.1f} % clock: {line['verdict']}", by_clock >= max(0.03, line["change"] / 2) and line["verdict"] != "worse"

# SPDX-License-Identifier: Apache-2.0
"""Runs all analyses of HolisticTraceAnalysis on a folder of traces, one a rank, and writes what they say as JSON.

hta_analyses.py FOLDER RANGE OPERATOR SCRATCH: of RANGE the critical path is wanted, of OPERATOR its sequences of kernels; SCRATCH/said.json
is the answer. What an analysis raises is its result, as {"raised": text}.
"""
import json
import logging
import pathlib
import sys
import warnings

warnings.simplefilter("ignore")
logging.disable(logging.WARNING)

from hta.common.trace_parser import parse_trace_dataframe  # noqa: E402
from hta.configs.parser_config import ParserConfig  # noqa: E402
from hta.trace_analysis import TraceAnalysis  # noqa: E402
from hta.trace_diff import TraceDiff  # noqa: E402
from hta.utils.validate_trace import validate_trace_format  # noqa: E402

FOLDER, RANGE, OPERATOR, SCRATCH = sys.argv[1:5]
LEVELS = ("minimal", "standard", "complete")


def loaded():
    return TraceAnalysis(trace_dir=FOLDER, include_last_profiler_step=True)


def rows(frame):
    return None if frame is None else json.loads(frame.reset_index().to_json(orient="records"))


def gpu_work(file):
    """Count and nanoseconds by category and name, as HTA's frame has them."""
    _, frame, symbols = parse_trace_dataframe(str(file), ParserConfig())
    names = symbols.get_sym_table()
    frame["category"], frame["text"] = [names[i] for i in frame.cat], [names[i] for i in frame.name]
    frame["ns"] = (frame.dur * 1000).round().astype("int64")
    return rows(frame[frame.stream >= 0].groupby(["category", "text"]).ns.agg(["count", "sum"]))


def critical_path(analysis, rank):
    graph, success = analysis.critical_path_analysis(rank=rank, annotation=RANGE, instance_id=0)
    analysis.overlay_critical_path_analysis(rank, graph, output_dir=SCRATCH)
    return {"success": success, "of": {str(k): v for k, v in graph.summary().items()}}


def analyses(analysis, ranks):
    first = ranks[0]
    yield "temporal", lambda: rows(analysis.get_temporal_breakdown(visualize=False))
    yield "idle", lambda: rows(analysis.get_idle_time_breakdown(ranks=ranks, visualize=False)[0])
    yield "overlap", lambda: rows(analysis.get_comm_comp_overlap(visualize=False))
    yield "kernel_types", lambda: rows(analysis.get_gpu_kernel_breakdown(visualize=False)[0])
    yield "gpu_annotations", lambda: rows(analysis.get_gpu_user_annotation_breakdown(use_gpu_annotation=True, visualize=False))
    yield "annotations", lambda: rows(analysis.get_gpu_user_annotation_breakdown(use_gpu_annotation=False, visualize=False))
    yield "annotated_kernels", lambda: rows(analysis.get_gpu_kernels_with_user_annotations(first)[["s_name", "s_user_annotation"]])
    yield "steps", lambda: [int(s) for s in analysis.get_profiler_steps()]
    yield "stragglers", lambda: [int(r) for r in analysis.get_potential_stragglers()]
    yield "launches", lambda: {r: rows(f) for r, f in analysis.get_cuda_kernel_launch_stats(ranks=ranks, visualize=False).items()}
    yield "queue", lambda: rows(analysis.get_queue_length_summary(ranks=ranks).droplevel(0, axis=1))
    yield "blocked", lambda: rows(analysis.get_time_spent_blocked_on_full_queue(analysis.get_queue_length_time_series(ranks=ranks)))
    yield "bandwidth", lambda: rows(analysis.get_memory_bw_summary(ranks=ranks).droplevel(0, axis=1))
    yield "bandwidth_series", lambda: {r: len(f) for r, f in analysis.get_memory_bw_time_series(ranks=ranks).items()}
    yield "operators", lambda: {r: len(f) for r, f in analysis.get_aten_op_kernels_and_delay(ranks=ranks).items()}
    yield "critical_path", lambda: critical_path(analysis, first)
    # These change the frames that others read.
    yield "sequences", lambda: rows(loaded().get_frequent_cuda_kernel_sequences(OPERATOR, output_dir=SCRATCH, min_pattern_len=2, visualize=False))
    # With several ranks at once HTA looks up launches of one in the calls of another.
    yield "counters", lambda: {r: rows(f.drop(columns="op_stack")) for r in ranks for f in loaded().get_cupti_counter_data_with_operators(ranks=[r])}
    yield "difference", lambda: rows(TraceDiff.compare_traces(loaded().t, loaded().t)) if len(ranks) > 1 else None
    # Last: it writes into the folder.
    yield "with_counters", lambda: analysis.generate_trace_with_counters(ranks=[first])


def result_of(analysis):
    try:
        return analysis()
    except Exception as failure:  # whatever it is, it is the answer
        return {"raised": f"{type(failure).__name__}: {failure}"}


def main():
    files = sorted(pathlib.Path(FOLDER).glob("*.json*"))
    said = {"valid": {f.name: [validate_trace_format(str(f), level)[0] for level in LEVELS] for f in files},
            "gpu_work": {f.name: gpu_work(f) for f in files}}
    analysis = loaded()
    ranks = analysis.t.get_ranks()
    said["ranks"] = [int(r) for r in ranks]
    said.update((name, result_of(what)) for name, what in analyses(analysis, ranks))
    pathlib.Path(SCRATCH, "said.json").write_text(json.dumps(said, default=str))


if __name__ == "__main__":
    main()

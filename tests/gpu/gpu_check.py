#!/usr/bin/env python3
"""Runs the GPU suite and the cost measurements on the GPU at hand, and prints one table last. Exit code 1 when a goal is missed."""

import argparse
import pathlib
import sys
import traceback

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import correctness  # noqa: E402
import cost  # noqa: E402
import counters  # noqa: E402
import harness  # noqa: E402
import peaks  # noqa: E402
import sampling  # noqa: E402


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", help="comma-separated names of checks", default="")
    parser.add_argument("--times", type=int, default=5, help="runs of each program in a cost measurement (default 5)")
    parser.add_argument("--no-cost", action="store_true", help="correctness only")
    arguments = parser.parse_args()
    wanted = set(filter(None, arguments.only.split(",")))

    checks = [(f"{c.__name__}", c, ()) for c in correctness.ALL]
    checks += [(f"peaks_{c.__name__}", c, ()) for c in peaks.ALL]
    checks += [(f"counters_{c.__name__}", c, ()) for c in counters.ALL]
    checks += [(f"counters_{c.__name__}", c, ()) for c in sampling.ALL]
    if not arguments.no_cost:
        checks += [(f"cost_{c.__name__}", c, (arguments.times,)) for c in cost.ALL]
    for name, check, extra in checks:
        if wanted and name not in wanted:
            continue
        print(f"{name}:", flush=True)
        try:
            check(*extra)
        except Exception as e:  # one check that breaks must not hide the others
            traceback.print_exc()
            harness.row(name, f"{type(e).__name__}: {e}", "runs", False)
    print()
    harness.print_table()
    harness.clean_up()
    return 1 if any(r[3] == "MISSED" for r in harness.rows) else 0


if __name__ == "__main__":
    sys.exit(main())

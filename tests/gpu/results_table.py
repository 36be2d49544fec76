#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints rows of gpu-check as a table of a documentation page: results_table.py ROWS.json [PATTERN...]"""

import fnmatch
import json
import pathlib
import sys


def table(results, patterns):
    """Lines of Markdown: the rows whose name one of the patterns fits, with whatever GPU they are of."""
    cells = [["what", "goal", "measured", ""]]
    for line in results["rows"]:
        if any(fnmatch.fnmatchcase(line["check"], pattern) for pattern in patterns):
            cells.append([line[name].replace("|", "\\|") for name in ("check", "goal", "measured", "verdict")])
    rows = ["| " + " | ".join(row) + " |" for row in cells]
    return [f"On {', '.join(results['gpus']) or 'no GPU'}:", "", rows[0], "|---|---|---|---|", *rows[1:]]


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    print("\n".join(table(json.loads(pathlib.Path(sys.argv[1]).read_text()), sys.argv[2:] or ["*"])))

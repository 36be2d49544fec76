# SPDX-License-Identifier: Apache-2.0
"""Answers of the command about captures, as objects: values by name, a table where they are shown."""
import json
import subprocess
from typing import Any, Dict, Iterable, Iterator, List, NamedTuple, Optional, Sequence

from . import _files


class Row(Dict[str, Any]):
    """A row: a dict whose values are attributes as well, where their names allow it."""

    def __getattr__(self, name: str) -> Any:
        try:
            return _plain(self[name])
        except KeyError:
            raise AttributeError(f"there is no {name!r}; there are {', '.join(self)}") from None


def _shown(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:,.0f}" if abs(value) >= 1e4 else f"{value:.4g}"
    if isinstance(value, int):
        return f"{value:,}" if abs(value) < 1 << 53 else str(value)
    if isinstance(value, dict):
        return ", ".join(f"{name} {_shown(part)}" for name, part in value.items() if part not in (None, "", 0))
    if isinstance(value, (list, tuple)):
        return ", ".join(_shown(part) for part in value)
    return str(value).replace("\n", " ")


class Rows(Sequence[Row]):
    """A list of rows with the same columns; shown as a table."""

    def __init__(self, rows: Iterable[Dict[str, Any]], columns: Optional[Sequence[str]] = None) -> None:
        self._rows = [Row(row) for row in rows]
        self.columns: List[str] = list(columns) if columns is not None else list(dict.fromkeys(name for row in self._rows for name in row))

    def __len__(self) -> int:
        return len(self._rows)

    def __getitem__(self, at: Any) -> Any:
        return Rows(self._rows[at], self.columns) if isinstance(at, slice) else self._rows[at]

    def __iter__(self) -> Iterator[Row]:
        return iter(self._rows)

    def column(self, name: str) -> List[Any]:
        """All values of a column."""
        return [row[name] for row in self._rows]

    def select(self, *columns: str) -> "Rows":
        """The same rows with these columns alone."""
        return Rows(({name: row.get(name) for name in columns} for row in self._rows), columns)

    def to_pandas(self) -> Any:
        """A pandas.DataFrame."""
        import pandas  # type: ignore[import-untyped,import-not-found,unused-ignore]
        return pandas.DataFrame(self._rows, columns=self.columns)

    def _cells(self) -> List[List[str]]:
        return [[_shown(row.get(name)) for name in self.columns] for row in self._rows]

    def _are_numbers(self) -> List[bool]:
        return [all(isinstance(row.get(name), (int, float, type(None))) for row in self._rows) for name in self.columns]

    def __repr__(self) -> str:
        if not self._rows:
            return "(no rows)"
        cells, right = self._cells(), self._are_numbers()
        cells = [[cell if len(cell) <= 80 else cell[:77] + "..." for cell in row] for row in cells]
        widths = [max(map(len, column)) for column in zip(self.columns, *cells)]
        lines = [self.columns, ["-" * width for width in widths], *cells]
        return "\n".join("  ".join(cell.rjust(width) if number else cell.ljust(width) for cell, width, number in zip(line, widths, right)).rstrip()
                         for line in lines)

    def _repr_html_(self) -> str:
        from html import escape
        right = [' style="text-align:right"' if number else ' style="text-align:left"' for number in self._are_numbers()]
        head = "".join(f"<th{align}>{escape(name)}</th>" for name, align in zip(self.columns, right))
        body = "".join("<tr>" + "".join(f"<td{align}>{escape(cell)}</td>" for cell, align in zip(row, right)) + "</tr>" for row in self._cells())
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


class Answer(NamedTuple):
    """The output of the command, and how it ended."""
    answer: Any
    status: int
    said: str


def written(options: Dict[str, Any]) -> List[str]:
    """Keyword arguments as options of the command: min_gain=0.02 as --min-gain 0.02, wide=True as --wide, a list as one option each."""
    words: List[str] = []
    for name, value in options.items():
        if value is None or value is False:
            continue
        for one in value if isinstance(value, (list, tuple)) else [value]:
            words.append("--" + name.rstrip("_").replace("_", "-"))
            if one is not True:
                words.append(str(one))
    return words


def call(words: Sequence[str], may_end_with: Sequence[int] = ()) -> "subprocess.CompletedProcess[str]":
    """Runs the command.

    Raises:
        Error: it ended with another status than 0 and these; the text is what it wrote to stderr.
    """
    done = subprocess.run([_files.command(), *words], capture_output=True, text=True, errors="replace", stdin=subprocess.DEVNULL)
    if done.returncode != 0 and done.returncode not in may_end_with:
        raise _files.Error(done.stderr.strip() or f"gpuprof {words[0]} ended with {done.returncode}")
    return done


def ask(subcommand: str, paths: Sequence[str], options: Dict[str, Any], may_end_with: Sequence[int] = ()) -> Answer:
    """Asks the command about these captures, for JSON."""
    may_end_with = (1, 3) if options.get("fail_on") else may_end_with
    done = call([subcommand, *paths, "--format", "json", *written(options)], may_end_with)
    try:
        return Answer(json.loads(done.stdout), done.returncode, done.stderr.strip())
    except ValueError:  # it has nothing to say but why
        raise _files.Error(done.stderr.strip() or f"gpuprof {subcommand} wrote no JSON") from None


class _Report:
    """The JSON of the command: each member is an attribute, lists of objects as rows."""
    _shown_tables: Sequence[str] = ()

    def __init__(self, answer: Answer) -> None:
        self.json: Dict[str, Any] = answer.answer
        self.said = answer.said
        self.status = answer.status

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or name not in self.json:
            raise AttributeError(f"there is no {name!r}; there are {', '.join(self.json)}")
        return _plain(self.json[name])

    def __dir__(self) -> List[str]:
        return sorted([*super().__dir__(), *self.json])

    def _heading(self) -> List[str]:
        return []

    def _tables(self) -> Dict[str, Rows]:
        return {}

    @property
    def passed(self) -> Optional[bool]:
        """With fail_on: True if nothing fails; None if it cannot be decided."""
        return {0: True, 1: False}.get(self.status)

    def __repr__(self) -> str:
        tables = [f"{title}\n{rows!r}" for title, rows in self._tables().items() if len(rows)]
        return "\n\n".join(["\n".join(self._heading()), *tables])

    def _repr_html_(self) -> str:
        from html import escape
        heading = "".join(f"<p>{escape(line)}</p>" for line in self._heading())
        return heading + "".join(f"<h4>{escape(title)}</h4>{rows._repr_html_()}" for title, rows in self._tables().items() if len(rows))


def _plain(value: Any) -> Any:
    if isinstance(value, list) and value and all(isinstance(one, dict) for one in value):
        return Rows(value)
    return Row(value) if isinstance(value, dict) else value


class Analysis(_Report):
    """`gpuprof analyze`: ``findings`` (rule, what, where, potential_gain_ms, to_do), ``ledger`` (where the time went, ns), ``holds``,
    ``steps`` and what else docs/analyze.md has."""

    def _heading(self) -> List[str]:
        return [*self.json["heading"], (self.json.get("holds") or {}).get("sentence", "")]

    def _tables(self) -> Dict[str, Rows]:
        ledger = Rows(({"GPU": row["device"], "what": row["bucket"].replace("_", " "), "ms": row["ns"] / 1e6, "%": 100 * row["share"]}
                       for row in self.json["ledger"]))
        findings = Rows(({"saves ms": "{:.1f} to {:.1f}".format(row["potential_gain_ms"]["low"], row["potential_gain_ms"]["high"])
                          if row.get("potential_gain_ms") else "", "rule": row["rule"], "what": row["what"],
                          "where": _shown(row.get("where") or {}), "to do": row["to_do"]} for row in self.json["findings"]))
        return {"where the time goes": ledger, "findings": findings}


class WhatIf(_Report):
    """`gpuprof whatif`: ``replayed_step_ns``, ``held_by`` and, with a repair, ``forecast`` (least_step_ns, greatest_step_ns, ...);
    without one ``kinds``, ``sensitivities`` and, of several captures, ``ranks``."""

    def _heading(self) -> List[str]:
        step = f"a step \"{self.json['step']}\": {self.json['replayed_step_ns'] / 1e3:,.1f} us"
        forecast = self.json.get("forecast")
        if forecast:
            step += f" -> {forecast['least_step_ns'] / 1e3:,.1f} to {forecast['greatest_step_ns'] / 1e3:,.1f} us with {' '.join(forecast['with'])}"
        return [step, *self.json["remarks"]]

    def _tables(self) -> Dict[str, Rows]:
        step = self.json["replayed_step_ns"]
        rows = [one for name in ("kinds", "ranks", "sensitivities") for one in self.json.get(name, [])]
        return {"how much shorter a step gets": Rows(
            ({"% with 10 % less": 100 * one["shorter_with_tenth_less_ns"] / step, "% without": 100 * one["shorter_without_ns"] / step,
              "us": one["time_ns"] / 1e3, "count": one["count"], "kind": one["kind"].replace("_", " "), "what": one["name"]} for one in rows))}


class Roofline(_Report):
    """`gpuprof roofline`: ``kernels`` and ``ranges`` with what each achieved: flops (FLOP/s), dram_bytes_per_second, of_roof (0 to 1) ..."""

    def _heading(self) -> List[str]:
        return list(self.json["summary"])

    def _tables(self) -> Dict[str, Rows]:
        def shown(rows: List[Dict[str, Any]]) -> Rows:
            return Rows(({"ms": row["time_ns"] / 1e6, "launches": row.get("launches"), "TFLOP/s": _in(row.get("flops"), 1e12),
                          "DRAM GB/s": _in(row.get("dram_bytes_per_second"), 1e9), "bound by": row.get("bound_by"),
                          "% of roof": _in(row.get("of_roof"), 0.01), "name": row["name"]} for row in rows))
        return {title: shown(self.json[title]) for title in ("kernels", "ranges") if self.json.get(title)}


def _in(value: Optional[float], unit: float) -> Optional[float]:
    return None if value is None else value / unit


class Comparison(_Report):
    """`gpuprof compare`: ``lines`` (kind, name, verdict, change as a share, cost_ns_per_step or, without steps,
    cost_ns_per_run), ``notes``, ``gate``; ``passed`` with fail_on."""

    @property
    def passed(self) -> Optional[bool]:
        """True if nothing of fail_on holds; None if noise is too great to tell."""
        return {0: True, 1: False}.get(self.status)

    def _heading(self) -> List[str]:
        def side(name: str) -> str:
            return f"{name}: " + ", ".join(run["capture"] for run in self.json[name])
        return [side("base"), side("new"), *self.json["notes"], *(_shown(clause) for clause in self.json["gate"])]

    def _tables(self) -> Dict[str, Rows]:
        unit = "step" if any("cost_ns_per_step" in line for line in self.json["lines"]) else "run"
        cost = f"cost_ns_per_{unit}"
        wanted = sorted(self.json["lines"], key=lambda line: -abs(line.get(cost) or 0))
        return {f"per {unit}": Rows(({"us more": _in(line.get(cost), 1e3), "change %": _in(line["change"], 0.01), "verdict": line["verdict"],
                                   "kind": line["kind"], "name": line["name"]} for line in wanted[:20]))}

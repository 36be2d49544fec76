# SPDX-License-Identifier: Apache-2.0
"""Imports a file and looks at the capture, through `gpuprof stats` and the raw tables of `gpuprof export`."""
import json

import processes

main = processes.main


class Case(processes.Case):
    def gpuprof(self, *words, **how):
        return self.run_program(processes.path("BUILT_GPUPROF"), *words, **how)

    def run_import(self, file, *options, **how):
        return self.gpuprof("import", file, "-o", self.folder / "out", *options, **how)

    def imported(self, file, *options, notes=()):
        """The capture; what is said on stderr is where it was written to, and one line for each of `notes`."""
        run = self.run_import(file, *options)
        self.assertEqual((run.code, run.out), (0, ""), run.err)
        lines = run.err.splitlines()
        self.assertEqual(len(lines), 1 + len(notes), run.err)
        for words in notes:
            self.assertTrue(any(words in line for line in lines), (words, run.err))
        self.assertIn("gpuprof: wrote ", lines[-1])
        self.assertEqual([f.name for f in self.folder.iterdir() if "unfinished" in f.name], [])
        return self.folder / "out.gpuprof"

    def refused(self, file, words, *options, code=1):
        """Nothing is written, and one line says why."""
        run = self.run_import(file, *options)
        self.assertEqual((run.code, run.out), (code, ""), run.err)
        self.assertIn(words, run.err)
        self.assertEqual(run.err.count("\n"), 1, run.err)
        self.assertEqual([f.name for f in self.folder.iterdir() if "gpuprof" in f.suffix or "unfinished" in f.name], [])

    def report(self, name, capture, *options):
        run = self.gpuprof("stats", "-r", name, "-f", "json", *options, capture)
        self.assertEqual(run.code, 0, run.err)
        return json.loads(run.out[run.out.index("["):]) if "[" in run.out else []

    def by_name(self, name, capture, column="Name"):
        return {row[column]: row for row in self.report(name, capture)}

    def overview(self, capture):
        return self.gpuprof("stats", "-r", "cuda_gpu_kern_sum", capture).out

    def tables(self, capture):
        """Rows of every table as dictionaries, names in place of numbers."""
        out = self.folder / "raw.json"
        run = self.gpuprof("export", capture, "--type", "json", "-o", out, "--force-overwrite")
        self.assertEqual(run.code, 0, run.err)
        document = json.loads(out.read_text(encoding="utf-8"))
        made = {}
        for name, table in document["tables"].items():
            heads = [column["name"] for column in table["columns"]]
            made[name] = [{head: int(value) if column["type"] in ("i64", "u64") else value
                           for head, column, value in zip(heads, table["columns"], row)} for row in table["rows"]]
        return made

    def facts(self, capture):
        return {row["key"]: row["value"] for row in self.tables(capture)["fact"]}

# SPDX-License-Identifier: Apache-2.0
"""Every recipe of docs/python.md runs as it stands there, and the examples say what they miss."""
import re
import shutil

import package

PAGE = package.SOURCE / "docs/python.md"
# The reader has a model and its data.
PRELUDE = """
from played import play
train_one_epoch = play
loader = range(6)
def train(batch):
    if batch == 2: play()
"""


def recipes():
    """{number: (title, code)}"""
    found = re.findall(r"^## (\d+)\. (.*?)\n(.*?)(?=^## )", PAGE.read_text(), re.M | re.S)
    return {int(number): (title, re.search(r"```python\n(.*?)```", text, re.S)[1]) for number, title, text in found}


class Recipes(package.Case):
    def setUp(self):
        super().setUp()
        for name in ("run.gpuprof", "other.gpuprof"):
            shutil.copy(package.DATA / "h200/counted_auto.gpuprof", self.folder / name)
        shutil.copytree(package.DATA / "h100", self.folder / "job", ignore=shutil.ignore_patterns("*.md"))

    def recipe(self, number, expected=0):
        title, code = recipes()[number]
        if 'profile("run.gpuprof"' in code:
            (self.folder / "run.gpuprof").unlink()
        return self.python(PRELUDE + code, code_expected=expected)

    def test_the_page_has_ten_recipes(self):
        self.assertEqual(sorted(recipes()), list(range(1, 11)))

    def test_recipe_1_records_a_part_of_a_program(self):
        self.assertIn("even(float*, int)", self.recipe(1).out)

    def test_recipe_2_records_steps(self):
        self.assertEqual(len(re.findall(r"^step \d \d[\d.]* ms$", self.recipe(2).out, re.M)), 3)

    def test_recipe_3_names_parts_of_a_program(self):
        self.assertRegex(self.recipe(3).out, r"forward\n(.*\n)*.*load|load\n(.*\n)*.*forward")

    def test_recipe_4_reports_what_limits_the_program(self):
        self.assertIn("gpu_idle 198.682333 ms at most: Look in a timeline", self.recipe(4).out)

    @package.needs("pandas")
    def test_recipe_5_makes_a_data_frame(self):
        self.assertRegex(self.recipe(5).out, r"counted_copy +1500 +1628138954")

    def test_recipe_6_compares_captures(self):
        self.assertRegex(self.recipe(6).out, r"us more +change % +verdict +kind +name")

    def test_recipe_7_reads_ranks(self):
        self.assertEqual(self.recipe(7).out.splitlines(), ["0 172.968242 ms", "1 54.387873 ms", "[]"])

    def test_recipe_8_watches_a_running_program(self):
        # Five are of a CUDA graph: while the program runs these come 1.5 s later.
        self.assertRegex(self.recipe(8).out, r"^20[05] kernels so far")

    def test_recipe_9_keeps_a_script_written_for_torch_profiler(self):
        self.assertIn("Self CUDA time total: 206.000us", self.recipe(9).out)

    @package.needs("pytest")
    def test_recipe_10_limits_the_cost_of_a_test(self):
        (self.folder / "test_it.py").write_text(PRELUDE + recipes()[10][1])
        run = self.python("import pytest; sys.exit(pytest.main(['-p', 'libgpuprof.pytest_plugin', '-p', 'no:cacheprovider', '-q', '--gpuprof', 'test_it.py']))")
        self.assertRegex(run.out, r"0.205 ms +205 launches  test_it.py::test_forward")

    def test_every_link_leads_somewhere(self):
        for link in re.findall(r"\]\(([^)#:]+)", PAGE.read_text()):
            self.assertTrue((PAGE.parent / link).exists(), link)


class Examples(package.Case):
    def test_examples_compile_and_report_missing_packages(self):
        for name, library in (("python_torch_training.py", "torch"), ("python_jax_step.py", "jax"), ("python_cupy_ranges.py", "cupy")):
            with self.subTest(name):
                script = package.SOURCE / "examples" / name
                compile(script.read_text(), name, "exec")
                run = self.run_program(package.PYTHON, script, env={"PYTHONPATH": str(self.site), "PYTHONDONTWRITEBYTECODE": "1", "CUDA_VISIBLE_DEVICES": ""})
                self.assertIn(run.code, (1, 77), run.err)
                self.assertIn(name.removesuffix(".py") + ": ", run.err)

# SPDX-License-Identifier: Apache-2.0
"""The pytest plugin, the Jupyter magic, and the type hints."""
import subprocess
import textwrap

import package


class Pytest(package.Case):
    def setUp(self):
        super().setUp()
        if not package.has("pytest"):
            self.skipTest(f"{package.PYTHON} has no pytest")

    def pytest(self, tests, *options, expected=0):
        (self.folder / "test_it.py").write_text("import pytest\nfrom played import play\n" + textwrap.dedent(tests))
        run = self.python("import pytest; sys.exit(pytest.main(['-p', 'libgpuprof.pytest_plugin', '-p', 'no:cacheprovider', '-q', *sys.argv[1:]]))",
                          *options, code_expected=expected)
        return run.out + run.err

    def test_limits_and_figures(self):
        out = self.pytest("""
            @pytest.mark.gpuprof(max_launches=205, max_gpu_ms=1)
            def test_within(): play()
            @pytest.mark.gpuprof(max_launches=10)
            def test_too_many(): pass
            def test_figures(gpuprof):
                figures = gpuprof(play)
                assert (figures.value, figures.launches, figures.recorded) == (205, 205, True), figures
                assert 0.2 < figures.gpu_ms < 0.3 and figures.copies > 0 and figures.copied_bytes > 0
                assert gpuprof(len, [1]).launches == 0
            """)
        self.assertIn("3 passed", out)

    def test_a_test_that_exceeds_its_limit_fails(self):
        out = self.pytest("""
            @pytest.mark.gpuprof(max_launches=200, max_gpu_ms=0.1)
            def test_more(): play()
            """, expected=1)
        self.assertIn("0.205 ms of the GPU, max_gpu_ms is 0.1; 205 launches, max_launches is 200", out)
        self.assertIn("1 failed", out)

    def test_a_mark_with_an_unknown_limit_is_an_error(self):
        self.assertIn("the mark gpuprof has no max_kernels; it has max_gpu_ms", self.pytest("""
            @pytest.mark.gpuprof(max_kernels=1)
            def test_it(): pass
            """, expected=4))

    def test_without_a_mark_or_option_the_library_is_not_loaded(self):
        self.assertIn("1 passed", self.pytest("""
            def test_it():
                import libgpuprof
                assert libgpuprof.status().library == ""
            """))

    def test_captures_of_tests_are_saved_and_compared(self):
        tests = """
            def test_it(): play()
            """
        out = self.pytest(tests, "--gpuprof-save", "base")
        self.assertIn("0.205 ms        205 launches  test_it.py::test_it", out)
        self.assertTrue((self.folder / "base/tests.gpuprof").exists())
        out = self.pytest(tests, "--gpuprof-against", "base")
        self.assertRegex(out, "compared with base: (not worse|cannot be decided)")
        self.assertIn("name another folder", self.python(
            "import pytest; sys.exit(pytest.main(['-p', 'libgpuprof.pytest_plugin', '--gpuprof-save', 'base', '--gpuprof-against', 'base']))",
            code_expected=4).err)
        out = self.pytest("def test_it(): pass", "--gpuprof-against", "none", expected=1)
        self.assertIn("gpuprof", out)


class Jupyter(package.Case):
    @package.needs("IPython")
    def test_a_notebook_cell_shows_what_it_recorded(self):
        found = self.lines("""
            from IPython.core.interactiveshell import InteractiveShell
            shell = InteractiveShell.instance()
            shell.run_line_magic("load_ext", "libgpuprof")
            shell.user_ns["play"] = play
            first = shell.run_cell_magic("gpuprof", "-o cell", "x = 1; _ = play()")
            print(shell.user_ns["x"], first.reports["kernels"][0]["Instances"], "<table>" in first._repr_html_())
            second = shell.run_cell_magic("gpuprof", "-r kernels,analyze --page", "y = 2")
            print(second.reports["kernels"])
            html = second._repr_html_()
            print()
            print(html.count("<iframe sandbox"), "allow-same-origin" in html, "&lt;script" in html)
            for line in ("-r none", "--none"):
                try: shell.run_cell_magic("gpuprof", line, "pass")
                except ValueError as why: print(why)
            """)
        self.assertEqual(found[0], "1 100 True")
        self.assertEqual(found[-3:], ["1 False True", "%%gpuprof: no report none; there are kernels, ranges, copies, calls, analyze, roofline", "%%gpuprof: unknown --none; it takes [-r REPORT,...] [--metrics auto] [-o FILE] [--page [--height PIXELS]]"])


class Types(package.Case):
    @package.needs("mypy")
    def test_mypy_agrees(self):
        run = subprocess.run([package.PYTHON, "-m", "mypy", "--strict", "--python-version", "3.10", "--cache-dir", self.folder / "mypy",
                              "--exclude", r"(_command|__main__)\.py$", package.MODULES],
                             capture_output=True, text=True)
        self.assertEqual(run.returncode, 0, run.stdout)

    @package.needs("mypy")
    def test_users_of_the_package_see_its_types(self):
        (self.folder / "uses.py").write_text(textwrap.dedent("""
            import libgpuprof as gp
            with gp.profile("run", metrics="auto", schedule=gp.schedule(wait=1)) as prof:
                with gp.range("a", flops=1):
                    prof.step()
            reveal_type(gp.open("run").kernels)
            reveal_type(gp.totals())
            gp.range(3)
            """))
        run = subprocess.run([package.PYTHON, "-m", "mypy", "--cache-dir", self.folder / "mypy", "uses.py"], capture_output=True, text=True, cwd=self.folder,
                             env={"MYPYPATH": str(self.site), "PATH": "/usr/bin:/bin"})
        self.assertIn('Revealed type is "libgpuprof.captures.Table"', run.stdout)
        self.assertIn('Argument 1 to "range" has incompatible type "int"; expected "str"', run.stdout)
        self.assertIn("Found 1 error", run.stdout, run.stdout)

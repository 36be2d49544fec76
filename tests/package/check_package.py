#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Builds and runs the consumer project against a build tree or an installed tree.

check_package.py CMAKE BUILD_TREE build      against the build tree
check_package.py CMAKE BUILD_TREE install    against an installed tree that was moved afterwards
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

CONSUMER = pathlib.Path(__file__).resolve().parent / "consumer"


def run(*command, **more):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, **more)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))} failed:\n{done.stdout}{done.stderr}")
    return done.stdout


def run_whatever_its_end(*command, **more):
    return subprocess.run([str(word) for word in command], capture_output=True, text=True, **more).stdout


def without_ours():
    return {name: value for name, value in os.environ.items()
            if name != "LD_PRELOAD" and not name.startswith("GPUPROF_")}


def build_and_run_consumer(cmake, prefix, folder):
    run(cmake, "-S", CONSUMER, "-B", folder, f"-DCMAKE_PREFIX_PATH={prefix}", "-G", "Ninja",
        *os.environ.get("GPUPROF_CONSUMER_FLAGS", "").split())
    run(cmake, "--build", folder)
    names = run("nm", "-D", "-u", folder / "linked")
    if "dlsym" in names or "cupti" in names:
        sys.exit(f"the linked program asks for {names}")
    version = run(folder / "linked", env=without_ours(), cwd=folder)
    if not version.startswith("0."):
        sys.exit(f"the linked program printed {version!r}")
    run(folder / "marked", env=without_ours(), cwd=folder)
    for program in ("reading", "tables"):
        said = run(folder / program, env=without_ours(), cwd=folder)
        if "none.gpuprof" not in said:
            sys.exit(f"the program {program!r}, which reads captures, printed {said!r}")


def check_installed_tree(prefix):
    """The command finds its library where the tree was moved to."""
    gpuprof = prefix / "bin" / "gpuprof"
    told = run_whatever_its_end(gpuprof, "profile", "sh", "-c", "echo $LD_PRELOAD", env=without_ours(), cwd=prefix)
    if not told.startswith(str(prefix)) or not told.endswith("libgpuprof_preload.so\n"):
        sys.exit(f"gpuprof profile preloads {told!r}, not the library in {prefix}")
    # It finds the other library beside it. A program that is linked gets none of its names.
    environment = {**without_ours(), "LD_PRELOAD": told.strip()}
    mapped = run_whatever_its_end("cat", "/proc/self/maps", env=environment, cwd=prefix)
    if str(pathlib.Path(told.strip()).parent / "libgpuprof.so.") not in mapped:
        sys.exit(f"{told.strip()} does not bring libgpuprof.so:\n{mapped}")
    for name in ("share/man/man1/gpuprof.1", "share/bash-completion/completions/gpuprof",
                 "share/zsh/site-functions/_gpuprof", "share/fish/vendor_completions.d/gpuprof.fish"):
        if not (prefix / name).is_file():
            sys.exit(f"{name} was not installed")
    for name in ("LICENSE", "README.md", "CHANGELOG.md", "docs/export/capture.schema.json", "docs/analyze.schema.json"):
        if not (prefix / "share/doc/gpuprof" / name).is_file():
            sys.exit(f"{name} was not installed")
    check_links(prefix / "share/doc/gpuprof")
    if (prefix / "libexec/gpuprof/demo").is_dir():  # not under sanitizers
        said = run(gpuprof, "demo", env=without_ours(), cwd=prefix)
        if not said.startswith("This is a recorded session of ") or "lost: nothing" not in said or not (prefix / "gpuprof-demo.html").is_file():
            sys.exit(f"gpuprof demo printed {said!r}")


def check_links(folder):
    """Every link of a page to a file leads to one."""
    pages = sorted(folder.rglob("*.md"))
    links = [(page, link) for page in pages for link in re.findall(r"\]\(([^)#\s]+)[^)]*\)", page.read_text())
             if not re.match("[a-z]+:", link)]
    broken = [f"{page.relative_to(folder)}: {link}" for page, link in links if not (page.parent / link).exists()]
    if broken or len(links) < 20:
        sys.exit(f"{len(links)} links, of which lead nowhere: {broken}")


def main(cmake, build_tree, kind):
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name).resolve()
        prefix = pathlib.Path(build_tree)
        if kind == "install":
            run(cmake, "--install", build_tree, "--prefix", folder / "first")
            prefix = (folder / "first").rename(folder / "moved")
            check_installed_tree(prefix)
        build_and_run_consumer(cmake, prefix, folder / "build")
    print(f"the consumer works against the {kind} tree")


if __name__ == "__main__":
    main(*sys.argv[1:])

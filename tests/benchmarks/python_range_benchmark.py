#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures what the Python package costs: its import, ranges outside and inside of a capture, tables of a large capture.

  python_range_benchmark.py [CAPTURE]        with libgpuprof installed, or on PYTHONPATH

Prints the best of many rounds, in ns: other programs on the machine make single rounds slower.
"""
import os
import subprocess
import sys
import sysconfig
import tempfile
import time
import timeit


def best(code, names, rounds=40, number=3000, between=lambda: None):
    found = []
    for _ in range(rounds):
        between()
        found.append(timeit.timeit(code, globals=names, number=number) / number * 1e9)
    return min(found)


EMPTY = r"""
#define Py_LIMITED_API 0x030a0000
#include <Python.h>
static PyObject* enter(PyObject* self, PyObject* unused) { Py_INCREF(self); return self; }
static PyObject* leave(PyObject* self, PyObject* const* words, Py_ssize_t count) { Py_RETURN_NONE; }
static PyMethodDef methods[] = {{"__enter__", enter, METH_NOARGS, ""}, {"__exit__", (PyCFunction)(void (*)(void))leave, METH_FASTCALL, ""}, {0}};
static PyType_Slot slots[] = {{Py_tp_new, PyType_GenericNew}, {Py_tp_methods, methods}, {0, 0}};
static PyType_Spec spec = {"empty.Empty", sizeof(PyObject), 0, Py_TPFLAGS_DEFAULT, slots};
static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT, "empty", 0, -1, 0};
PyMODINIT_FUNC PyInit_empty(void) {
  PyObject* module = PyModule_Create(&definition);
  PyModule_AddObject(module, "Empty", PyType_FromSpec(&spec));
  return module;
}
"""


def floor(folder):
    """Measures `with` on an object whose __enter__ and __exit__ are C and do nothing. Needs a compiler and the headers of Python."""
    source = os.path.join(folder, "empty.c")
    with open(source, "w") as file:
        file.write(EMPTY)
    command = ["cc", "-O2", "-w", "-shared", "-fPIC", "-I" + sysconfig.get_path("include"), source, "-o", os.path.join(folder, "empty.abi3.so")]
    try:
        subprocess.run(command, check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        print("nothing at all: not measured, cc or Python.h is missing")
        return
    sys.path.insert(0, folder)
    import empty
    print(f"{'nothing at all':20} {'with, empty in C':22} {best('with it: pass', {'it': empty.Empty()}) - best('pass', {}):8.0f} ns")


def rows(where, gp, between=lambda: None):
    names = {"kept": gp.range("kept"), "declared": gp.range("declared", flops=1e9), "range": gp.range}
    loop = best("pass", {})
    for title, code in (("kept", "with kept: pass"), ("kept, with work", "with declared: pass"), ("made each time", "with range('x'): pass"),
                        ("enter and exit alone", "enter(); leave(None, None, None)")):
        more = {"enter": names["kept"].__enter__, "leave": names["kept"].__exit__}
        print(f"{where:20} {title:22} {best(code, {**names, **more}, between=between) - loop:8.0f} ns")


def main():
    started = "import time; t = time.perf_counter(); import libgpuprof; print(time.perf_counter() - t)"
    times = [float(subprocess.run([sys.executable, "-c", started], capture_output=True, text=True, check=True).stdout) for _ in range(10)]
    print(f"{'import':43} {min(times) * 1e3:8.1f} ms")
    import libgpuprof as gp
    rows("no capture", gp)
    with tempfile.TemporaryDirectory() as folder:
        floor(folder)
        if gp.start(os.path.join(folder, "ranges")):
            def pause():  # so that rings are empty
                gp.flush()
                time.sleep(0.02)
            rows("capture", gp, pause)
            gp.stop()
    print(gp.status().ranges)
    if len(sys.argv) > 1:
        run = gp.open(sys.argv[1])
        for title, read in (("kernels by column", lambda: run.kernels["duration"]), ("kernels to pandas", lambda: run.kernels.to_pandas())):
            try:
                print(f"{len(run.kernels):11,} {title:31} {min(timeit.repeat(read, number=1, repeat=5)):8.3f} s")
            except ImportError as why:
                print(title, why)


if __name__ == "__main__":
    main()

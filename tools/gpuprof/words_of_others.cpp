// SPDX-License-Identifier: Apache-2.0
#include "words_of_others.hpp"

#include <algorithm>
#include <cstddef>
#include <span>

namespace gpuprof::host::command {
namespace {

struct other_word {
  std::string_view word;
  std::string_view here;  // a sentence without a period
};

constexpr std::string_view about_stacks =
    "the Python stack of each launch, copy and wait is recorded anyway (--python-backtrace), and "
    "gpuprof lines shows them; --cudabacktrace all adds C and C++";
constexpr std::string_view about_threads =
    "what the threads of the program do on the CPU is looked at anyway (--sample), and gpuprof "
    "analyze and gpuprof stats -r idle_cause_sum show it; functions of C and C++ are not sampled";
constexpr std::string_view about_counters =
    "--metrics sampled reads counters of the whole GPU, every --pm-sampling-interval";
constexpr std::string_view about_memory =
    "--trace cuda,nvtx,blocking,cuda-memory records what is allocated: gpuprof lines shows it by "
    "line, and gpuprof export --type perfetto over time";
constexpr std::string_view about_libraries =
    "calls of this library are not recorded; its kernels are (cuda), and gpuprof lines shows the "
    "line that calls it";

constexpr other_word other_options[] = {
    {"backtrace", about_stacks},
    {"python-sampling", about_threads},
    {"python-sampling-frequency", about_threads},
    {"sampling-frequency", about_threads},
    {"samples-per-backtrace", about_threads},
    {"cpuctxsw", about_threads},
    {"osrt-threshold", about_threads},
    {"cuda-memory-usage", about_memory},
    {"gpu-metrics-devices", about_counters},
    {"gpu-metrics-device", about_counters},
    {"gpu-metrics-set", "--set names the metrics that are read"},
    {"gpu-metrics-frequency", "--pm-sampling-interval is the time between two samples"},
    {"section", "--set names the metrics that are read: --set explain for why a kernel is slow"},
    {"replay-mode", "no kernel is replayed: --metrics auto reads counters while the program runs"},
    {"export", "gpuprof export writes other formats of a capture: --type sqlite, perfetto, ..."},
    {"resolve-symbols", "gpuprof needs no symbols; stacks of C and C++ are not recorded"},
};

constexpr other_word other_traces[] = {
    {"python", about_stacks},
    {"python-gil",
     "waits for the GIL are seen by --sample, which is on: gpuprof stats -r idle_cause_sum"},
    {"cpu", about_threads},
    {"osrt", about_threads},
    {"pytorch", "--pytorch ops records operators"},
    {"memory", about_memory},
    {"api", "calls of CUDA are cuda-api"},
    {"gpu", "kernels and copies are cuda; counters are read by --metrics auto"},
    {"nccl", "collectives are kernels (cuda): gpuprof stats -r nccl_sum adds them up"},
    {"mpi", about_libraries},
    {"ucx", about_libraries},
    {"cublas", about_libraries},
    {"cublas-verbose", about_libraries},
    {"cudnn", about_libraries},
    {"cusolver", about_libraries},
    {"cusparse", about_libraries},
    {"cusparse-verbose", about_libraries},
};

constexpr other_word other_samplings[] = {
    {"cpu", "process looks at the threads of the program, which is the default"},
    {"process-tree", "process is that: children are profiled as the program is"},
    {"system-wide", "other programs are not looked at; process looks at this one"},
    {"python", "process looks at Python stacks, too, which is the default"},
};

constexpr std::string_view about_timelines =
    "gpuprof report writes a page with the timeline, gpuprof export --type perfetto a file for "
    "ui.perfetto.dev";
constexpr std::string_view about_recording = "gpuprof profile PROGRAM records a program";

constexpr other_word other_commands[] = {
    {"timeline", about_timelines},
    {"ui", about_timelines},
    {"view", about_timelines},
    {"trace", about_recording},
    {"record", about_recording},
    {"run", about_recording},
    {"launch", about_recording},
    {"diff", "gpuprof compare says what changed between captures"},
    {"recipe", "gpuprof export --type sqlite and --type parquet write what nsys recipe reads"},
    {"details",
     "gpuprof roofline --kernel NAME has the figures of one kernel, the page of gpuprof "
     "report all of them"},
    {"memory",
     "gpuprof lines shows which lines allocate, of captures made with --trace "
     "cuda,nvtx,blocking,cuda-memory"},
};

constexpr std::string_view about_memory_reports =
    "cuda_gpu_mem_size_sum has the bytes that copies moved; what is allocated shows in gpuprof "
    "lines, and over time in gpuprof export --type perfetto, of captures made with --trace "
    "cuda,nvtx,blocking,cuda-memory";
constexpr std::string_view about_thread_reports =
    "idle_cause_sum says what the threads did while the GPU was idle";

constexpr other_word other_reports[] = {
    {"memory", about_memory_reports},
    {"mem", about_memory_reports},
    {"cuda_memory_sum", about_memory_reports},
    {"cuda_mem_sum", about_memory_reports},
    {"osrt_sum", about_thread_reports},
    {"cpu", about_thread_reports},
    {"cpu_sum", about_thread_reports},
    {"python", "py_line_sum, py_function_sum and py_module_sum have the lines of Python"},
    {"lines", "py_line_sum has the lines of Python; so has the command gpuprof lines"},
    {"pytorch", "torch_op_sum has operators, py_module_sum modules"},
    {"kernels", "cuda_gpu_kern_sum has the kernels"},
    {"gpukernsum", "cuda_gpu_kern_sum has the kernels"},
    {"cudaapisum", "cuda_api_sum has the calls of CUDA"},
    {"mpi_event_sum", "calls of MPI are not recorded; ranks_sum compares the ranks of a job"},
    {"roofline", "that is a command of its own: gpuprof roofline"},
    {"metrics", "gpu_metrics_sum has the counters by kernel, nvtx_metrics_sum by range"},
    {"ranges", "nvtx_sum has the ranges, nvtx_gpu_proj_sum their time on the GPU"},
};

constexpr std::string_view about_operators =
    "ops records operators and autograd nodes; their shapes are not recorded";

constexpr other_word other_operators[] = {
    {"autograd-nvtx", about_operators},
    {"autograd", about_operators},
    {"autograd-shapes-nvtx", about_operators},
    {"functions-trace", about_operators},
};

std::string_view found_in(std::span<other_word const> words, std::string_view word) {
  auto const found = std::find_if(words.begin(), words.end(),
                                  [&](other_word const& one) { return one.word == word; });
  return found == words.end() ? std::string_view() : found->here;
}

}  // namespace

std::string_view in_place_of_option(std::string_view name) {
  return found_in(other_options, name);
}

std::string_view in_place_of_command(std::string_view name) {
  return found_in(other_commands, name);
}

std::string in_place_of_values(std::string_view option, std::string_view values) {
  std::span<other_word const> known;
  if (option == "trace") known = other_traces;
  if (option == "sample") known = other_samplings;
  if (option == "pytorch") known = other_operators;
  std::string text;
  for (std::size_t begin = 0; begin <= values.size();) {
    auto const end = std::min(values.find(',', begin), values.size());
    auto const word = values.substr(begin, end - begin);
    if (auto const here = found_in(known, word); !here.empty())
      text += (text.empty() ? "" : ". ") + std::string(word) + ": " + std::string(here);
    begin = end + 1;
  }
  return text;
}

std::string_view in_place_of_report(std::string_view name) {
  return found_in(other_reports, name);
}

}  // namespace gpuprof::host::command

// SPDX-License-Identifier: Apache-2.0
#include "guest/options/option_table.hpp"

#include "guest/options/output_name.hpp"
#include "guest/options/value_text.hpp"

#include <algorithm>
#include <array>

namespace gpuprof::guest {
namespace {

bool read_output(settings& s, std::string_view text) {
  if (!is_output_pattern(text)) return false;
  s.output = text;
  return true;
}

bool read_trace(settings& s, std::string_view text) {
  static constexpr std::array<std::pair<std::string_view, bool trace_set::*>, 7> kinds{{
      {"cuda", &trace_set::cuda},
      {"nvtx", &trace_set::nvtx},
      {"blocking", &trace_set::blocking},
      {"cuda-api", &trace_set::cuda_api},
      {"cuda-memory", &trace_set::cuda_memory},
      {"sync", &trace_set::sync},
      {"um", &trace_set::um},
  }};
  trace_set chosen{.cuda = false, .nvtx = false, .blocking = false};
  if (text != "none") {
    for (auto const part : split(text, ',')) {
      bool trace_set::*kind = nullptr;
      if (!read_word(kind, part, kinds)) return false;
      chosen.*kind = true;
    }
  }
  s.trace = chosen;
  return true;
}

bool read_capture_range(settings& s, std::string_view text) {
  static constexpr std::array<std::pair<std::string_view, capture_range>, 3> words{{
      {"none", capture_range::none},
      {"cudaProfilerApi", capture_range::cuda_profiler_api},
      {"nvtx", capture_range::nvtx},
  }};
  return read_word(s.range, text, words);
}

bool read_range_end(settings& s, std::string_view text) {
  static constexpr std::array<std::pair<std::string_view, range_end_action>, 5> words{{
      {"none", range_end_action::none},
      {"stop", range_end_action::stop},
      {"stop-shutdown", range_end_action::stop_shutdown},
      {"repeat", range_end_action::repeat},
      {"repeat-shutdown", range_end_action::repeat_shutdown},
  }};
  auto const colon = text.find(':');
  capture_range_end end;
  if (!read_word(end.action, text.substr(0, colon), words)) return false;
  if (colon != std::string_view::npos) {
    if (end.action != range_end_action::repeat && end.action != range_end_action::repeat_shutdown) {
      return false;
    }
    if (!read_number(end.count, text.substr(colon + 1), 1u, 1'000'000'000u)) return false;
  } else if (end.action == range_end_action::repeat_shutdown) {
    return false;  // without a number, the shutdown would never come
  }
  s.range_end = end;
  return true;
}

bool read_schedule(settings& s, std::string_view text) {
  auto const parts = split(text, ',');
  if (parts.size() != 4 && parts.size() != 5) return false;
  step_schedule schedule;
  std::array<std::uint32_t*, 5> const fields{&schedule.wait, &schedule.warmup, &schedule.active,
                                             &schedule.repeat, &schedule.skip_first};
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (!read_number(*fields[i], parts[i], 0u, 1'000'000'000u)) return false;
  }
  if (schedule.active == 0) return false;
  s.schedule = schedule;
  return true;
}

bool read_graph_trace(settings& s, std::string_view text) {
  static constexpr std::array<std::pair<std::string_view, graph_detail>, 3> words{
      {{"auto", graph_detail::automatic},
       {"graph", graph_detail::graph},
       {"node", graph_detail::node}}};
  return read_word(s.graph_trace, text, words);
}

bool read_python_backtrace(settings& s, std::string_view text) {
  static constexpr std::array<std::pair<std::string_view, python_backtrace>, 3> words{
      {{"auto", python_backtrace::automatic},
       {"all", python_backtrace::all},
       {"none", python_backtrace::none}}};
  return read_word(s.python_stacks, text, words);
}

bool read_native_backtrace(settings& s, std::string_view text) {
  constexpr native_backtrace none{.allocations = false, .long_waits = false};
  auto chosen = none;
  if (text == "auto") {
    chosen = {};
  } else if (text != "none") {
    for (auto const part : split(text, ',')) {
      auto const all = part == "all";
      auto const is = [&](std::string_view word) { return all || part == word; };
      chosen.kernels |= is("kernel");
      chosen.copies |= is("memory");
      chosen.allocations |= is("memory");
      chosen.waits |= is("sync");
      chosen.others |= is("other");
      auto const is_known =
          all || part == "kernel" || part == "memory" || part == "sync" || part == "other";
      if (!is_known) return false;
    }
  }
  s.native_stacks = chosen;
  return true;
}

bool read_torch_recording(settings& s, std::string_view text) {
  static constexpr std::array<std::pair<std::string_view, torch_recording>, 2> words{
      {{"ops", torch_recording::operators}, {"none", torch_recording::none}}};
  return read_word(s.pytorch, text, words);
}

bool read_source_storing(settings& s, std::string_view text) {
  static constexpr std::array<std::pair<std::string_view, source_storing>, 2> words{
      {{"own", source_storing::own}, {"none", source_storing::none}}};
  return read_word(s.source, text, words);
}

bool read_thread_sampling(settings& s, std::string_view text) {
  static constexpr std::array<std::pair<std::string_view, thread_sampling>, 2> words{
      {{"process", thread_sampling::process}, {"none", thread_sampling::none}}};
  return read_word(s.sampling, text, words);
}

constexpr std::array<std::string_view, 5> metric_set_names{"basic", "roofline", "memory", "full",
                                                           "explain"};

bool is_metric_set(std::string_view word) {
  return std::find(metric_set_names.begin(), metric_set_names.end(), word) !=
         metric_set_names.end();
}

/// Checks only the form of the word. Whether a chip has the metric is checked later.
bool may_be_a_metric(std::string_view word) {
  constexpr std::string_view letters =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.";
  return word.find("__") != std::string_view::npos &&
         word.find_first_not_of(letters) == std::string_view::npos;
}

/// If names or a set are given without a mode, the mode is auto.
void settle_metrics(settings& s) {
  auto const& given = s.metrics_given;
  auto& words = s.metrics.words;
  words.clear();
  if (!given.set.empty()) words.push_back(given.set);
  words.insert(words.end(), given.names.begin(), given.names.end());
  auto const unsaid = words.empty() ? metrics_mode::none : metrics_mode::automatic;
  s.metrics.mode = given.mode.value_or(unsaid);
}

bool read_metrics(settings& s, std::string_view text) {
  static constexpr std::array<std::pair<std::string_view, metrics_mode>, 4> modes{{
      {"none", metrics_mode::none},
      {"auto", metrics_mode::automatic},
      {"sampled", metrics_mode::sampled},
      {"exact", metrics_mode::exact},
  }};
  std::optional<metrics_mode> mode;
  std::vector<std::string> names;
  for (auto const word : split(text, ',')) {
    if (metrics_mode read{}; read_word(read, word, modes)) {
      if (mode) return false;
      mode = read;
    } else if (is_metric_set(word) || may_be_a_metric(word)) {
      names.emplace_back(word);
    } else {
      return false;
    }
  }
  if (mode == metrics_mode::none && !names.empty()) return false;
  s.metrics_given.mode = mode;
  s.metrics_given.names = std::move(names);
  settle_metrics(s);
  return true;
}

bool read_metric_set(settings& s, std::string_view text) {
  if (!is_metric_set(text)) return false;
  s.metrics_given.set = text;
  settle_metrics(s);
  return true;
}

bool read_log_level(settings& s, std::string_view text) {
  static constexpr std::array<std::pair<std::string_view, log_level>, 5> words{{
      {"debug", log_level::debug},
      {"info", log_level::info},
      {"warning", log_level::warning},
      {"error", log_level::error},
      {"off", log_level::off},
  }};
  return read_word(s.log_level, text, words);
}

constexpr std::string_view switch_values = "1, 0, true, false, yes, no, on, off";
constexpr std::string_view range_values = "NAME (default domain), NAME@DOMAIN, NAME@* (any domain)";
constexpr std::uint64_t max_launches = 1'000'000'000'000'000'000u;

constexpr std::array table{
    option{"output", 'o', "FILE",
           "the name of a file (no folder, and not - for standard output), with %h (host), %p "
           "(process id), %n (first free number), %q{VARIABLE}, %%",
           "report%n",
           "Where the capture goes; .gpuprof is added. %h host, %p process id, %n first free "
           "number, %q{VAR} environment variable, %% percent sign. With several ranks the rank is "
           "added unless the name has %h, %p or %q.",
           false, read_output},
    option{"force-overwrite", 'f', "", switch_values, "",
           "Replace a capture that is already there.", false,
           [](settings& s, std::string_view v) { return read_switch(s.force_overwrite, v); }},
    option{"trace", 't', "KIND[,KIND...]",
           "none, or a list of cuda, nvtx, blocking, cuda-api, cuda-memory, sync, um",
           "cuda,nvtx,blocking",
           "What to record: cuda (kernels, copies), nvtx, blocking (CUDA calls that wait, allocate "
           "or load), cuda-api (all calls), cuda-memory, sync, um (unified memory).",
           false, read_trace, "cuda,nvtx,blocking,cuda-api,cuda-memory,sync,um,none"},
    option{"capture-range", 'c', "none|cudaProfilerApi|nvtx", "none, cudaProfilerApi, nvtx", "none",
           "Record only from cudaProfilerStart to cudaProfilerStop, or inside an NVTX range.",
           false, read_capture_range},
    option{"capture-range-end", 0, "none|stop|stop-shutdown|repeat[:N]|repeat-shutdown:N",
           "none, stop, stop-shutdown, repeat, repeat:N, repeat-shutdown:N", "stop",
           "What the end of the capture range does. -shutdown then sends SIGTERM to the program.",
           false, read_range_end},
    option{"nvtx-capture", 'p', "RANGE[@DOMAIN]", range_values, "",
           "The NVTX range that --capture-range=nvtx waits for.", false,
           [](settings& s, std::string_view v) { return read_range_pattern(s.nvtx_capture, v); }},
    option{"delay", 'y', "SECONDS", "seconds, such as 2 or 0.5", "0",
           "Begin to record this long after the start of the program.", false,
           [](settings& s, std::string_view v) { return read_seconds(s.delay, v); }},
    option{"duration", 'd', "SECONDS", "seconds, such as 2 or 0.5; 0 for no limit", "0",
           "End a capture after this long; the program goes on. 0: no limit.", false,
           [](settings& s, std::string_view v) { return read_seconds(s.duration, v); }},
    option{"schedule", 0, "WAIT,WARMUP,ACTIVE,REPEAT[,SKIP_FIRST]",
           "four or five whole numbers WAIT,WARMUP,ACTIVE,REPEAT[,SKIP_FIRST] with ACTIVE at least "
           "1",
           "",
           "Record ACTIVE steps after WAIT and WARMUP ones, REPEAT times (0: for ever): 10,0,10,1 "
           "with --step-range step records steps 10 to 19 of a program with NVTX ranges \"step\".",
           false, read_schedule},
    option{"step-range", 0, "RANGE[@DOMAIN]", range_values, "",
           "Each end of this NVTX range is a step of --schedule, as gpuprof_step() is.", false,
           [](settings& s, std::string_view v) { return read_range_pattern(s.step_range, v); }},
    option{
        "cuda-graph-trace", 0, "auto|graph|node", "auto, graph, node", "auto",
        "Record each node of a CUDA graph (node), each graph as a whole (graph, cheaper), or auto: "
        "as many launches by nodes as may cost --overhead-budget, from which the others are "
        "computed.",
        false, read_graph_trace},
    option{
        "python-backtrace", 0, "auto|all|none", "auto, all, none", "auto",
        "Record the Python stack of launches, copies and waits: auto (of all, or of so many that "
        "it takes 0.5 % of the thread's time, or half of --overhead-budget if that is less), all, "
        "none. CPython 3.11 to 3.15.",
        false, read_python_backtrace},
    option{
        "cudabacktrace", 0, "auto|none|all|KIND[,KIND...]",
        "auto, none, all, or a list of kernel, memory, sync, other", "auto",
        "Record the native stack (C, C++, Rust) of kernel launches, memory (allocations, copies, "
        "fills), sync (waits) or all CUDA calls that are recorded; auto: of allocations, and of "
        "calls that block for 2 ms.",
        false, read_native_backtrace, "auto,none,all,kernel,memory,sync,other"},
    option{"pytorch", 0, "ops|none", "ops, none", "none",
           "Record PyTorch's operators, autograd nodes and record_function as ranges (ops), or not "
           "(none).",
           false, read_torch_recording},
    option{"source", 0, "own|none", "own, none", "own",
           "Store the source lines of Python stacks that are the program's own, not those of "
           "installed packages (own), or none.",
           false, read_source_storing},
    option{"sample", 0, "process|none", "process, none", "process",
           "Look 100 times a second at what the main thread and launching threads do on the CPU, "
           "and at their Python stacks (process), or not (none).",
           false, read_thread_sampling},
    option{"kernel-name", 0, "NAME|regex:EXPRESSION",
           "a kernel name, or regex: followed by a valid regular expression", "",
           "Record only these kernels: demangled or base name. May be given several times.", true,
           [](settings& s, std::string_view v) {
             return read_kernel_patterns(s.kernel_names, v, false);
           }},
    option{"launch-skip", 0, "N", "a whole number", "0",
           "Leave out the first N launches that --kernel-name selects.", false,
           [](settings& s, std::string_view v) {
             return read_number(s.launch_skip, v, std::uint64_t{0}, max_launches);
           }},
    option{"launch-count", 0, "N", "a whole number; 0 for no limit", "0",
           "Record at most N launches. 0: no limit.", false,
           [](settings& s, std::string_view v) {
             return read_number(s.launch_count, v, std::uint64_t{0}, max_launches);
           }},
    option{"metrics", 0, "none|auto|sampled|exact|NAME[,NAME...]",
           "none, or a list of metrics (dram__bytes_read.sum) and sets (basic, roofline, memory, "
           "full, explain) with at most one of auto, sampled, exact",
           "none",
           "Read hardware counters: auto (within --overhead-budget), sampled (in windows of time), "
           "exact (every launch). Names of metrics or sets say which, and alone mean auto.",
           false, read_metrics, "none,auto,sampled,exact,basic,roofline,memory,full,explain"},
    option{"set", 0, "basic|roofline|memory|full|explain", "basic, roofline, memory, full, explain",
           "",
           "The metrics to read; roofline unless --metrics names some. Alone it means --metrics "
           "auto.",
           false, read_metric_set},
    option{"overhead-budget", 0, "PERCENT", "a percentage from 0.01 to 100", "1",
           "Most of the run time that reading counters and stacks may cost, beside "
           "--overhead-once, by "
           "the rate of launches too. 1 also allows sampling 5 % of a core. "
           "Python stacks take at most half of it, native ones a fifth.",
           false,
           [](settings& s, std::string_view v) {
             return read_percent(s.metrics.budget_percent, v, 0.01, 100);
           }},
    option{
        "overhead-once", 0, "SECONDS", "seconds from 0 to 60, such as 0.25", "",
        "Most that reading counters around launches may cost once, beside --overhead-budget. "
        "Default: 0.25, when the program has worked for 20 s (4 s with --overhead-budget 5); with "
        "the set explain 1.5, at any time. Samples in time may take 0.1 s in "
        "advance.",
        false,
        [](settings& s, std::string_view v) {
          duration_ns once;
          if (!read_seconds(once, v) || once.value > 60'000'000'000) return false;
          s.metrics.once_ns = static_cast<std::uint64_t>(once.value);
          return true;
        }},
    option{
        "pm-sampling-interval", 0, "TIME",
        "a time from 2us to 1ms, such as 20us or 0.1ms; a number alone is nanoseconds", "20us",
        "How often the counters of the whole GPU are read while sampling in time. 20us becomes up "
        "to 200us where kernels are long.",
        false,
        [](settings& s, std::string_view v) {
          return read_interval(s.metrics.interval_ns, v, 2'000, 1'000'000);
        }},
    option{"metrics-skip", 0, "NAME|regex:EXPRESSION",
           "a kernel name, or regex: followed by a valid regular expression", collectives_to_skip,
           "Never read counters around these kernels, demangled or base name; expressions ignore "
           "case. May be given several times.",
           true,
           [](settings& s, std::string_view v) {
             return read_kernel_patterns(s.metrics.skip, v, true);
           }},
    option{"label", 0, "NAME=VALUE",
           "NAME=VALUE, the name of letters, digits, '_', '.' and '-', the value without ',' and "
           "';'; several separated by commas",
           "",
           "Says of the run what its reader should know: --label size=4096. May be given several "
           "times.",
           true, [](settings& s, std::string_view v) { return read_labels(s.labels, v); }},
    option{
        "share-cupti", 0, "yes|no", switch_values, "yes",
        "Let the program's own use of CUPTI (torch.profiler, Proton, JAX's profiler) go on beside "
        "ours. no: who comes first has CUPTI alone.",
        false, [](settings& s, std::string_view v) { return read_switch(s.share_cupti, v); }},
    option{"stats", 0, "", switch_values, "",
           "Print a summary of kernels and ranges to stderr when the program ends.", false,
           [](settings& s, std::string_view v) { return read_switch(s.stats, v); }},
    option{"log-level", 0, "debug|info|warning|error|off", "debug, info, warning, error, off",
           "info", "Which lines gpuprof writes to stderr.", false, read_log_level},
    option{"flush-interval-ms", 0, "N", "a whole number from 10 to 60000", "500",
           "The capture file is never further behind than this.", false,
           [](settings& s, std::string_view v) {
             return read_number(s.flush_interval_ms, v, 10u, 60'000u);
           }},
    option{"flush-timeout-ms", 0, "N", "a whole number from 0 to 600000", "2000",
           "Longest wait for outstanding records when the program ends.", false,
           [](settings& s, std::string_view v) {
             return read_number(s.flush_timeout_ms, v, 0u, 600'000u);
           }},
    option{"buffer-limit-mib", 0, "N", "a whole number from 16 to 1048576", "256",
           "Most host memory for records that wait to be written, and for names; above it records "
           "are dropped and counted, and names grouped.",
           false,
           [](settings& s, std::string_view v) {
             return read_number(s.buffer_limit_mib, v, 16u, 1'048'576u);
           }},
    option{"max-size", 0, "SIZE", "a size from 100k, such as 500M or 2GiB; 0 for no limit", "0",
           "End the capture before its file is larger than this; the program goes on. 0: no limit.",
           false,
           [](settings& s, std::string_view v) {
             std::uint64_t bytes = 0;
             if (!read_bytes(bytes, v) || (bytes != 0 && bytes < 100'000)) return false;
             s.max_size_bytes = bytes;
             return true;
           }},
    option{"min-free-space", 0, "SIZE", "a size such as 500M or 2GiB; 0 to write until it is full",
           "",
           "End the capture when less than this is free on the disk of its file; the program goes "
           "on. Default: 1 GiB, or 1 % of a disk of less than 100 GiB.",
           false,
           [](settings& s, std::string_view v) {
             std::uint64_t bytes = 0;
             if (!read_bytes(bytes, v)) return false;
             s.min_free_bytes = bytes;
             return true;
           }},
};

constexpr std::array<std::string_view, 6> others{
    "GPUPROF_CUPTI_PATH",    // path of the libcupti to use (folder or file)
    "GPUPROF_LIBRARY",       // libgpuprof.so for the command line
    "GPUPROF_PEAKS_DIR",     // where measured peaks are stored
    "GPUPROF_RUN_NOTES",     // set by `gpuprof profile` for run_notes.hpp
    "GPUPROF_RUN_STARTED",   // set by `gpuprof profile` for output_name.hpp
    "GPUPROF_SET_INJECTION"  // set by the library for entry/injection.cpp
};

}  // namespace

std::span<option const> options() noexcept {
  return table;
}

option const* find_option(std::string_view name) noexcept {
  auto const found =
      std::find_if(table.begin(), table.end(), [&](option const& o) { return o.name == name; });
  return found == table.end() ? nullptr : &*found;
}

std::string environment_name(option const& o) {
  std::string name = "GPUPROF_";
  for (char const c : o.name) {
    name += c == '-' ? '_' : static_cast<char>(c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c);
  }
  return name;
}

result<void> set_option(settings& s, option const& o, std::string_view value,
                        std::string_view source) {
  if (o.read(s, value)) return {};
  return error{std::string(source) + ": \"" + std::string(value) +
               "\" is not accepted. Accepted: " + std::string(o.accepted)};
}

std::span<std::string_view const> other_variables() noexcept {
  return others;
}

}  // namespace gpuprof::guest

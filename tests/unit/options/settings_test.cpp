// SPDX-License-Identifier: Apache-2.0
#include "guest/options/settings.hpp"

#include "guest/metrics/planning/metric_sets.hpp"
#include "guest/options/option_table.hpp"
#include "support/catch.hpp"

#include <algorithm>
#include <set>

using namespace gpuprof;
using namespace gpuprof::guest;

namespace {

parsed_settings read(std::vector<char const*> variables) {
  variables.push_back(nullptr);
  return read_settings(variables.data());
}

}  // namespace

TEST_CASE("an environment without GPUPROF_ variables gives the defaults and no warning") {
  auto const parsed = read({"PATH=/bin", "GPU=1", "GPUPROFX=3"});
  CHECK(parsed.warnings.empty());
  CHECK(parsed.values.output == "report%n");
  CHECK(parsed.values.trace == trace_set{});
  CHECK(parsed.values.range == capture_range::none);
  CHECK(parsed.values.range_end.action == range_end_action::stop);
  CHECK(parsed.values.buffer_limit_mib == 256);
  CHECK(parsed.values.metrics.mode == metrics_mode::none);
  CHECK(parsed.values.metrics.words.empty());
  CHECK(parsed.values.metrics.budget_percent == 1);
  REQUIRE(parsed.values.metrics.skip.size() == 1);
  CHECK(parsed.values.metrics.skip[0].text.starts_with("nccl|nvshmem|"));
  CHECK(parsed.values.metrics.skip[0].is_regex);
  CHECK(parsed.values.metrics.skip[0].ignores_case);
  CHECK(read_settings(nullptr).warnings.empty());
}

TEST_CASE("the defaults in the option table equal those of the struct") {
  for (auto const& o : options()) {
    if (o.default_text.empty()) continue;
    settings changed;
    INFO(o.name);
    REQUIRE(set_option(changed, o, o.default_text, o.name));
    settings const plain;
    CHECK(changed.output == plain.output);
    CHECK(changed.trace == plain.trace);
    CHECK(changed.range == plain.range);
    CHECK(changed.range_end == plain.range_end);
    CHECK(changed.delay == plain.delay);
    CHECK(changed.duration == plain.duration);
    CHECK(changed.graph_trace == plain.graph_trace);
    CHECK(changed.launch_skip == plain.launch_skip);
    CHECK(changed.launch_count == plain.launch_count);
    CHECK(changed.metrics == plain.metrics);
    CHECK(changed.log_level == plain.log_level);
    CHECK(changed.flush_interval_ms == plain.flush_interval_ms);
    CHECK(changed.flush_timeout_ms == plain.flush_timeout_ms);
    CHECK(changed.buffer_limit_mib == plain.buffer_limit_mib);
    CHECK(changed.max_size_bytes == plain.max_size_bytes);
    CHECK(changed.min_free_bytes == plain.min_free_bytes);
  }
}

TEST_CASE("the one-time cost of counters follows the metrics, unless the user sets it") {
  auto const once = [](std::vector<char const*> variables) {
    return read(std::move(variables)).values.metrics.may_cost_once_ns();
  };
  CHECK(once({"GPUPROF_METRICS=auto"}) == 250'000'000);
  CHECK(once({"GPUPROF_SET=roofline"}) == 250'000'000);
  CHECK(once({"GPUPROF_METRICS=auto", "GPUPROF_SET=explain"}) == 1'500'000'000);
  CHECK(once({"GPUPROF_METRICS=basic,explain"}) == 1'500'000'000);
  CHECK(once({"GPUPROF_SET=explain", "GPUPROF_OVERHEAD_ONCE=0.25"}) == 250'000'000);
  CHECK(once({"GPUPROF_SET=explain", "GPUPROF_OVERHEAD_ONCE=0"}) == 0);
}

TEST_CASE("option names, letters and variables are distinct") {
  std::set<std::string> names;
  std::set<char> letters;
  for (auto const& o : options()) {
    INFO(o.name);
    CHECK(names.insert(std::string(o.name)).second);
    if (o.letter != 0) CHECK(letters.insert(o.letter).second);
    CHECK(find_option(o.name) == &o);
    CHECK_FALSE(o.help.empty());
    CHECK_FALSE(o.accepted.empty());
  }
  CHECK(environment_name(*find_option("capture-range-end")) == "GPUPROF_CAPTURE_RANGE_END");
  CHECK(find_option("metric") == nullptr);
}

TEST_CASE("every option is read from its variable") {
  auto const parsed = read({"GPUPROF_OUTPUT=%h/%q{JOB}-%p",
                            "GPUPROF_FORCE_OVERWRITE=yes",
                            "GPUPROF_TRACE=cuda,cuda-api,cuda-memory,sync,um",
                            "GPUPROF_CAPTURE_RANGE=nvtx",
                            "GPUPROF_CAPTURE_RANGE_END=repeat:3",
                            "GPUPROF_NVTX_CAPTURE=step@train",
                            "GPUPROF_DELAY=0.25",
                            "GPUPROF_DURATION=2",
                            "GPUPROF_CUDA_GRAPH_TRACE=graph",
                            "GPUPROF_KERNEL_NAME=gemm;regex:^void f<int, [0-9]+>",
                            "GPUPROF_LABEL=size=4096,type=bf16;size=8192",
                            "GPUPROF_LAUNCH_SKIP=10",
                            "GPUPROF_LAUNCH_COUNT=5",
                            "GPUPROF_METRICS=exact,dram__bytes_read.sum",
                            "GPUPROF_SET=memory",
                            "GPUPROF_OVERHEAD_BUDGET=2.5%",
                            "GPUPROF_OVERHEAD_ONCE=0.5",
                            "GPUPROF_PM_SAMPLING_INTERVAL=0.1ms",
                            "GPUPROF_METRICS_SKIP=all_reduce;regex:^void nccl",
                            "GPUPROF_STATS=on",
                            "GPUPROF_LOG_LEVEL=debug",
                            "GPUPROF_FLUSH_INTERVAL_MS=50",
                            "GPUPROF_FLUSH_TIMEOUT_MS=0",
                            "GPUPROF_BUFFER_LIMIT_MIB=64",
                            "GPUPROF_MAX_SIZE=500MB",
                            "GPUPROF_MIN_FREE_SPACE=2GiB"});
  CHECK(parsed.warnings == std::vector<std::string>{});
  auto const& s = parsed.values;
  CHECK(s.output == "%h/%q{JOB}-%p");
  CHECK(s.force_overwrite);
  CHECK(s.trace == trace_set{true, false, false, true, true, true, true});
  CHECK(s.range == capture_range::nvtx);
  CHECK(s.range_end == capture_range_end{range_end_action::repeat, 3});
  CHECK(s.nvtx_capture == range_pattern{"step", "train", false});
  CHECK(s.delay == duration_ns{250'000'000});
  CHECK(s.duration == duration_ns{2'000'000'000});
  CHECK(s.graph_trace == graph_detail::graph);
  REQUIRE(s.kernel_names.size() == 2);
  CHECK(s.kernel_names[0] == kernel_pattern{"gemm", false});
  CHECK(s.kernel_names[1] == kernel_pattern{"^void f<int, [0-9]+>", true});
  CHECK(s.labels == std::vector<run_label>{{"type", "bf16"}, {"size", "8192"}});
  CHECK(s.launch_skip == 10);
  CHECK(s.launch_count == 5);
  CHECK(s.metrics.mode == metrics_mode::exact);
  CHECK(s.metrics.words == std::vector<std::string>{"memory", "dram__bytes_read.sum"});
  CHECK(s.metrics.budget_percent == 2.5);
  CHECK(s.metrics.once_ns == 500'000'000);
  CHECK(s.metrics.interval_ns == 100'000);
  CHECK(s.metrics.skip ==
        std::vector<kernel_pattern>{{"all_reduce", false, false}, {"^void nccl", true, true}});
  CHECK(s.stats);
  CHECK(s.log_level == log_level::debug);
  CHECK(s.flush_interval_ms == 50);
  CHECK(s.flush_timeout_ms == 0);
  CHECK(s.buffer_limit_mib == 64);
  CHECK(s.max_size_bytes == 500'000'000);
  CHECK(s.min_free_bytes == std::uint64_t{2} << 30);
}

TEST_CASE("a size is a number with a decimal or binary unit, or in bytes") {
  struct sized {
    char const* text;
    std::uint64_t bytes;
  };
  for (auto const& [text, bytes] : std::vector<sized>{{"123456", 123'456},
                                                      {"123456B", 123'456},
                                                      {"100k", 100'000},
                                                      {"100K", 100'000},
                                                      {"1.5MB", 1'500'000},
                                                      {"2GiB", std::uint64_t{2} << 30},
                                                      {"2Gi", std::uint64_t{2} << 30},
                                                      {"1T", 1'000'000'000'000},
                                                      {"0", 0}}) {
    settings s;
    INFO(text);
    REQUIRE(set_option(s, *find_option("max-size"), text, "x"));
    CHECK(s.max_size_bytes == bytes);
  }
  for (auto const* const text : {"", "B", "MB", "1iB", "-1M", "1 M", "1m", "1e30", "inf", "nanM",
                                 "2000000T", "1MiBs", "99999"}) {
    settings s;
    INFO(text);
    CHECK_FALSE(set_option(s, *find_option("max-size"), text, "x"));
    CHECK(s.max_size_bytes == 0);
  }
}

TEST_CASE("a range names a domain, the default one or any") {
  settings s;
  auto const& o = *find_option("step-range");
  REQUIRE(set_option(s, o, "epoch", "x"));
  CHECK(s.step_range == range_pattern{"epoch", "", false});
  REQUIRE(set_option(s, o, "a@b@*", "x"));
  CHECK(s.step_range == range_pattern{"a@b", "", true});
}

TEST_CASE("a schedule has four or five numbers") {
  settings s;
  auto const& o = *find_option("schedule");
  REQUIRE(set_option(s, o, "1,2,3,4,5", "x"));
  CHECK(s.schedule == step_schedule{1, 2, 3, 4, 5});
  REQUIRE(set_option(s, o, "1,1,2,0", "x"));
  CHECK(s.schedule == step_schedule{1, 1, 2, 0, 0});
}

TEST_CASE("a bad value keeps the default and gives one line with the accepted values") {
  struct bad {
    char const* variable;
    char const* accepted;
  };
  for (auto const& [variable, accepted] : std::vector<bad>{
           {"GPUPROF_TRACE=cuda,osrt", "cuda-memory"},
           {"GPUPROF_TRACE=cuda,,nvtx", "cuda-memory"},
           {"GPUPROF_TRACE=none,cuda", "none"},
           {"GPUPROF_CAPTURE_RANGE=cudaprofilerapi", "cudaProfilerApi"},
           {"GPUPROF_CAPTURE_RANGE_END=stop:2", "repeat:N"},
           {"GPUPROF_CAPTURE_RANGE_END=repeat:0", "repeat:N"},
           {"GPUPROF_CAPTURE_RANGE_END=repeat-shutdown", "repeat-shutdown:N"},
           {"GPUPROF_NVTX_CAPTURE=@train", "NAME@DOMAIN"},
           {"GPUPROF_NVTX_CAPTURE=step@", "NAME@DOMAIN"},
           {"GPUPROF_DELAY=-1", "seconds"},
           {"GPUPROF_DELAY=nan", "seconds"},
           {"GPUPROF_DELAY=1s", "seconds"},
           {"GPUPROF_DURATION=1e300", "seconds"},
           {"GPUPROF_SCHEDULE=1,1,1", "WAIT,WARMUP,ACTIVE,REPEAT"},
           {"GPUPROF_SCHEDULE=1,1,0,1", "ACTIVE at least 1"},
           {"GPUPROF_SCHEDULE=1,1,1,1,1,1", "SKIP_FIRST"},
           {"GPUPROF_CUDA_GRAPH_TRACE=nodes", "graph, node"},
           {"GPUPROF_KERNEL_NAME=regex:(", "regular expression"},
           {"GPUPROF_KERNEL_NAME=a;;b", "kernel name"},
           {"GPUPROF_LABEL=size", "NAME=VALUE"},
           {"GPUPROF_LABEL==4096", "NAME=VALUE"},
           {"GPUPROF_LABEL=size=", "NAME=VALUE"},
           {"GPUPROF_LABEL=a=1,,b=2", "NAME=VALUE"},
           {"GPUPROF_LABEL=my size=1", "NAME=VALUE"},
           {"GPUPROF_LAUNCH_SKIP=-3", "whole number"},
           {"GPUPROF_LAUNCH_COUNT=99999999999999999999", "whole number"},
           {"GPUPROF_METRICS=rooflin", "roofline"},
           {"GPUPROF_METRICS=auto,exact", "at most one of auto"},
           {"GPUPROF_METRICS=none,basic", "none, or a list"},
           {"GPUPROF_METRICS=auto,", "none, or a list"},
           {"GPUPROF_METRICS=dram__bytes_read.sum lts__t_bytes.sum", "none, or a list"},
           {"GPUPROF_SET=all", "basic, roofline, memory, full"},
           {"GPUPROF_SET=basic,memory", "basic, roofline, memory, full"},
           {"GPUPROF_OVERHEAD_BUDGET=0", "0.01 to 100"},
           {"GPUPROF_OVERHEAD_BUDGET=100.1%", "0.01 to 100"},
           {"GPUPROF_OVERHEAD_BUDGET=nan", "0.01 to 100"},
           {"GPUPROF_OVERHEAD_BUDGET=%", "0.01 to 100"},
           {"GPUPROF_PM_SAMPLING_INTERVAL=1us", "2us to 1ms"},
           {"GPUPROF_PM_SAMPLING_INTERVAL=1.1ms", "2us to 1ms"},
           {"GPUPROF_PM_SAMPLING_INTERVAL=20", "2us to 1ms"},
           {"GPUPROF_PM_SAMPLING_INTERVAL=20s", "2us to 1ms"},
           {"GPUPROF_PM_SAMPLING_INTERVAL=us", "2us to 1ms"},
           {"GPUPROF_METRICS_SKIP=regex:(", "regular expression"},
           {"GPUPROF_STATS=maybe", "true, false"},
           {"GPUPROF_LOG_LEVEL=loud", "warning"},
           {"GPUPROF_FLUSH_INTERVAL_MS=1", "10 to 60000"},
           {"GPUPROF_FLUSH_TIMEOUT_MS=x", "0 to 600000"},
           {"GPUPROF_BUFFER_LIMIT_MIB=1", "16 to 1048576"},
           {"GPUPROF_OUTPUT=%z", "%q{VARIABLE}"},
           {"GPUPROF_OUTPUT=a%", "%q{VARIABLE}"},
           {"GPUPROF_OUTPUT=%q{JOB", "%q{VARIABLE}"},
           {"GPUPROF_OUTPUT=folder/", "name of a file"},
       }) {
    auto const parsed = read({variable});
    INFO(variable);
    REQUIRE(parsed.warnings.size() == 1);
    INFO(parsed.warnings[0]);
    CHECK(parsed.warnings[0].find(accepted) != std::string::npos);
    std::string const given = variable;
    CHECK(parsed.warnings[0].find(given.substr(0, given.find('='))) == 0);
    CHECK(parsed.warnings[0].find('\n') == std::string::npos);
    settings const plain;
    CHECK(parsed.values.trace == plain.trace);
    CHECK(parsed.values.range_end == plain.range_end);
    CHECK(parsed.values.kernel_names.empty());
    CHECK(parsed.values.output == plain.output);
    CHECK(parsed.values.launch_count == plain.launch_count);
    CHECK(parsed.values.buffer_limit_mib == plain.buffer_limit_mib);
    CHECK_FALSE(parsed.values.schedule);
    CHECK(parsed.values.metrics == plain.metrics);
  }
}

TEST_CASE("the interval of sampling is a time with a unit, or nanoseconds") {
  for (auto const& [text, ns] :
       std::vector<std::pair<std::string, std::uint64_t>>{{"2us", 2'000},
                                                          {"12.5us", 12'500},
                                                          {"1ms", 1'000'000},
                                                          {"20000", 20'000},
                                                          {"20000ns", 20'000}}) {
    auto const variable = "GPUPROF_PM_SAMPLING_INTERVAL=" + text;
    auto const parsed = read({variable.c_str()});
    INFO(text);
    CHECK(parsed.warnings.empty());
    CHECK(parsed.values.metrics.interval_ns == ns);
  }
}

TEST_CASE("metrics and set together define what is read, in any order") {
  using words = std::vector<std::string>;
  struct chosen {
    std::vector<char const*> variables;
    metrics_mode mode;
    words read;
  };
  for (auto const& [variables, mode, read_words] : std::vector<chosen>{
           {{"GPUPROF_METRICS=auto"}, metrics_mode::automatic, {}},
           {{"GPUPROF_METRICS=sampled"}, metrics_mode::sampled, {}},
           {{"GPUPROF_SET=full"}, metrics_mode::automatic, {"full"}},
           {{"GPUPROF_METRICS=roofline"}, metrics_mode::automatic, {"roofline"}},
           {{"GPUPROF_METRICS=dram__bytes_read.sum,exact,basic"},
            metrics_mode::exact,
            {"dram__bytes_read.sum", "basic"}},
           {{"GPUPROF_METRICS=TPC.TriageCompute.sm__cycles_active.avg"},
            metrics_mode::automatic,
            {"TPC.TriageCompute.sm__cycles_active.avg"}},
           {{"GPUPROF_SET=memory", "GPUPROF_METRICS=exact"}, metrics_mode::exact, {"memory"}},
           {{"GPUPROF_METRICS=exact", "GPUPROF_SET=memory"}, metrics_mode::exact, {"memory"}},
           {{"GPUPROF_METRICS=lts__t_bytes.sum", "GPUPROF_SET=basic"},
            metrics_mode::automatic,
            {"basic", "lts__t_bytes.sum"}},
       }) {
    INFO(variables.front());
    auto const parsed = read(variables);
    CHECK(parsed.warnings == words{});
    CHECK(parsed.values.metrics.mode == mode);
    CHECK(parsed.values.metrics.words == read_words);
  }
}

TEST_CASE("a later value replaces an earlier one and keeps the value of the other option") {
  settings s;
  auto const set = [&](char const* name, char const* value) {
    REQUIRE(set_option(s, *find_option(name), value, name));
  };
  set("metrics", "exact,dram__bytes_read.sum");
  set("set", "basic");
  set("metrics", "auto");
  CHECK(s.metrics.mode == metrics_mode::automatic);
  CHECK(s.metrics.words == std::vector<std::string>{"basic"});
  set("metrics", "none");
  CHECK(s.metrics.mode == metrics_mode::none);
  set("metrics-skip", "a");
  set("metrics-skip", "b");
  CHECK(s.metrics.skip == std::vector<kernel_pattern>{{"b"}});
}

TEST_CASE("every set of metrics can be chosen, and nothing else") {
  for (auto const& known : metric_sets()) {
    settings s;
    REQUIRE(set_option(s, *find_option("set"), known.name, "x"));
    REQUIRE(set_option(s, *find_option("metrics"), known.name, "x"));
  }
  auto accepted = find_option("set")->accepted;
  CHECK(static_cast<std::size_t>(std::count(accepted.begin(), accepted.end(), ',') + 1) ==
        metric_sets().size());
}

TEST_CASE("an unknown variable is reported once, with the nearest name") {
  auto const near = read({"GPUPROF_OUTPT=x"}).warnings;
  REQUIRE(near.size() == 1);
  CHECK(near[0].find("did you mean GPUPROF_OUTPUT?") != std::string::npos);
  auto const far = read({"GPUPROF_ZZZZZZZZ=x"}).warnings;
  REQUIRE(far.size() == 1);
  CHECK(far[0].find("did you mean") == std::string::npos);
  CHECK(read({"GPUPROF_CUPTI_PATH=/x"}).warnings.empty());
}

TEST_CASE("an empty value counts as unset") {
  auto const parsed = read({"GPUPROF_TRACE=", "GPUPROF_DELAY="});
  CHECK(parsed.warnings.empty());
  CHECK(parsed.values.trace == trace_set{});
}

TEST_CASE("contradictory choices are reported") {
  CHECK(read({"GPUPROF_CAPTURE_RANGE=nvtx"}).warnings.size() == 1);
  CHECK(read({"GPUPROF_NVTX_CAPTURE=step"}).warnings.size() == 1);
  CHECK(read({"GPUPROF_STEP_RANGE=step"}).warnings.size() == 1);
  CHECK(
      read({"GPUPROF_SCHEDULE=1,1,1,1", "GPUPROF_CAPTURE_RANGE=cudaProfilerApi"}).warnings.size() ==
      1);
  CHECK(read({"GPUPROF_SCHEDULE=1,1,1,1", "GPUPROF_STEP_RANGE=step"}).warnings.empty());
  auto const no_kernels = read({"GPUPROF_METRICS=auto", "GPUPROF_TRACE=nvtx"}).warnings;
  REQUIRE(no_kernels.size() == 1);
  CHECK(no_kernels[0].find("trace leaves out cuda") != std::string::npos);
  CHECK(read({"GPUPROF_METRICS=none", "GPUPROF_TRACE=nvtx"}).warnings.empty());
  CHECK(read({"GPUPROF_METRICS=none", "GPUPROF_SET=full"}).warnings.size() == 1);
}

// SPDX-License-Identifier: Apache-2.0
#include "guest/peaks/store/store.hpp"
#include "support/catch.hpp"
#include "support/counted_capture.hpp"
#include "support/run_cli.hpp"
#include "support/test_data.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdlib>
#include <fstream>

using namespace gpuprof;
using namespace gpuprof::guest;
using namespace gpuprof::test;

namespace {

struct session {
  explicit session(counted_trace const& c = counted_step().with_peaks()) {
    write_capture(folder / "app.gpuprof", c);
  }
  outcome roofline(std::string const& arguments = "") const {
    return run_cli(folder, "roofline app.gpuprof " + arguments);
  }
  scratch_folder folder;
};

void check_refusal(outcome const& r, int code, std::string const& words) {
  INFO("stderr: " << r.err << "stdout: " << r.out);
  CHECK(r.code == code);
  CHECK(r.out.empty());
  CHECK(std::count(r.err.begin(), r.err.end(), '\n') == 1);
  CHECK(r.err.find(words) != std::string::npos);
}

bool holds(std::string const& text, std::string const& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("the table has first lines, notes and a line for each kernel, the longest first") {
  auto const r = session().roofline();
  CHECK(r.code == 0);
  CHECK(r.err.empty());
  check_golden("roofline_kernels.txt", r.out);
}

TEST_CASE("kinds of launches that were not read in full are reported") {
  auto c = counted_step();
  c.counters = {
      {"counters.kinds", 12}, {"counters.kinds_unread", 2}, {"counters.kinds_partly_read", 3}};
  CHECK(holds(session(c).roofline("-f json").out,
              "5 of 12 kinds of launches were not read in all passes, 2 of them in none: they came "
              "too seldom"));
  c.counters = {{"counters.kinds", 12}};
  CHECK_FALSE(holds(session(c).roofline("-f json").out, "kinds of launches"));
  c.counters = {{"counters.kinds", 12}, {"counters.kinds_left_to_samples", 3}};
  auto const out = session(c).roofline("-f json").out;
  CHECK(holds(out, "3 kinds of launches are left to samples in some passes: they take too long"));
  CHECK_FALSE(holds(out, "came too seldom"));
}

TEST_CASE("FLOP from cycles say where the rate was not measured on the chip") {
  for (auto const* const chip : {"GA100", "GH100"}) {
    counted_trace c(trace_of({kernel("k", 100_us, 300_us).correlated(1)}));
    c.device.chip = c.t.names.intern(chip);
    c.plan(0, {tensor_cycles_metric, active_cycles_metric});
    c.sample(1, 0, {{tensor_cycles_metric, 10'000}, {active_cycles_metric, 20'000}});
    c.codes.push_back(record_of(c.t.shapes[0].name,
                                {80, instruction_class::mma_bf16 | instruction_class::fp32, true}));
    session const s(c);
    INFO(chip);
    bool const is_planned = chip == std::string_view("GA100");
    auto const words = "from cycles of the tensor cores" +
                       std::string(is_planned ? " at rates not measured on this chip" : "\n");
    CHECK(holds(s.roofline().out, words));
    auto const line = nlohmann::json::parse(s.roofline("-f json").out)["kernels"][0];
    CHECK(line["flop_source"] == "tensor cycles");
    CHECK(line["flops_error"].is_null() != is_planned);
  }
}

TEST_CASE("lines can be kinds of work, which add up to all kernels") {
  session const s;
  auto const by_kernel = nlohmann::json::parse(s.roofline("-f json").out)["kernels"];
  auto const by_kind = nlohmann::json::parse(s.roofline("-f json --by kind").out)["kinds"];
  double of_kernels = 0, of_kinds = 0;
  for (auto const& row : by_kernel) of_kernels += row["time_ns"].get<double>();
  for (auto const& row : by_kind) of_kinds += row["time_ns"].get<double>();
  CHECK(of_kernels > 0);
  CHECK(of_kinds == of_kernels);
  CHECK(by_kind.size() < by_kernel.size());
  CHECK(holds(s.roofline("--by kind").out, "Roofline by Kind of Work"));
}

TEST_CASE("lines can be signatures or ranges") {
  session const s;
  check_golden("roofline_signatures.txt", s.roofline("--by signature").out);
  check_golden("roofline_ranges.txt", s.roofline("--by range").out);
}

TEST_CASE("an option chooses whether helper threads count in ranges of the main thread") {
  counted_trace c(
      trace_of({range("step", 0_us, 500_us), kernel("forward", 10_us, 110_us).correlated(1),
                kernel("backward", 150_us, 450_us).on_thread(2).correlated(2)}));
  c.plan_roofline().sample(1, 0, {{dram_read_metric, 1e6}});
  session const s(c);
  auto const step_ns = [&](std::string const& arguments) {
    auto const r = s.roofline("--by range --format json " + arguments);
    INFO(r.err);
    REQUIRE(r.code == 0);
    auto const all = nlohmann::json::parse(r.out);
    for (auto const& line : all["ranges"])
      if (line["name"] == "step") return line["time_ns"].get<double>();
    return 0.0;
  };
  CHECK(step_ns("") == 400e3);
  CHECK(step_ns("--range-scope process") == 400e3);
  CHECK(step_ns("--range-scope thread") == 100e3);
  CHECK(holds(s.roofline("--by range --range-scope thread").out, "[launched outside any range]"));
  CHECK_FALSE(holds(s.roofline("--by range").out, "[launched outside any range]"));
  check_refusal(s.roofline("--range-scope main"), 2, "process");
  auto const stats = [&](std::string const& arguments) {
    return run_cli(s.folder, "stats app.gpuprof -f csv " + arguments).out;
  };
  CHECK(holds(stats("-r nvtx_metrics_sum"), "step,PushPop,1,1,1,"));
  CHECK(holds(stats("-r cuda_gpu_kern_sum --filter-nvtx step"), "backward"));
  CHECK_FALSE(
      holds(stats("-r cuda_gpu_kern_sum --filter-nvtx step --range-scope thread"), "backward"));
  CHECK_FALSE(holds(stats("-r nvtx_kern_sum"), "backward"));  // as in nsys, whatever is chosen
}

namespace {

double value(nlohmann::json const& of) {
  return of.is_null() ? 0 : of.get<double>();
}

/// What a reader can work out from the line itself.
void recompute(nlohmann::json const& line, double all_ns, bool is_of_one_kernel) {
  CAPTURE(line);
  auto const near = [](double x) { return Approx(x).epsilon(1e-9).margin(1e-12); };
  CHECK(value(line["time_share"]) == near(value(line["time_ns"]) / all_ns));
  if (is_of_one_kernel)
    CHECK(value(line["avg_ns"]) * value(line["launches"]) ==  // the mean is of those not read
          Approx(value(line["time_ns"])).epsilon(0.001));
  auto const& known = line["known_shares"];
  for (auto const& [of, rate] :
       {std::pair{"dram", "dram_bytes_per_second"}, std::pair{"l2", "l2_bytes_per_second"},
        std::pair{"sm_clock", "sm_clock_hz"}, std::pair{"occupancy", "occupancy"},
        std::pair{"tensor", "tensor_active"}})
    CHECK(line[rate].is_null() == (value(known[of]) < 0.5));
  auto const all_known = value(known["dram"]) == 1 && value(line["flop_known_share"]) == 1;
  if (all_known && !line["flop_per_dram_byte"].is_null())
    CHECK(value(line["flop_per_dram_byte"]) * value(line["dram_bytes_per_second"]) ==
          near(value(line["flops"])));
  if (line["of_roof"].is_null()) return;
  auto const of_roof = value(line["of_roof"]);
  auto const too_long = std::max(0.0, 1 - of_roof);
  CHECK(value(line["to_roof_ns"]) == near(value(line["avg_ns"]) * too_long));
  CHECK(value(line["below_roof"]) == near(value(line["time_share"]) * too_long));
  if (!is_of_one_kernel) return;
  double highest = 0;
  std::string bound;
  for (auto const& [roof, share] : line["roof_shares"].items())
    if (value(share) >= highest) highest = value(share), bound = roof;
  CHECK(of_roof == near(highest));
  CHECK(line["bound_by"] == (highest < 0.4 ? "latency" : bound));
}

}  // namespace

TEST_CASE("figures of a line are consistent with each other") {
  scratch_folder const folder;
  write_capture(folder / "step.gpuprof", counted_step().with_peaks());
  std::vector<std::string> captures = {folder / "step.gpuprof"};
  for (auto const* const stored : {"counted_auto", "mixed_exact", "mixed_sampled"})
    captures.push_back(test_data("h200/" + std::string(stored) + ".gpuprof"));
  int lines = 0;
  for (auto const& capture : captures)
    for (std::string const by : {"kernel", "signature", "range"}) {
      auto const r = run_cli(folder, "roofline -f json --by " + by + " " + capture);
      if (r.code != 0) continue;  // it has no ranges
      auto const all = nlohmann::json::parse(r.out);
      for (auto const& line : all[by + "s"]) {
        recompute(line, all["kernel_time_ns"].get<double>(), by != "range");
        ++lines;
      }
    }
  CHECK(lines > 50);
}

TEST_CASE("stats and roofline report the same time for all kernels") {
  scratch_folder const folder;
  write_capture(folder / "step.gpuprof", counted_step());
  std::vector<std::string> captures = {folder / "step.gpuprof"};
  for (auto const* const stored : {"counted_auto", "mixed_exact", "mixed_sampled"})
    captures.push_back(test_data("h200/" + std::string(stored) + ".gpuprof"));
  for (auto const& capture : captures) {
    auto const roofs = nlohmann::json::parse(run_cli(folder, "roofline -f json " + capture).out);
    auto const kernels =
        nlohmann::json::parse(run_cli(folder, "stats -r cuda_gpu_kern_sum -f json " + capture).out);
    double sum = 0;
    for (auto const& line : kernels) sum += line["Total Time (ns)"].get<double>();
    CHECK(sum == Approx(roofs["kernel_time_ns"].get<double>()).epsilon(1e-8));
  }
  // gemm took 400 us once, because it was counted; 100 us otherwise.
  auto const r = run_cli(folder, "stats -r cuda_gpu_kern_sum step.gpuprof");
  CHECK(holds(r.out, "4 launches slowed down by counter readings"));
  CHECK_FALSE(holds(r.out, " 400,000 "));
  CHECK(holds(run_cli(folder, "stats -r cuda_gpu_trace -f csv step.gpuprof").out, ",400000,"));
}

namespace {

/// counted_step() as a Python program: `gemm` without one stack, and `axpy`, from model.py:20 and
/// its module; four launches of `copy` from train.py:30; `unknown` and the last `copy` from
/// train.py:40; `tiny` from train.py:10, which calls model.py.
void write_python_step(std::string const& path) {
  auto c = counted_step();
  c.with_peaks();
  auto& names = c.t.names;
  auto const frame = [&](std::uint32_t id, std::uint32_t caller, char const* file,
                         char const* function, std::uint32_t line) {
    return stack_record{.stack = static_cast<stack_id>(id),
                        .caller = static_cast<stack_id>(caller),
                        .file = names.intern(file),
                        .function = names.intern(function),
                        .line = line};
  };
  std::vector<stack_record> stacks = {
      frame(1, 0, "/program/train.py", "<module>", 10),
      frame(2, 1, "/program/model.py", "Mlp.forward", 20),
      frame(3, 0, "/program/train.py", "<module>", 30),
      frame(4, 0, "/program/train.py", "<module>", 40),
  };
  stacks[1].module = names.intern("c_fc: Linear");
  int gemms = 0, copies = 0;
  for (auto& kernel : c.t.kernels) {
    auto const name = names.text(c.t.shapes[raw(kernel.shape) - 1].name);
    std::uint32_t stack = 1;
    if (name == "axpy") stack = 2;
    if (holds(std::string(name), "gemm")) stack = ++gemms == 4 ? 0 : 2;
    if (name == "copy") stack = ++copies == 5 ? 4 : 3;
    if (name == "unknown") stack = 4;
    kernel.stack = static_cast<stack_id>(stack);
  }
  auto const call = names.intern("cuMemAlloc_v2");
  write_capture(path, c, [&](capture::writer& file) {
    for (auto const& row : stacks) file.add(row);
    file.add(api_record{.start = trace_start,
                        .duration = 5_us,
                        .domain = api_domain::driver,
                        .name = call,
                        .os_thread = 4001,
                        .correlation = correlation_id{9001},
                        .stack = static_cast<stack_id>(3)});
    file.add(memory_record{.time = trace_start + 4_us,
                           .operation = memory_operation::allocate,
                           .bytes = 3'000'000,
                           .correlation = correlation_id{9001}});
  });
}

nlohmann::json parsed(outcome const& r) {
  INFO(r.err);
  REQUIRE(r.code == 0);
  return nlohmann::json::parse(r.out);
}

nlohmann::json by_name(nlohmann::json const& lines, char const* member) {
  nlohmann::json found;
  for (auto const& line : lines) found[line[member].get<std::string>()] = line;
  return found;
}

}  // namespace

TEST_CASE("a line of Python has the sums of the kernels that it launched") {
  scratch_folder const folder;
  write_python_step(folder / "app.gpuprof");
  auto const kernels = by_name(
      parsed(run_cli(folder, "roofline app.gpuprof -f json --by kernel"))["kernels"], "name");
  auto const all = parsed(run_cli(folder, "roofline app.gpuprof -f json --by line"));
  auto const lines = by_name(all["lines"], "name");
  REQUIRE(lines.size() == 4);
  auto const near = [](double x) { return Approx(x).epsilon(1e-9); };
  auto const& gemm = kernels["gemm(__nv_bfloat16 const*, __nv_bfloat16 const*, float*, int)"];
  auto const& forward = lines["model.py:20"];
  auto const ns = value(gemm["time_ns"]) + value(kernels["axpy"]["time_ns"]);
  CHECK(value(forward["time_ns"]) == near(ns));
  CHECK(forward["launches"] == 6 + 5);
  CHECK(forward["where"]["file"] == "/program/model.py");
  CHECK(forward["where"]["function"] == "Mlp.forward");
  CHECK(forward["where"]["line"] == 20);
  double const of_gemm = 6 * 4e10, of_axpy = 5 * (2 * 1e7 + 1e6);
  CHECK(value(forward["flops"]) == near((of_gemm + of_axpy) / ns * 1e9));
  CHECK(value(forward["mfu"]) == near(of_gemm / ns * 1e9 / 700e12));
  CHECK(value(forward["hfu"]) == near((of_gemm + of_axpy) / ns * 1e9 / 700e12));
  CHECK(forward["mfu_flop"] == "tensor BF16");
  double sum = 0;
  for (auto const& line : all["lines"]) sum += value(line["time_ns"]);
  CHECK(sum == near(value(all["kernel_time_ns"])));
  auto const modules = by_name(
      parsed(run_cli(folder, "roofline app.gpuprof -f json --by module"))["modules"], "name");
  CHECK(value(modules["c_fc"]["time_ns"]) == near(ns));
  CHECK(modules["c_fc"]["where"]["class"] == "Linear");
  CHECK(value(modules["(no module)"]["time_ns"]) == near(sum - ns));
}

TEST_CASE("gpuprof lines has the figures of the roofline that are known for 80 % of a line") {
  scratch_folder const folder;
  write_python_step(folder / "app.gpuprof");
  for (std::string const by : {"line", "function", "file", "module"}) {
    CAPTURE(by);
    auto const plural = by + "s";
    auto const roofs =
        by_name(parsed(run_cli(folder, "roofline app.gpuprof -f json --by " + by))[plural], "name");
    auto const rows = by_name(parsed(run_cli(folder, "lines app.gpuprof -f json --by " + by)),
                              by == "module" ? "Module" : "Where");
    REQUIRE(rows.size() == roofs.size());
    for (auto const& [name, row] : rows.items()) {
      CAPTURE(name);
      auto const& roof = roofs[name];
      auto const is_known = name != "train.py:40";  // 50 of 80 us
      for (auto const* const figure : {"flops", "of_roof", "mfu", "hfu", "bound_by"})
        CHECK(row[figure] == (is_known ? roof[figure] : nlohmann::json()));
      if (is_known)
        CHECK(value(row["dram_bytes"]) ==
              Approx(value(roof["dram_bytes_per_second"]) * value(roof["time_ns"]) / 1e9 *
                     value(roof["known_shares"]["dram"]))
                  .epsilon(0.01));
    }
    if (by == "line") CHECK(value(roofs["train.py:40"]["of_roof"]) > 0);
  }
  auto const rows = by_name(parsed(run_cli(folder, "lines app.gpuprof -f json")), "Where");
  CHECK(value(rows["train.py:30"]["Allocated (MB)"]) == Approx(3));
  CHECK(value(rows["train.py:40"]["Allocated (MB)"]) == 0);
  auto const table = run_cli(folder, "lines app.gpuprof --wide");
  CHECK(holds(table.out, "Of roof (%)"));
  CHECK(holds(table.out, "MFU (%)"));
}

TEST_CASE("gpuprof lines says why a capture without counters has no figures of the roofline") {
  scratch_folder const folder;
  counted_trace c(trace_of({kernel("k", 0_us, 10_us).correlated(1)}));
  c.t.kernels[0].stack = static_cast<stack_id>(1);
  stack_record const frame{
      .stack = static_cast<stack_id>(1), .file = c.t.names.intern("/program/train.py"), .line = 3};
  write_capture(folder / "app.gpuprof", c, [&](capture::writer& file) { file.add(frame); });
  auto const r = run_cli(folder, "lines app.gpuprof");
  CHECK(r.code == 0);
  CHECK(holds(r.out + r.err,
              "no bytes, FLOP and shares of the roof: the capture holds no hardware counters"));
  CHECK_FALSE(holds(r.out, "MFU"));
  check_refusal(run_cli(folder, "roofline app.gpuprof --by line"), 1, "no hardware counters");
}

TEST_CASE("without Python stacks there is one line that says what they need") {
  check_refusal(session().roofline("--by line"), 1, "holds no Python stacks");
}

TEST_CASE("a step has the FLOP utilization of the time until the next step") {
  std::vector<event> events;
  for (int i = 0; i < 6; ++i) {
    duration_ns const begin{200'000 * i};
    events.push_back(range("step", begin, begin + 150_us));
    events.push_back(kernel("gemm", begin + 10_us, begin + 110_us)
                         .correlated(static_cast<std::uint32_t>(i) + 1));
  }
  counted_trace c(trace_of(events));
  c.plan_roofline().with_peaks();
  c.sample(1, 0, {}).sample(2, 1, {{tensor("bf16_dst_fp32"), 4e10}}).sample(3, 2, {});
  session const s(c);
  auto const steps = by_name(parsed(s.roofline("-f json --by step"))["steps"], "name");
  CHECK(steps.size() == 6);
  CHECK(steps["step 5"]["elapsed_ns"] == 200e3);
  CHECK(value(steps["step 5"]["mfu"]) == Approx(4e10 / 200e-6 / 700e12));
  CHECK(holds(s.roofline("--by step").out, "steps after the warm-up"));
  check_refusal(session().roofline("--by step"), 1, "has no steps that launched kernels");
}

TEST_CASE("graphs have their own lines, beside the sum of their kernels") {
  std::vector<event> events;
  for (std::uint32_t launch = 1; launch <= 2; ++launch)
    for (int node = 0; node < 2; ++node) {
      duration_ns const start{100'000 * launch + 10'000 * node};
      events.push_back(kernel(node == 0 ? "a" : "b", start, start + 10_us).correlated(launch));
    }
  for (auto const* const alone : {"a", "b"}) {
    auto const correlation = static_cast<std::uint32_t>(alone[0]);
    duration_ns const start{10'000 * correlation};
    events.push_back(kernel(alone, start, start + 9_us).correlated(correlation));
  }
  counted_trace c(trace_of(events));
  for (auto& kernel : c.t.kernels)
    if (raw(kernel.correlation) <= 2) kernel.graph = static_cast<graph_id>(5);
  c.plan(0, {dram_read_metric, dram_write_metric}).sample(1, 0, {{dram_read_metric, 10e6}});
  c.samples[0].opened = trace_start + 95_us, c.samples[0].closed = trace_start + 125_us;
  c.sample('a', 0, {{dram_read_metric, 5e6}}, 100_ns, 100_ns);
  c.sample('b', 0, {{dram_read_metric, 6e6}}, 100_ns, 100_ns);
  session const s(c);
  auto const table = s.roofline("--by graph").out;
  CHECK(holds(table, "Roofline by CUDA Graph"));
  CHECK(holds(table, "Nodes' DRAM (%)"));
  auto const all = nlohmann::json::parse(s.roofline("--by graph --format json").out);
  REQUIRE(all["graphs"].size() == 1);
  auto const& graph = all["graphs"][0];
  CHECK(graph["name"] == "[CUDA graph 5]");
  CHECK(graph["launches"] == 2);
  CHECK(graph["dram_bytes_per_second"].get<double>() == Approx(10e6 / 20e-6));
  CHECK(graph["nodes_exceed"]["dram_bytes"].get<double>() == Approx(0.1));
  CHECK(graph["nodes_exceed"]["l2_bytes"].is_null());
  CHECK(holds(s.roofline("--by graph --format csv").out,
              ",nodes_exceed_tensor_cycles,flop_known_share,read_by_ranks,dram_known_share,"));
  auto const kernels = s.roofline().out;
  CHECK_FALSE(holds(kernels, "[CUDA graph"));
  // Launches inside graphs and outside, as in stats.
  auto const lines = nlohmann::json::parse(s.roofline("-f json").out)["kernels"];
  auto const sums = nlohmann::json::parse(
      run_cli(s.folder, "stats -r cuda_gpu_kern_sum -f json app.gpuprof").out);
  REQUIRE(lines.size() == 2);
  for (auto const& line : lines)
    CHECK(std::count_if(sums.begin(), sums.end(), [&](auto const& sum) {
            return sum["Name"] == line["name"] && sum["Instances"] == line["launches"];
          }) == 1);
  CHECK(holds(s.roofline("-f json").out, "1 CUDA graph counted as a whole; --by graph"));
  CHECK_FALSE(holds(s.roofline("--by graph -f json").out, "--by graph shows"));
  check_refusal(session().roofline("--by graph"), 1, "holds no CUDA graphs");
}

TEST_CASE("CSV and SVG are alone on standard output, the rest goes to stderr") {
  session const s;
  auto const csv = s.roofline("--format csv");
  CHECK(csv.code == 0);
  check_golden("roofline_kernels.csv", csv.out);
  CHECK(holds(csv.err, "captured: ./train on NVIDIA H200"));
  CHECK(holds(csv.err, "known: DRAM and L2 rates of 97.0% of the kernel time, FLOP of 97.0%"));
  auto const svg = s.roofline("--format svg");
  CHECK(svg.out.starts_with("<svg "));
  CHECK(svg.out.ends_with("</svg>\n"));
  check_golden("roofline_kernels.svg", svg.out);
}

TEST_CASE("a chart without points is not drawn, and one line says how to get some") {
  scratch_folder const folder;  // sampled alone: no FLOP of any kernel
  auto const r =
      run_cli(folder, "roofline " + test_data("h200/mixed_sampled.gpuprof") + " -o chart.svg");
  check_refusal(r, 1, "nothing to draw");
  CHECK(holds(r.err, "--metrics auto"));
  CHECK_FALSE(std::ifstream(folder / "chart.svg").good());
}

TEST_CASE("JSON holds everything in one object") {
  auto const r = session().roofline("--format json");
  CHECK(r.err.empty());
  auto const all = nlohmann::json::parse(r.out);
  CHECK(all["overview"][0] == "captured: ./train on NVIDIA H200, 2 ms, 22 kernels, 2 NVTX ranges");
  CHECK(all["samples"] == 12);
  CHECK(all["cost"]["cost.start_ns"] == 9'800'000);
  CHECK(all["has_peaks"] == true);
  CHECK(all["roofs"]["dram_read"]["burst"] == 4e12);
  CHECK(all["roofs"]["tensor_bf16"]["theory"] == 819.2e12);
  CHECK(all["roofs"]["l2_read"]["theory"].is_null());
  REQUIRE(all["kernels"].size() == 5);
  CHECK(all["kernels"][0]["flops"] == 4e14);
  CHECK(all["kernels"][0]["bound_by"] == "tensor BF16");
  CHECK(all["kernels"][0]["roof_shares"]["tensor BF16"] == 0.625);
  CHECK(all["kernels"][4]["flops"] != nullptr);
  CHECK(
      nlohmann::json::parse(session().roofline("--format json --by range").out)["ranges"].size() ==
      2);
}

TEST_CASE("a limit leaves the first lines and says how many there are more") {
  session const s;
  auto const r = s.roofline("--limit 2");
  CHECK(holds(r.out, "... and 3 more; --limit 0 shows all"));
  CHECK_FALSE(holds(r.out, "axpy"));
  CHECK(nlohmann::json::parse(s.roofline("--format json --limit 1").out)["kernels"].size() == 1);
}

TEST_CASE("an existing output file is replaced only on request") {
  session const s;
  CHECK(s.roofline("--format svg -o roof.svg").code == 0);
  CHECK(read_file(s.folder / "roof.svg") == s.roofline("--format svg").out);
  auto const again = s.roofline("--format svg -o roof.svg");
  CHECK(again.code == 1);
  CHECK(holds(again.err, "roof.svg exists already"));
  CHECK(s.roofline("--format csv -o roof.svg --force-overwrite").code == 0);
  CHECK(read_file(s.folder / "roof.svg") == s.roofline("--format csv").out);
  CHECK(holds(s.roofline("-o no/such/place").err, "cannot write no/such/place"));
}

TEST_CASE("without peaks there are absolute figures and one line says how to get percentages") {
  session const s(counted_step());
  auto const r = s.roofline();
  CHECK(r.code == 0);
  CHECK(holds(r.out, "missing: peaks of this GPU, so no percentages: run gpuprof peaks (3 s)"));
  CHECK(holds(r.out, " 400.0 "));
  CHECK_FALSE(holds(r.out, "Bound by"));
  check_golden("roofline_no_peaks.svg", s.roofline("--format svg").out);
}

namespace {

gpu_peaks dram_peaks(std::string const& driver, double burst, std::string const& moment) {
  peak_result dram;
  dram.test = "dram_read";
  dram.outcome = peak_outcome::measured;
  dram.burst = {.value = burst, .spread = 0, .samples = 1, .chip = {}};
  gpu_peaks all;
  all.key.uuid = "GPU-1";
  all.key.driver_version = driver;
  all.key.sm_count = 100;
  all.key.max_sm_clock_mhz = 2000;
  all.key.power_limit_w = static_cast<std::uint32_t>(burst / 1e10);  // another state of the GPU
  all.measured_at = moment;
  all.results = {dram};
  return all;
}

}  // namespace

TEST_CASE("peaks stored after a capture are used for it, if GPU and driver are the same") {
  auto c = counted_step();
  c.device.uuid = c.t.names.intern("GPU-1");
  session const s(c);
  auto const store = s.folder / "peaks";
  struct variable {
    explicit variable(std::string const& value) { setenv("GPUPROF_PEAKS_DIR", value.c_str(), 1); }
    ~variable() { unsetenv("GPUPROF_PEAKS_DIR"); }
  } const set_to(store);
  auto const json = [&] { return nlohmann::json::parse(s.roofline("-f json").out); };
  CHECK(json()["has_peaks"] == false);
  // From before the capture: they did not hold for the GPU as it was.
  REQUIRE(peaks::save_peaks(store, dram_peaks("", 6e12, "2023-11-14T22:13:19Z")));
  CHECK(json()["has_peaks"] == false);
  REQUIRE(peaks::save_peaks(store, dram_peaks("of another day", 9e12, "2026-05-01T00:00:00Z")));
  CHECK(json()["has_peaks"] == false);
  REQUIRE(peaks::save_peaks(store, dram_peaks("", 4e12, "2026-04-02T00:00:00Z")));
  REQUIRE(peaks::save_peaks(store, dram_peaks("", 3e12, "2026-04-01T00:00:00Z")));
  std::ofstream(store + "/GPU-1-damaged.json") << "damage";
  CHECK(json()["roofs"]["dram_read"]["burst"] == 4e12);
  CHECK(holds(s.roofline().out, "; peaks measured 2026-04-02T00:00:00Z, after the capture\n"));
  // What a capture holds itself comes first.
  auto own = counted_step().with_peaks();
  own.device.uuid = own.t.names.intern("GPU-1");
  CHECK(holds(session(own).roofline().out, "; peaks measured 2026-03-01T12:00:00Z\n"));
}

namespace {

/// Of the longest kernel, the first six launches, nothing was read, and so none was rewritten.
counted_trace without_longest() {
  auto c = counted_step();
  std::erase_if(c.samples, [](auto const& sample) { return raw(sample.correlation) <= 6; });
  for (auto& kernel : c.t.kernels)
    if (raw(kernel.correlation) <= 6) kernel.duration = 100_us;
  return c;
}

}  // namespace

TEST_CASE("readings of another rank of the job are used for the same kernels and marked") {
  scratch_folder folder;
  auto const json = [&] {
    return nlohmann::json::parse(run_cli(folder, "roofline run.rank3.gpuprof -f json").out);
  };
  write_capture(folder / "run.rank3.gpuprof", without_longest().with_peaks());
  auto const alone = json();
  REQUIRE(alone["kernels"][0]["flops"].is_null());
  CHECK(alone["kernels"][0]["read_by_ranks"].empty());
  auto first = counted_step();
  first.command_line = "./train --local-rank=0";
  write_capture(folder / "run.rank0.gpuprof", first);
  write_capture(folder / "run.rank1.gpuprof", counted_step());
  write_capture(folder / "other.rank0.gpuprof", counted_step());
  auto const all = json();
  CHECK(all["kernels"][0]["flops"] == 4e14);
  CHECK(all["kernels"][0]["bound_by"] == "tensor BF16");
  CHECK(all["kernels"][0]["read_by_ranks"] == nlohmann::json::array({0}));
  CHECK(all["kernels"][1]["read_by_ranks"].empty());  // it has readings of its own
  CHECK(all["kernels"][1] == alone["kernels"][1]);
  CHECK(holds(all["notes"].back(), "readings of 1 kernel are those of rank 0: "));
  CHECK(holds(run_cli(folder, "roofline run.rank3.gpuprof").out,
              "(97.0% counted, 60.6% with readings of other ranks)"));
  auto const csv = run_cli(folder, "roofline run.rank3.gpuprof -f csv").out;
  CHECK(holds(csv, ",flop_known_share,read_by_ranks,dram_known_share,"));
  CHECK(holds(csv, ",1,0,1,1,"));  // these columns of the first kernel
}

TEST_CASE("readings of another rank are not used if a kernel runs longer or at another time") {
  scratch_folder folder;
  write_capture(folder / "run.rank1.gpuprof", without_longest());
  auto faster = counted_step();
  for (auto& kernel : faster.t.kernels) kernel.duration.value /= 2;
  write_capture(folder / "run.rank0.gpuprof", faster);
  auto later = counted_step();
  later.captured_from = trace_start + 3_ms;
  later.captured_until = trace_start + 5_ms;
  write_capture(folder / "run.rank2.gpuprof", later);
  auto const read_by = [&] {
    auto const all =
        nlohmann::json::parse(run_cli(folder, "roofline run.rank1.gpuprof -f json").out);
    return all["kernels"][0]["read_by_ranks"];
  };
  CHECK(read_by().empty());
  write_capture(folder / "run.rank4.gpuprof", counted_step());
  CHECK(read_by() == nlohmann::json::array({4}));
}

TEST_CASE("the lines above a table say what is known, its cost and what is missing") {
  auto c = counted_step();
  c.captured_until = trace_start + 2000_ms;
  // 280 ms for launches, 50 ms for samples, and 9.8 ms to start.
  c.counters = {{"cost.counters_ns", 330'000'000},
                {"cost.counters_once_ns", 200'000'000},
                {"cost.sampling_ns", 50'000'000},
                {"cost.once_allowed_ns", 250'000'000},
                {"counters.kinds", 12},
                {"counters.kinds_unread", 2}};
  auto const lines_of = [](std::string const& out) { return out.substr(0, out.find("\n\n")); };
  CHECK(lines_of(session(c).roofline().out) ==
        "captured: ./train on NVIDIA H200, 2.000 s, 22 kernels, 2 NVTX ranges\n"
        "lost: nothing\n"
        "known: DRAM and L2 rates of 97.0% of the kernel time, FLOP of 97.0%, counted\n"
        "cost: the program waited 339.8 ms for this profiler, 16.9 % of the run (309.8 ms once, 30 "
        "ms "
        "for counters later, which --overhead-budget limits); what it lost to counters cannot be "
        "told in a run of 2 s\n"
        "missing: peaks of this GPU, so no percentages: run gpuprof peaks (3 s), then this again");
  // The longest kernel was not counted.
  std::erase_if(c.samples, [&](auto const& sample) { return raw(sample.correlation) <= 6; });
  auto const out = lines_of(session(c).roofline().out);
  INFO(out);
  CHECK(holds(out, ". Also FLOP of "));
  CHECK(holds(out,
              "% of the kernel time: 2 of 12 kinds of launches were not read in full; "
              "gpuprof profile --metrics auto --overhead-budget 5, or a longer run, reads more"));
  CHECK(std::count(out.begin(), out.end(), '\n') == 4);
  counted_trace bytes(trace_of({kernel("k", 10_us, 60_us).correlated(1)}));
  bytes.plan(0, {dram_read_metric, dram_write_metric}).sample(1, 0, {{dram_read_metric, 1e6}});
  CHECK(holds(
      lines_of(session(bytes.with_peaks()).roofline().out),
      "\nmissing: FLOP of 100.0% of the kernel time: the metrics that were chosen count none; "
      "--set roofline does"));
}

TEST_CASE("without counters there is one line that says how to record them") {
  session const s(counted_trace(trace_of({kernel("k", 0_us, 5_us)})));
  check_refusal(s.roofline(), 1, "record them with gpuprof profile --metrics auto");
}

TEST_CASE("if counters were requested but never read, the line says that") {
  counted_trace c(trace_of({kernel("k", 0_us, 5_us)}));
  c.counters = {{"counters.launches_read", 0}, {"counters.skipped_busy", 1000}};
  session const s(c);
  check_refusal(s.roofline(), 1,
                "holds no hardware counters: they were asked for, but the program ended, or they "
                "were refused, before any was read (1,000 launches came before the GPU was idle)");
}

TEST_CASE("gpuprof stats has the counters by kernel and by range, and takes its filters") {
  session const s;
  auto const stats = [&](std::string const& arguments) {
    return run_cli(s.folder, "stats app.gpuprof -f csv -r " + arguments).out;
  };
  // 60 MB in each of gemm's six launches, five of them in "forward"; nobody slowed down counts.
  CHECK(holds(stats("gpu_metrics_sum:base"),
              "\n6,1,60000000,0,360000000,dram__bytes_read.sum,gemm\n"));
  CHECK(holds(stats("gpu_metrics_sum:base --filter-nvtx forward"),
              "\n5,1,60000000,0,300000000,dram__bytes_read.sum,gemm\n"));
  CHECK_FALSE(holds(stats("gpu_metrics_sum:base --filter-nvtx forward"), "axpy"));
  CHECK(holds(stats("nvtx_metrics_sum"),
              "\nforward,PushPop,1,5,1,60000000,0,300000000,dram__bytes_read.sum\n"));
  session const without(counted_trace(trace_of({kernel("k", 0_us, 5_us)})));
  CHECK(holds(run_cli(without.folder, "stats app.gpuprof -r gpu_metrics_sum,nvtx_metrics_sum").out,
              "record them with gpuprof profile --metrics auto"));
}

TEST_CASE("missing ranges are reported as missing") {
  auto c = counted_step();
  c.t.begins.clear();
  c.t.ends.clear();
  check_refusal(session(c).roofline("--by range"), 1, "holds no NVTX ranges that launched kernels");
}

TEST_CASE("the report can show only one of several GPUs") {
  auto c = counted_step();
  for (auto& kernel : c.t.kernels)
    if (raw(kernel.correlation) > 6) kernel.device = static_cast<device_id>(1);
  for (auto& sample : c.samples)
    if (raw(sample.correlation) > 6) sample.device = static_cast<device_id>(1);
  session const s(c);
  auto const r = s.roofline("--device 0");
  CHECK(holds(r.out, "gemm"));
  CHECK_FALSE(holds(r.out, "axpy"));
  check_refusal(s.roofline("--device 7"), 1, "there is no GPU 7 in app.gpuprof; it has 0");
}

TEST_CASE("lines can be filtered by kernel, range and time, as in stats") {
  session const s;
  auto const lines_of = [&](std::string const& arguments) {
    return nlohmann::json::parse(s.roofline("-f json " + arguments).out)["kernels"];
  };
  auto const all = lines_of("");
  REQUIRE(all.size() > 1);
  auto const name = all[1]["name"].get<std::string>();
  auto const one = lines_of("--kernel '" + name + "'");
  REQUIRE(one.size() == 1);
  for (auto const* const figure : {"launches", "avg_ns", "dram_bytes_per_second", "flops"})
    CHECK(one[0][figure] == all[1][figure]);
  CHECK(one[0]["time_share"] == 1.0);
  check_refusal(s.roofline("--filter-time 100s/"), 1, "no kernel passes the filters");
  // A list takes one word: what follows it is the capture.
  CHECK(run_cli(s.folder, "roofline --kernel 'regex:.*' app.gpuprof --by range").code == 0);
  CHECK(run_cli(s.folder, "stats -r nvtx_sum app.gpuprof -f csv").code == 0);
  CHECK(holds(s.roofline("--kernel 'regex:.*'").out, "\nonly: --kernel regex:.*\n"));
  auto const sum = "all " + std::to_string(all.size()) + " together";
  CHECK(holds(s.roofline("--kernel 'regex:.*'").out, sum));
  CHECK_FALSE(holds(s.roofline("").out, " together"));
  CHECK_FALSE(holds(s.roofline("--kernel '" + name + "'").out, " together"));
  check_refusal(s.roofline("-f csv -o app.gpuprof --force-overwrite"), 1,
                "is the file that is read");
  check_refusal(s.roofline("--by range --filter-time 100s/"), 1, "among what passes the filters");
  check_refusal(s.roofline("--by graph --device 0"), 1, "no CUDA graphs among what passes");
  check_refusal(s.roofline("--filter-nvtx nowhere"), 1, "nowhere");
}

TEST_CASE("the extension of the output says the format") {
  session const s;
  CHECK(s.roofline("-o chart.svg").code == 0);
  CHECK(read_file(s.folder / "chart.svg").starts_with("<svg"));
  CHECK(s.roofline("-o lines.tsv").code == 0);
  CHECK(read_file(s.folder / "lines.tsv").starts_with("name\t"));
}

TEST_CASE("a wrong command line ends with 2 and one line that names what is accepted") {
  session const s;
  check_refusal(run_cli(s.folder, "roofline"), 2, "FILE");
  check_refusal(s.roofline("--by stream"), 2, "choose from kernel, kind, signature, range");
  check_refusal(s.roofline("--format html"), 2, "choose from table, csv, tsv, json, svg");
  check_refusal(s.roofline("--limit -3"), 2, "--limit");
  check_refusal(s.roofline("--device one"), 2, "--device");
  check_refusal(s.roofline("--device 4294967296"), 2, "--device");
}

TEST_CASE("a file that is not a capture is refused, a cut one is read up to the cut") {
  session const s;
  std::ofstream(s.folder / "text.gpuprof") << "hello, this is not a capture, whatever its name\n";
  check_refusal(run_cli(s.folder, "roofline text.gpuprof"), 1, "not a gpuprof capture");
  check_refusal(run_cli(s.folder, "roofline missing.gpuprof"), 1, "missing.gpuprof");
  auto const whole = read_file(s.folder / "app.gpuprof");
  for (std::size_t length = 0; length < whole.size(); length += 1 + whole.size() / 40) {
    std::ofstream(s.folder / "cut.gpuprof", std::ios::binary) << whole.substr(0, length);
    auto const r = run_cli(s.folder, "roofline cut.gpuprof --by range --format json");
    INFO("cut at " << length << " of " << whole.size() << ": " << r.err);
    CHECK((r.code == 0 || r.code == 1));
    if (r.code == 1) CHECK(std::count(r.err.begin(), r.err.end(), '\n') == 1);
    if (r.code == 0) CHECK(nlohmann::json::accept(r.out));
  }
}

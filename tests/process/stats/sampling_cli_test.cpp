// SPDX-License-Identifier: Apache-2.0
#include "support/counted_capture.hpp"
#include "support/run_cli.hpp"
#include "support/simulated_gpu.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>

using namespace gpuprof;
using namespace gpuprof::test;

namespace {

/// Long kernels, short ones and copies; the second half of them is sampled.
counted_trace sampled_steps() {
  simulated_gpu gpu(12);
  gpu.with_jitter(0.1).with_idle_rate(20);
  for (int i = 0; i < 400; ++i) {
    if (i == 0) gpu.range_at("warm up", 0, 1);
    gpu.run("gemm", 180, {6e7, 20, 5e5}).wait(gpu.uniform(1, 9));
    for (int k = 0; k < 6; ++k)
      gpu.run(gpu.toss(0.5) ? "norm" : "gelu", 7, {2e7, 60, 0}).wait(gpu.uniform(0.5, 5));
    gpu.copy_at(gpu.now_us() + 1, 9, 1 << 20, 1e6).wait(12);
  }
  auto const half = gpu.now_us() / 2, end = gpu.now_us();
  gpu.range_at("sampled half", half, end + 1);
  auto made = gpu.sampled(20, half);
  made.windows[0].samples = static_cast<std::uint64_t>((end - half) / 20);
  // DRAM writes: nothing wrote, but the roof wants to know.
  made.plan(0, {dram_write_metric});
  made.metrics.back().sampled = true;
  auto const rows = made.rows;
  for (auto const& row : rows)
    if (row.metric == made.metrics[0].metric)
      made.rows.push_back({made.metrics.back().metric, row.start, row.duration, 0});
  return made;
}

struct session {
  explicit session(counted_trace const& c) { write_capture(folder / "app.gpuprof", c); }
  outcome roofline(std::string const& arguments = "") const {
    return run_cli(folder, "roofline app.gpuprof " + arguments);
  }
  outcome stats(std::string const& arguments) const {
    return run_cli(folder, "stats app.gpuprof " + arguments);
  }
  scratch_folder folder;
};

bool holds(std::string const& text, std::string const& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("a capture with only samples has a roofline that names the source of its figures") {
  session const s(sampled_steps().with_peaks());
  auto const r = s.roofline();
  CHECK(r.code == 0);
  CHECK(r.err.empty());
  check_golden("roofline_sampled.txt", r.out);
}

TEST_CASE("JSON and CSV have sources and errors, and JSON describes the sampling") {
  session const s(sampled_steps().with_peaks());
  auto const all = nlohmann::json::parse(s.roofline("-f json").out);
  CHECK(all["samples"] == 0);
  CHECK(all["samples_in_time"]["windows"] == 1);
  CHECK(all["samples_in_time"]["intervals"] > 1000);
  CHECK(all["samples_in_time"]["slowdown"].get<double>() == Approx(1).epsilon(0.01));
  auto const& kernels = all["kernels"];
  REQUIRE(kernels.size() == 3);
  CHECK(kernels[0]["name"] == "gemm");
  CHECK(kernels[0]["sources"]["dram"] == "sampled");
  CHECK(kernels[0]["dram_bytes_per_second"].get<double>() == Approx(6e7 / 180e-6).epsilon(0.01));
  CHECK(kernels[0]["flop_source"] == "not measured");
  CHECK(kernels[1]["sources"]["dram"] == "fitted");
  CHECK(kernels[1]["sources"]["l2"] == "");
  CHECK(kernels[1]["shared"] == false);
  CHECK(kernels[1]["dram_bytes_per_second"].get<double>() == Approx(2e7 / 7e-6).epsilon(0.05));
  CHECK(kernels[1]["dram_bytes_per_second_error"].get<double>() > 0);
  auto const csv = s.roofline("-f csv").out;
  CHECK(holds(csv.substr(0, csv.find('\n')), ",dram_source,l2_source,sm_clock_source,"));
  CHECK(holds(csv, ",sampled,,sampled,sampled,sampled,,"));
  CHECK(holds(csv, ",fitted,,sampled,fitted,fitted,,"));
}

TEST_CASE("gpuprof stats has samples by kernel and by range, with source and error at the end") {
  session const s(sampled_steps());
  auto const kernels = s.stats("-r gpu_metrics_sum -f csv");
  CHECK(kernels.code == 0);
  CHECK(kernels.out.starts_with(
      "Launches,Samples,Avg,StdDev,Total,Metric,Name,Source,Error,Shared\n"));
  CHECK(holds(kernels.out, "dram__bytes_read.sum,gemm,sampled,"));
  CHECK(holds(kernels.out, "dram__bytes_read.sum,gelu,fitted,"));
  CHECK(holds(kernels.err, "samples in time: "));
  auto const ranges = s.stats("-r nvtx_metrics_sum -f csv");
  CHECK(holds(ranges.out, "\nsampled half,PushPop,1,"));
  CHECK(holds(ranges.out, ",dram__bytes_read.sum,mixed,"));
  // The samples are those of all launches, whatever the filter leaves in.
  auto const filtered = s.stats("-r gpu_metrics_sum -f csv --filter-nvtx 'warm up'").out;
  CHECK(holds(filtered, "\n1,"));
  CHECK(holds(filtered, "dram__bytes_read.sum,gemm,sampled,"));
}

TEST_CASE("a shape that is two problems says how far those of a range may be from all of them") {
  simulated_gpu gpu(12);
  gpu.with_jitter(0.02).with_idle_rate(20);
  for (int i = 0; i < 400; ++i) {
    if (i == 200) gpu.range_at("large", gpu.now_us(), 1e6);
    if (i < 200) gpu.run("gemm", 180, {6e7, 20, 5e5}).wait(gpu.uniform(21, 29));
    if (i >= 200) gpu.run("gemm", 240, {9e7, 20, 5e5}).wait(gpu.uniform(21, 29));
  }
  auto made = gpu.sampled(20, 0);
  made.windows[0].samples = static_cast<std::uint64_t>(gpu.now_us() / 20);
  made.plan(0, {dram_write_metric});
  made.metrics.back().sampled = true;
  auto const rows = made.rows;
  for (auto const& row : rows)
    if (row.metric == made.metrics[0].metric)
      made.rows.push_back({made.metrics.back().metric, row.start, row.duration, 0});
  session const s(made);
  auto const dram = [&](std::string const& arguments) {
    auto const kernel = nlohmann::json::parse(s.roofline("-f json " + arguments).out)["kernels"][0];
    return std::pair(kernel["dram_bytes_per_second"].get<double>(),
                     kernel["dram_bytes_per_second_error"].get<double>());
  };
  auto const [all, all_error] = dram("");
  CHECK(all == Approx(15e7 / 420e-6).epsilon(0.01));
  CHECK(all_error < 0.02 * all);
  auto const [large, large_error] = dram("--filter-nvtx large");
  CHECK(std::abs(large - 9e7 / 240e-6) < 2 * large_error);
  CHECK(large_error > 0.1 * large);
  CHECK(large_error < 0.3 * large);
}

TEST_CASE("lost samples are reported first") {
  auto c = sampled_steps();
  c.windows[0].overflows = 3;
  session const s(c);
  CHECK(holds(s.roofline().out,
              "\nmissing: samples, 3 times: the GPU's buffer for them ran over (a longer "
              "--pm-sampling-interval helps), or one sample covered others"));
  auto const notes = nlohmann::json::parse(s.roofline("-f json").out)["notes"];
  CHECK(holds(notes[0], "samples are missing, 3 times: the GPU's buffer for them ran over"));
  CHECK(holds(notes[1], "samples in time: "));
}

TEST_CASE("if filters left out kernels, samples give no figures, and one line says why") {
  auto c = sampled_steps();
  c.counters.emplace_back("seen.kernels_filtered", 1200);
  session const s(c);
  auto const roofline = nlohmann::json::parse(s.roofline("-f json").out);
  CHECK(roofline["kernels"][0]["dram_bytes_per_second"].is_null());
  CHECK(roofline["kernels"][0]["sources"]["sm_clock"] == "");
  auto const out = s.roofline().out;
  CHECK(
      holds(out, "samples in time are not used: 1,200 kernels that ran in them were left out by "));
  CHECK_FALSE(holds(s.roofline("-f json").out, "samples in time: "));
  auto const stats = s.stats("-r gpu_metrics_sum");
  CHECK(holds(stats.out + stats.err, "samples in time are not used: 1,200 kernels"));
  CHECK_FALSE(holds(stats.out, "dram__bytes_read.sum"));
}

TEST_CASE("if records of GPU work were lost, samples give no figures, and one line says why") {
  auto c = sampled_steps();
  c.counters.emplace_back("lost.buffers", 3);
  c.counters.emplace_back("lost.kernels", 1);
  session const s(c);
  auto const out = s.roofline().out;
  CHECK(holds(out,
              "samples in time are not used: records of what ran in them were lost: 1 kernel, 3 "
              "buffers"));
  CHECK(holds(s.roofline("-f csv").err, "samples in time are not used"));
  // Names that are lost leave the records where they are, and who launched a kernel is no matter.
  for (auto const* const lost : {"lost.names", "lost.launch_notes"}) {
    auto named = sampled_steps();
    named.counters.emplace_back(lost, 3);
    CHECK(holds(session(named).roofline("-f json").out, "samples in time: "));
  }
}

TEST_CASE("losing a thousandth of the records does not spoil samples, losing a buffer does") {
  auto c = sampled_steps();
  c.counters.emplace_back("seen.kernels", 5000);
  c.counters.emplace_back("lost.kernels_without_time", 5);
  CHECK(holds(session(c).roofline("-f json").out, "samples in time: "));
  c.counters.emplace_back("lost.kernels", 1);
  CHECK(holds(session(c).roofline().out, "samples in time are not used"));
  auto buffer = sampled_steps();
  buffer.counters.emplace_back("seen.kernels", 5000);
  buffer.counters.emplace_back("lost.buffers", 1);
  CHECK(holds(session(buffer).roofline().out, "samples in time are not used"));
}

TEST_CASE("samples past the end of the capture are not used") {
  auto c = sampled_steps();
  auto const whole = nlohmann::json::parse(session(c).roofline("-f json").out);
  // The capture ends after three quarters of the samples; work that was launched before runs on.
  auto const end = trace_start.value + (c.captured_until.value - trace_start.value) / 8 * 7;
  std::erase_if(c.t.kernels, [&](auto const& kernel) { return kernel.start.value > end; });
  std::erase_if(c.t.copies, [&](auto const& copy) { return copy.start.value > end; });
  c.captured_until.value = end;
  auto const cut = nlohmann::json::parse(session(c).roofline("-f json").out);
  CHECK(cut["samples_in_time"]["intervals"] == whole["samples_in_time"]["intervals"]);
  auto const left_out = cut["samples_in_time"]["intervals_not_recorded"].get<int>();
  CHECK(left_out > cut["samples_in_time"]["intervals"].get<int>() / 5);
  for (auto const& kernel : cut["kernels"]) {
    INFO(kernel["name"]);
    CHECK(kernel["dram_bytes_per_second"].get<double>() ==
          Approx(kernel["name"] == "gemm" ? 6e7 / 180e-6 : 2e7 / 7e-6).epsilon(0.03));
  }
}

TEST_CASE("a program that was killed lacks records of the last flush, and samples of that time") {
  auto c = sampled_steps();
  session const s(c);
  auto const path = s.folder / "app.gpuprof";
  std::filesystem::resize_file(path, std::filesystem::file_size(path) - 8);
  auto const all = nlohmann::json::parse(s.roofline("-f json").out);
  CHECK(all["samples_in_time"]["intervals_not_recorded"] == all["samples_in_time"]["intervals"]);
  CHECK(all["kernels"][0]["dram_bytes_per_second"].is_null());
}

TEST_CASE("samples in which no kernel ran give no figures, and no failure") {
  auto c = sampled_steps();
  c.t.kernels.clear();
  session const s(c);
  CHECK(s.roofline().code == 0);
  CHECK(holds(s.stats("-r gpu_metrics_sum").out, "no sample of the counters holds for a kernel"));
}

TEST_CASE("a capture with damaged samples is read without failure") {
  auto c = sampled_steps();
  for (std::size_t i = 0; i < c.rows.size(); i += 7) {
    c.rows[i].start.value = i * 0x9E3779B97F4A7C15u;
    c.rows[i].duration.value = static_cast<std::int64_t>(i * 0x9E3779B97F4A7C15u);
  }
  c.rows[3].metric = static_cast<metric_id>(999);
  session const s(c);
  CHECK(s.roofline("-f json").code == 0);
  CHECK(nlohmann::json::accept(s.roofline("-f json").out));
}

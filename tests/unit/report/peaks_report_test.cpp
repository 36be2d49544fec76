// SPDX-License-Identifier: Apache-2.0
#include "host/report/peaks_table.hpp"
#include "host/report/peaks_words.hpp"
#include "support/catch.hpp"
#include "support/golden.hpp"
#include "support/pretended_gpu.hpp"
#include "text/padding.hpp"

#include <algorithm>
#include <sstream>

using namespace gpuprof;
using namespace gpuprof::host;
using namespace gpuprof::test;

namespace {

std::string shown(std::vector<gpu_peaks> const& gpus, report::peaks_layout const& layout = {}) {
  std::string text;
  report::write_peaks(gpus, layout, [&](std::string_view piece) { text += piece; });
  return text;
}

std::size_t widest_line(std::string const& text) {
  std::istringstream lines(text);
  std::size_t widest = 0;
  for (std::string line; std::getline(lines, line);)
    widest = std::max(widest, text::width_of(line));
  return widest;
}

/// The first line that begins with `title`.
std::string line_with(std::string const& text, std::string const& title) {
  auto const at = text.find("\n" + title);
  REQUIRE(at != std::string::npos);
  return text.substr(at + 1, text.find('\n', at + 1) - at - 1);
}

gpu_peaks gpu_with(peak_result result) {
  auto gpu = pretended_gpu();
  gpu.results = {std::move(result)};
  return gpu;
}

bool includes(std::string const& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("one GPU is shown in full: its properties, then a table for each group with bars") {
  auto gpu = pretended_gpu();
  gpu.remarks = {"a remark on everything"};
  gpu.key.application_sm_clock_mhz = 900;
  check_golden("peaks_one_gpu.txt", shown({gpu}));
  auto const ascii = shown({gpu}, {.width = 100, .blocks = false, .labels = {}});
  check_golden("peaks_one_gpu_ascii.txt", ascii);
  CHECK(std::all_of(ascii.begin(), ascii.end(), [](char c) { return c > 0; }));
}

TEST_CASE("several GPUs stand side by side, with the spread between them") {
  auto second = pretended_gpu(2, 0.9);
  second.results[0] =
      without_figure(second.results[0], peak_outcome::failed, "the GPU was taken away");
  auto third = pretended_gpu(3, 1.02);
  third.results.erase(third.results.begin() + 1);
  check_golden("peaks_three_gpus.txt", shown({pretended_gpu(), second, third}));
}

TEST_CASE("GPUs that do not fit side by side continue below") {
  std::vector<gpu_peaks> gpus;
  for (int i = 0; i < 16; ++i) gpus.push_back(pretended_gpu(i % 10));
  auto const text = shown(gpus);
  CHECK(widest_line(text) <= 120);
  CHECK(includes(text, "GPU 15"));
  CHECK(includes(
      shown({gpus[0], gpus[1]}, {.width = 120, .blocks = true, .labels = {"left", "GPU 7"}}),
      "   left   GPU 7  spread"));
}

TEST_CASE("no line is wider than the requested width, unless a single word is") {
  auto gpu = pretended_gpu();
  gpu.remarks = {std::string("many words ") + std::string(40, 'x') +
                 " and many more words so that one line cannot hold them at any width that a "
                 "terminal may have, which is then wrapped"};
  gpu.results[2].title = "Tensor FP16, FP32 accumulate";
  gpu.results[2].sustained.chip.limiters = 0x4 | 0x20;
  for (std::size_t const width : {120u, 200u}) {
    auto const text = shown({gpu}, {.width = width, .blocks = true, .labels = {}});
    INFO(text);
    CHECK(widest_line(text) <= width);
  }
}

TEST_CASE("a row without a figure says why instead of numbers") {
  auto const text = shown({pretended_gpu()});
  CHECK(
      includes(line_with(text, "Tensor FP8 (E4M3)"), "  failed: its result is wrong in 3 of 256"));
  CHECK(includes(line_with(text, "Tensor FP4 (NVFP4)"), "  not available: compute capability 9.0"));
}

TEST_CASE("units are scaled to the usual ones") {
  CHECK(report::unit_for_reading("FLOP/s").name == "TFLOP/s");
  CHECK(report::unit_for_reading("op/s").name == "Top/s");
  CHECK(report::unit_for_reading("B/s").name == "GB/s");
  CHECK(report::unit_for_reading("s").name == "us");
  CHECK(report::short_number(0.5123) == "0.512");
  CHECK(report::short_number(9.876) == "9.88");
  CHECK(report::short_number(66.91) == "66.9");
  CHECK(report::short_number(989.44) == "989.4");
  CHECK(report::short_number(33450.4) == "33450");
  CHECK(report::short_number(0) == "0.000");
}

TEST_CASE("limiters are named, and the specific one replaces the general one") {
  CHECK(report::limit_words(0).empty());
  CHECK(report::limit_words(0x4) == "power");
  CHECK(report::limit_words(0x8) == "slowdown");
  CHECK(report::limit_words(0x8 | 0x40) == "thermal");
  CHECK(report::limit_words(0x20 | 0x40) == "thermal");
  CHECK(report::limit_words(0x8 | 0x80) == "power brake");
  CHECK(report::limit_words(0x4 | 0x20) == "power, thermal");
  CHECK(report::limit_words(0x1) == "idle");
  CHECK(report::limit_words(0x2) == "application clocks");
  CHECK(report::limit_words(0x10 | 0x100) == "sync boost, display clock");
  CHECK(report::limit_words(0x8000) == "other");
}

TEST_CASE("a limiter of the burst or of the sustained run is shown in the row") {
  auto result = pretended_gpu().results[2];
  result.burst.chip.limiters = 0x20;
  CHECK(includes(shown({gpu_with(result)}), "power, thermal\n"));
}

TEST_CASE("operands that are all zero are mentioned beside the title") {
  auto result = pretended_gpu().results[2];
  result.operands = "zeros";
  CHECK(includes(shown({gpu_with(result)}), "\nTensor BF16, zeros  "));
}

TEST_CASE("bars never exceed their width whatever the figure") {
  auto const bar_for = [](double share) {
    auto result = measured("x", "memory", "X", "B/s", share * 1e12, 1e12);
    return line_with(shown({gpu_with(result)}, {.width = 120, .blocks = false, .labels = {}}), "X");
  };
  CHECK(includes(bar_for(0.5), "  ###########           | 50%"));
  CHECK(includes(bar_for(0), "                        |  0%"));
  CHECK(includes(bar_for(1.004), "  ######################|100%"));
  CHECK(includes(bar_for(20), "  ######################|2000%"));
}

TEST_CASE("times have a median and no bar") {
  auto const text = shown({gpu_with(pretended_gpu().results.back())});
  CHECK(includes(text, "Latency, us "));
  CHECK(includes(text, "median"));
  CHECK_FALSE(includes(text, "theory  "));
  CHECK(includes(line_with(text, "Launch: "), "5.00   12.0%"));
}

TEST_CASE("a report with results of different times says so") {
  auto gpu = pretended_gpu();
  gpu.results[0].measured_at = "2025-12-01T00:00:00Z";
  gpu.results[3].measured_at = "2025-11-01T00:00:00Z";
  CHECK(includes(shown({gpu}), "some tests earlier, since 2025-11-01T00:00:00Z"));
}

TEST_CASE("peers of one test have separate lines, even side by side") {
  auto gpu = pretended_gpu();
  gpu.results = {measured("p2p", "links", "Peer copy to 0000:02", "B/s", 300e9, 0),
                 measured("p2p", "links", "Peer copy to 0000:03", "B/s", 200e9, 0)};
  auto const text = shown({gpu, gpu});
  CHECK(includes(line_with(text, "Peer copy to 0000:02"), "300.0  300.0    0.0%"));
  CHECK(includes(line_with(text, "Peer copy to 0000:03"), "200.0  200.0    0.0%"));
}

TEST_CASE("text from a file cannot break the table") {
  auto result = measured("x", "my\ngroup", "a\nb\x1b[1m", "B/s", 1e12, 0);
  result.remark = "two\nlines";
  auto gpu = gpu_with(result);
  gpu.name = "N\nN";
  gpu.measured_at = "x\ty";
  auto const text = shown({gpu});
  CHECK_FALSE(includes(text, "\x1b"));
  CHECK(includes(text, "N N (GPU-"));
  CHECK(includes(text, "two lines"));
  CHECK(includes(text, "My group, GB/s"));
}

TEST_CASE("unknown values are not shown") {
  CHECK(shown({}).empty());
  CHECK(includes(shown({gpu_peaks{}}), "a GPU without a name\n"));
  peak_result bare;
  bare.outcome = peak_outcome::measured;
  CHECK_FALSE(shown({gpu_with(bare)}).empty());
  bare.outcome = peak_outcome::failed;
  CHECK(includes(shown({gpu_with(bare)}), "failed\n"));
}

TEST_CASE("CSV has a row for each GPU and test with every field") {
  std::vector const gpus{pretended_gpu(1), pretended_gpu(2, 0.9)};
  std::string csv;
  text::write_csv(report::peaks_table(gpus), {}, [&](std::string_view piece) { csv += piece; });
  check_golden("peaks.csv", csv);
  CHECK(std::count(csv.begin(), csv.end(), '\n') == 1 + 2 * 8);
}

// SPDX-License-Identifier: Apache-2.0
// Captures that claim more rows than a machine has memory for: a line, never a crash.
#include "capture/layout.hpp"
#include "capture/table_buffer.hpp"
#include "process/stats/cli.hpp"

#include <algorithm>
#include <fstream>
#include <numeric>
#include <sys/resource.h>
#include <vector>

using namespace gpuprof;
using namespace gpuprof::test;

namespace {

/// Rows of one table, each with a number of its own in every column. They take no bytes.
std::string foretold_rows(capture::table_layout const& table, std::uint64_t blocks) {
  constexpr std::size_t rows = 32768;
  auto const header =
      capture::to_bytes_of_file_header(capture::format_major, capture::format_minor);
  std::vector<unsigned char> bytes(header.begin(), header.end());
  std::vector<std::uint64_t> numbers(rows);
  std::vector<std::uint64_t> const no_lengths(rows);
  capture::block_encoder encoder;
  for (std::uint64_t block = 0; block < blocks; ++block) {
    std::iota(numbers.begin(), numbers.end(), 1 + block * rows);
    std::vector<capture::column_values> columns;
    for (auto const& column : table.columns) {
      auto const is_text = column.type == capture::value_type::text;
      columns.push_back({.place = static_cast<std::uint16_t>(columns.size()),
                         .values = is_text ? no_lengths : numbers,
                         .texts = {}});
    }
    REQUIRE(encoder.append(table.number, block, columns, bytes));
  }
  return {bytes.begin(), bytes.end()};
}

constexpr char all_reports[] =
    " -r cuda_gpu_kern_sum,cuda_gpu_kern_gb_sum,cuda_gpu_mem_time_sum,cuda_gpu_mem_size_sum,"
    "cuda_api_sum,cuda_gpu_trace,cuda_kern_exec_sum,nvtx_sum,nvtx_kern_sum,nvtx_gpu_proj_sum,"
    "gpu_metrics_sum,nvtx_metrics_sum -o out --force-overwrite";

bool is_out_of_memory(outcome const& r) {
  return r.code == 1 && r.err.find(
                            " GiB of memory to read; nothing more is written. Allow more "
                            "with --memory-limit") != std::string::npos;
}

}  // namespace

TEST_CASE("rows that take no bytes in the file stop at the memory limit, for every table") {
  scratch_folder const folder;
  std::vector<std::string> ended;
  for (auto const& table : capture::all_tables()) {
    auto const content = foretold_rows(table, 128);
    CHECK(content.size() < 100'000);
    std::ofstream(folder / "hostile.gpuprof", std::ios::binary) << content;
    for (auto const& command :
         {std::string("stats hostile.gpuprof --memory-limit 0.03") + all_reports,
          std::string("roofline hostile.gpuprof --memory-limit 0.03 --by range")}) {
      auto const r = run_cli(folder, command);
      INFO(command << " of table " << table.name << ": " << r.code << " " << r.err);
      CHECK((r.code == 0 || r.code == 1));
      if (is_out_of_memory(r)) ended.push_back(std::string(table.name));
    }
  }
  for (auto const* const stored : {"fact", "device", "shape", "read_launch", "reading_value"}) {
    INFO(stored);
    CHECK(std::count(ended.begin(), ended.end(), stored) == 2);
  }
  // Ranges may say themselves what they compute: roofline reads them without counters, too.
  CHECK(std::count(ended.begin(), ended.end(), "range_begin") == 2);
  for (auto const* const stored : {"kernel", "copy", "range_end"}) {
    INFO(stored);  // roofline ends before: there are no counters
    CHECK(std::count(ended.begin(), ended.end(), stored) == 1);
  }
}

TEST_CASE("a megabyte that claims a hundred million kernels is read within 1 GiB") {
  scratch_folder const folder;
  std::ofstream(folder / "hostile.gpuprof", std::ios::binary)
      << foretold_rows(capture::layout_of<kernel_record>(), 3200);
  auto const r = run_cli(folder, "stats hostile.gpuprof -r cuda_gpu_trace");
  INFO(r.err);
  CHECK(is_out_of_memory(r));
  rusage used{};
  REQUIRE(getrusage(RUSAGE_CHILDREN, &used) == 0);  // the greatest of all of them
  CHECK(used.ru_maxrss < (1100 << 10));
}

TEST_CASE("a memory limit of any size gives a complete report or one line") {
  scratch_folder const folder;
  write_capture(folder / "app.gpuprof", two_steps());
  int too_little = 0, enough = 0;
  for (int kib = 16; kib <= 4096; kib += kib < 1024 ? 16 : 256) {
    auto const r = run_cli(folder, "stats app.gpuprof --memory-limit " +
                                       std::to_string(kib / 1048576.0) + all_reports);
    INFO(kib << " KiB: " << r.code << " " << r.err);
    (r.code == 0 ? enough : too_little) += 1;
    CHECK((r.code == 0 || is_out_of_memory(r)));
  }
  CHECK(too_little > 0);
  CHECK(enough > 0);
}

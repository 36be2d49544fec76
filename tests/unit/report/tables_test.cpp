// SPDX-License-Identifier: Apache-2.0
#include "host/analysis/launch_ranges.hpp"
#include "host/report/summary_tables.hpp"
#include "host/report/trace_table.hpp"
#include "support/catch.hpp"
#include "support/trace_of.hpp"

using namespace gpuprof;
using namespace gpuprof::host;
using namespace gpuprof::test;

namespace {

std::string csv(text::table const& table) {
  std::string out;
  text::write_csv(table, text::time_unit::nanoseconds,
                  [&](std::string_view piece) { out += piece; });
  return out;
}
std::string header(text::table const& table) {
  auto const text = csv(table);
  return text.substr(0, text.find('\n'));
}

}  // namespace

TEST_CASE("migrations of unified memory are shown with their rate") {
  CHECK(csv(report::migration_table({{0x7f00'0000'1000, 3'000'000, 1'000'000, 2'000'000},
                                     {0x7f00'0000'2000, 0, 4096, 0}})) ==
        "Virtual Address,HtoD Migration Size (MB),DtoH Migration Size (MB),Migration Throughput "
        "(MB/s)\n0x7f0000001000,3.000,1.000,2000.000\n0x7f0000002000,0.000,0.004,\n");
  CHECK(csv(report::migration_total_table({5'000'000, 0, 0x1000, 0x2000})) ==
        "Total HtoD Migration Size (MB),Total DtoH Migration Size (MB),Minimum Virtual "
        "Address,Maximum Virtual Address\n5.000,0.000,0x1000,0x2000\n");
}

TEST_CASE("every report has the columns of nsys stats, in its order") {
  kernel_labels const labels(
      {}, [](name_id) { return std::string_view(); }, kernel_name_style::demangled);
  text_of_name const text = [](name_id) { return std::string_view(); };
  CHECK(header(report::kernel_table({})) ==
        "Time (%),Total Time (ns),Instances,Avg (ns),Med (ns),Min (ns),Max (ns),StdDev (ns),Name");
  CHECK(header(report::kernel_geometry_table({})) ==
        "Time (%),Total Time (ns),Instances,Avg (ns),Med (ns),Min (ns),Max (ns),StdDev "
        "(ns),GridXYZ,BlockXYZ,Name");
  CHECK(header(report::memory_time_table({})) ==
        "Time (%),Total Time (ns),Count,Avg (ns),Med (ns),Min (ns),Max (ns),StdDev (ns),Operation");
  CHECK(header(report::memory_size_table({})) ==
        "Total (MB),Count,Avg (MB),Med (MB),Min (MB),Max (MB),StdDev (MB),Operation");
  CHECK(header(report::api_table({})) ==
        "Time (%),Total Time (ns),Num Calls,Avg (ns),Med (ns),Min (ns),Max (ns),StdDev (ns),Name");
  CHECK(header(report::range_table({}, text)) ==
        "Time (%),Total Time (ns),Instances,Avg (ns),Med (ns),Min (ns),Max (ns),StdDev "
        "(ns),Style,Range");
  CHECK(header(report::range_kernel_table({}, text, labels, 1, {})) ==
        "NVTX Range,Style,PID,TID,NVTX Inst,Kern Inst,Total Time (ns),Avg (ns),Med (ns),Min "
        "(ns),Max (ns),StdDev "
        "(ns),Kernel Name");
  CHECK(
      header(report::projection_table({}, text)) ==
      "Range,Style,Total Proj Time (ns),Total Range Time (ns),Range Instances,Proj Avg (ns),Proj "
      "Med (ns),Proj Min "
      "(ns),Proj Max (ns),Proj StdDev (ns),Total GPU Ops,Avg GPU Ops,Avg Range Lvl,Avg Num Child");
  CHECK(header(report::launch_table({}, labels, 1)) ==
        "PID,TID,DevId,Count,QCount,TAvg (ns),TMed (ns),TMin (ns),TMax (ns),TStdDev (ns),AAvg "
        "(ns),AMed (ns),AMin "
        "(ns),AMax (ns),AStdDev (ns),QAvg (ns),QMed (ns),QMin (ns),QMax (ns),QStdDev (ns),KAvg "
        "(ns),KMed (ns),KMin "
        "(ns),KMax (ns),KStdDev (ns),API Name,Kernel Name");
  gpu_trace const none;
  CHECK(header(report::trace_table(none, {{}, &labels, {}, {}})) ==
        "Start (ns),Duration (ns),CorrId,GrdX,GrdY,GrdZ,BlkX,BlkY,BlkZ,Reg/Trd,StcSMem "
        "(MB),DymSMem (MB),Bytes "
        "(MB),Throughput (MB/s),SrcMemKd,DstMemKd,Device,Ctx,GreenCtx,Strm,Name");
}

TEST_CASE("sums with times of other launches say which share these have, and their error") {
  kernel_row measured, inferred, unknown;
  for (auto* const row : {&measured, &inferred, &unknown}) row->time.total = 1000;
  measured.name = "measured";
  inferred.name = "inferred";
  unknown.name = "unknown";
  measured.inferred = inferred_time{0, 0.0};
  inferred.inferred = inferred_time{750, 12.34};
  unknown.inferred = inferred_time{500, std::nullopt};
  auto const text = csv(report::kernel_table({measured, inferred, unknown}));
  CHECK(
      text.starts_with("Time (%),Total Time (ns),Instances,Avg (ns),Med (ns),Min (ns),Max (ns),"
                       "StdDev (ns),Inferred (%),Total Error (ns),Name\n"));
  CHECK(text.find(",0.0,0.0,measured\n") != std::string::npos);
  CHECK(text.find(",75.0,12.3,inferred\n") != std::string::npos);
  CHECK(text.find(",50.0,,unknown\n") != std::string::npos);

  statistics call;
  call.total = 1000;
  auto const all = csv(report::work_table(
      "cuda_api_gpu_sum", "", report::work_of({inferred}, {}, {{"cudaLaunchKernel", call}})));
  CHECK(all.find(",StdDev (ns),Inferred (%),Total Error (ns),Category,Operation\n") !=
        std::string::npos);
  CHECK(all.find(",75.0,12.3,CUDA_KERNEL,inferred\n") != std::string::npos);
  CHECK(all.find(",0.0,0.0,CUDA_API,cudaLaunchKernel\n") != std::string::npos);

  kernel_labels const labels(
      {}, [](name_id) { return std::string_view(); }, kernel_name_style::demangled);
  text_of_name const no_text = [](name_id) { return std::string_view(); };
  range_kernel_row in_range;
  in_range.time.total = 1000;
  in_range.inferred = inferred_time{750, 12.34};
  auto const in_ranges =
      csv(report::range_kernel_table({in_range}, no_text, labels, 1, [](auto) { return 0u; }));
  CHECK(in_ranges.find(",StdDev (ns),Inferred (%),Total Error (ns),Kernel Name\n") !=
        std::string::npos);
  CHECK(in_ranges.find(",75.0,12.3,") != std::string::npos);
}

TEST_CASE("launches whose grid was not recorded have a marked line") {
  kernel_row whole, name_only;
  whole.name = name_only.name = "k";
  whole.grid = {264, 1, 1};
  whole.block = {128, 1, 1};
  auto const text = csv(report::kernel_geometry_table({whole, name_only}));
  CHECK(text.find(", 264    1    1, 128    1    1,k\n") != std::string::npos);
  CHECK(text.find(",not recorded,not recorded,k\n") != std::string::npos);
}

TEST_CASE("shares refer to the sum over all rows") {
  auto const t = trace_of({kernel("a", 0_us, 3_us), kernel("b", 3_us, 4_us)});
  kernel_labels const labels(t.shapes, t.text(), kernel_name_style::demangled);
  kernel_durations durations;
  durations.add(t.kernels);
  auto const text = csv(report::kernel_table(kernels_by_name(durations, labels)));
  CHECK(text.find("\n75.0,3000,1,3000.0,3000.0,3000,3000,0.0,a\n25.0,1000,1,") !=
        std::string::npos);
}

TEST_CASE("ranges have their domain in front, except those of the default domain") {
  auto const t =
      trace_of({range("a", 0_us, 1_us), range("b", 2_us, 3_us).in_domain("lib").start_end()});
  range_tree const tree(t.begins, t.ends, t.last);
  CHECK(host::range_name(key_of(tree[0]), t.text()) == "a");
  CHECK(host::range_name(key_of(tree[1]), t.text()) == "lib:b");
  auto const text = csv(report::range_table(ranges_by_name(tree), t.text()));
  CHECK(text.find(",PushPop,a\n") != std::string::npos);
  CHECK(text.find(",StartEnd,lib:b\n") != std::string::npos);
}

TEST_CASE("a line of the GPU trace has only the fields of its kind of operation") {
  auto const t =
      trace_of({kernel("k", 10_us, 12_us).shaped({2, 3, 4}, {64, 1, 1}).correlated(9),
                copy(copy_kind::host_to_device, 4'000'000, 20_us, 22_us).correlated(10),
                fill(1'000'000, 30_us, 31_us).correlated(11), graph(40_us, 50_us).correlated(12)});
  gpu_trace operations;
  operations.add(t.kernels[0]);
  operations.add(t.copies[0]);
  operations.add(t.fills[0]);
  operations.add(t.graphs[0]);
  kernel_labels const labels(t.shapes, t.text(), kernel_name_style::demangled);
  auto const text =
      csv(report::trace_table(operations, {t.shapes, &labels, {{0, "NVIDIA H200"}}, trace_start}));
  CHECK(text.substr(text.find('\n') + 1) ==
        "10000,2000,9,2,3,4,64,1,1,32,0.001,0.000,,,,,NVIDIA H200 (0),1,,7,k\n"
        "20000,2000,10,,,,,,,,,,4.000,2000000.000,Pinned,Device,NVIDIA H200 (0),1,,7,[CUDA memcpy "
        "Host-to-Device]\n"
        "30000,1000,11,,,,,,,,,,1.000,1000000.000,Device,,NVIDIA H200 (0),1,,7,[CUDA memset]\n"
        "40000,10000,12,,,,,,,,,,,,,,NVIDIA H200 (0),1,,7,[CUDA graph 3]\n");
}

TEST_CASE("kernels that were never queued leave the queue columns empty") {
  auto const t = trace_of({call("cudaLaunchKernel", 0_us, 20_us).correlated(1),
                           kernel("k", 10_us, 15_us).correlated(1)});
  kernel_labels const labels(t.shapes, t.text(), kernel_name_style::demangled);
  launch_times times(labels, t.text());
  times.add(t.calls[0]);
  times.add(t.kernels[0]);
  auto const text = csv(report::launch_table(times.rows(), labels, 77));
  CHECK(text.substr(text.find('\n') + 1) ==
        "77,4001,0,1,0,20000.0,20000.0,20000,20000,0.0,20000.0,20000.0,20000,20000,0.0,,,,,,5000.0,"
        "5000.0,5000,5000,0."
        "0,cudaLaunchKernel,k\n");
}

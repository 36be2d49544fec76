// SPDX-License-Identifier: Apache-2.0
#include "made_capture.hpp"

#include <algorithm>
#include <random>

namespace gpuprof {
namespace {

class profiled_job {
 public:
  profiled_job(std::string const& path, std::uint64_t steps, int rank)
      : out_(path), random_(rank + 1u) {
    out_.describe(std::to_string(7000 + rank), rank, 4);
    out_.window(0, steps * step_ns);
    gemm_ = out_.shape("_Z4gemmIfEvPT_i", {132, 1, 1});
    add_ = out_.shape("_Z3addIfEvPT_i", {528, 1, 1});
    all_reduce_ = out_.shape("ncclKernel_AllReduce_RING_LL_Sum_float(ncclDevComm*)", {16, 1, 1});
    define_metrics();
    for (std::uint64_t i = 0; i < steps; ++i) step(i, static_cast<std::uint64_t>(rank));
  }

 private:
  static constexpr std::uint64_t step_ns = 1'000'000, api_ns = 3'000;

  void define_metrics() {
    char const* const names[] = {"smsp__sass_thread_inst_executed_op_ffma_pred_on.sum",
                                 "dram__bytes_read.sum"};
    for (std::uint32_t i = 0; i < 2; ++i)
      out_.add(metric_record{.metric = static_cast<metric_id>(i + 1), .name = out_.name(names[i])});
  }
  correlation_id call(std::string_view function, std::uint64_t start,
                      std::uint64_t length = api_ns) {
    auto const correlation = static_cast<correlation_id>(++correlations_);
    out_.add(api_record{.start = at(start),
                        .duration = {static_cast<std::int64_t>(length)},
                        .name = out_.name(function),
                        .os_thread = 7000u + rank_of_thread_,
                        .correlation = correlation});
    return correlation;
  }
  /// Launched at `now`, not before the stream is free.
  void launch(shape_id shape, std::uint32_t stream, std::uint64_t now, std::uint64_t length,
              range_id range) {
    auto kernel = out_.kernel(shape, now + api_ns, static_cast<std::int64_t>(length));
    auto& free = stream == 7 ? compute_free_ : communication_free_;
    auto const start = std::max(now + 2 * api_ns, free);
    free = start + length + 500;  // counters ran around it
    kernel.start = at(start);
    kernel.launched = at(now);
    kernel.stream = static_cast<stream_id>(stream);
    kernel.correlation = call("cudaLaunchKernel_v7000", now);
    kernel.range = range;
    out_.add(kernel);
    if (shape == gemm_ && raw(kernel.correlation) % 5 == 0) read_counters(kernel, start);
  }
  void read_counters(kernel_record const& kernel, std::uint64_t start) {
    out_.add(read_launch_record{.correlation = kernel.correlation,
                                .context = kernel.context,
                                .opened = at(start),
                                .closed = kernel.start + kernel.duration});
    out_.add(reading_value_record{kernel.correlation, static_cast<metric_id>(1), 1e6});
    out_.add(reading_value_record{kernel.correlation, static_cast<metric_id>(2), 4e6});
  }
  void copy_input(std::uint64_t now, range_id range) {
    copy_record copy;
    copy.start = at(std::max(now + 2 * api_ns, compute_free_));
    copy.duration = {20'000};
    copy.launched = at(now);
    copy.bytes = 1 << 20;
    copy.kind = copy_kind::host_to_device;
    copy.source_kind = memory_kind::pinned;
    copy.destination_kind = memory_kind::device;
    copy.asynchronous = true;
    copy.context = context_id{1};
    copy.stream = stream_id{7};
    copy.correlation = call("cudaMemcpyAsync_v3020", now);
    copy.thread = static_cast<thread_index>(1);
    copy.range = range;
    compute_free_ = copy.start.value - at(0).value + 20'500;
    out_.add(copy);
  }
  void step(std::uint64_t number, std::uint64_t rank) {
    rank_of_thread_ = static_cast<std::uint32_t>(rank);
    auto now = number * step_ns;
    auto const step = out_.begin("ProfilerStep#" + std::to_string(number), now);
    copy_input(now += 5'000, step);
    for (std::string const part : {"forward", "backward"}) {
      auto const range = out_.begin(part, now += 5'000, step);
      for (int i = 0; i < 8; ++i) {
        auto const op =
            out_.begin("aten::mm, seq = " + std::to_string(++operators_), now += 2'000, range);
        launch(gemm_, 7, now += 1'000, 20'000 + random_() % 4'000, op);
        launch(add_, 7, now += 4'000, 5'000, op);
        out_.end(op, now += 4'000);
      }
      out_.end(range, now += 2'000);
    }
    call("cudaEventRecord_v3020", now += 1'000, 1'000);
    call("cudaStreamWaitEvent_v3020", now += 2'000, 1'000);
    // A rank that comes late is waited for by all others.
    launch(all_reduce_, 20, now += 3'000, 150'000 - rank * 20'000, step);
    launch(gemm_, 7, now += 5'000, 30'000, step);
    auto const wait = now += 10'000, end = std::max(compute_free_, communication_free_) + 2'000;
    auto const correlation = call("cudaStreamSynchronize_v3020", wait, end - wait);
    out_.add(sync_record{.start = at(wait + 500),
                         .duration = {static_cast<std::int64_t>(end - wait - 1'000)},
                         .type = 3,
                         .context = context_id{1},
                         .stream = stream_id{20},
                         .correlation = correlation});
    out_.end(step, end + 1'000);
  }

  made_capture out_;
  std::mt19937_64 random_;
  shape_id gemm_{}, add_{}, all_reduce_{};
  std::uint32_t correlations_ = 0, operators_ = 0, rank_of_thread_ = 0;
  std::uint64_t compute_free_ = 0, communication_free_ = 0;
};

}  // namespace

void write_profiled_job(std::string const& path, std::uint64_t steps, int rank) {
  profiled_job(path, steps, rank);
}

}  // namespace gpuprof

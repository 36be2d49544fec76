// SPDX-License-Identifier: Apache-2.0
#include "made_capture.hpp"

#include <bit>

namespace gpuprof {
namespace {

class rare_work {
 public:
  rare_work(std::string const& path, std::uint32_t process) : out_(path), process_(process) {
    out_.describe(std::to_string(process));
    out_.window(0, 1'000'000);
    call("cudaMalloc_v3020", 500);
    gpu_work();
    memory();
    ranges();
  }

 private:
  static constexpr auto main_thread = static_cast<thread_index>(1);

  correlation_id call(std::string_view function, std::uint64_t time) {
    auto const is_runtime = function.starts_with("cuda");
    auto const correlation = static_cast<correlation_id>(++calls_);
    out_.add(api_record{.start = at(time),
                        .duration = {400},
                        .domain = is_runtime ? api_domain::runtime : api_domain::driver,
                        .name = out_.name(function),
                        .os_thread = process_,
                        .correlation = correlation,
                        .result = is_runtime ? 0 : 1});
    return correlation;
  }
  /// Fills in what all work on the GPU has.
  template <class Work>
  Work launched_by(std::string_view function, std::uint64_t time, range_id range, Work work) {
    work.start = at(time + 5'000);
    work.duration = {1'000 + static_cast<std::int64_t>(time % 700)};
    work.launched = at(time);
    work.context = context_id{1};
    work.stream = stream_id{7};
    work.thread = main_thread;
    work.range = range;
    work.correlation = call(function, time);
    return work;
  }
  static kernel_record kernel(shape_id shape) {
    kernel_record work;
    work.shape = shape;
    return work;
  }
  static copy_record copy(copy_kind kind, memory_kind from, memory_kind to, bool asynchronous) {
    copy_record work;
    work.bytes = 1 << 20;
    work.kind = kind;
    work.source_kind = from;
    work.destination_kind = to;
    work.asynchronous = asynchronous;
    return work;
  }

  void gpu_work() {
    step_ = out_.begin("step", 1'000);
    forward_ = out_.begin("forward", 2'000, step_, "model");
    auto const plain = out_.shape("_Z5scaleIfEvPT_i");
    kernel_shape wide;
    wide.id = static_cast<shape_id>(100);
    wide.name = out_.name("_Z4gemmPf");
    wide.grid = {8, 2, 1};
    wide.block = {128, 1, 1};
    wide.cluster = {2, 1, 1};
    wide.launch_type = 1;
    wide.max_active_clusters = 66;
    out_.add(wide);
    for (std::uint64_t i = 0; i < 5; ++i)
      out_.add(launched_by("cudaLaunchKernel_v7000", 3'000 + i * 1'000, forward_, kernel(plain)));
    out_.add(launched_by("cuLaunchKernelEx", 9'000, forward_, kernel(wide.id)));
    out_.end(forward_, 10'000);
    out_.add(launched_by("cudaLaunchKernel_v7000", 11'000, step_, kernel(plain)));
    using enum memory_kind;
    out_.add(launched_by("cudaMemcpyAsync_v3020", 12'000, step_,
                         copy(copy_kind::host_to_device, pageable, device, true)));
    out_.add(launched_by("cudaMemcpy_v3020", 13'000, step_,
                         copy(copy_kind::device_to_host, device, pinned, false)));
    auto peer = launched_by("cudaMemcpyPeerAsync_v4000", 14'000, step_,
                            copy(copy_kind::peer_to_peer, device, device, true));
    peer.destination_device = device_id{1};
    out_.add(peer);
    memset_record fill;
    fill.bytes = 4096;
    fill.value = 7;
    fill.kind = device;
    out_.add(launched_by("cudaMemset_v3020", 15'000, step_, fill));
    out_.end(step_, 20'000);
    graph_record graph;
    graph.graph = graph_id{3};
    out_.add(launched_by("cudaGraphLaunch_v10000", 30'000, {}, graph));
  }

  void memory() {
    std::uint32_t const to_device = 1, to_host = 2;
    for (std::uint64_t i = 0; i < 4; ++i)
      out_.add(unified_memory_record{.start = at(40'000 + i * 100),
                                     .duration = {50},
                                     .counter = i == 3 ? to_host : to_device,
                                     .value = 65536,
                                     .address = 0x7f0000000000 + (i % 2) * 65536});
    for (auto const operation : {memory_operation::allocate, memory_operation::release})
      out_.add(memory_record{.time = at(50'000 + static_cast<std::uint64_t>(operation)),
                             .operation = operation,
                             .kind = memory_kind::device,
                             .address = 0xfffff00000000000,
                             .bytes = 512,
                             .context = context_id{1}});
    for (std::uint8_t type = 1; type <= 4; ++type)
      out_.add(
          sync_record{.start = at(60'000 + type * 100u),
                      .duration = {60},
                      .type = type,
                      .context = context_id{1},
                      .stream = stream_id{7},
                      .correlation = call("cudaDeviceSynchronize_v3020", 60'000 + type * 100u)});
  }

  void ranges() {
    auto const data = out_.name("data");
    out_.add(category_record{data, 5, out_.name("loading")});
    auto open = [&](std::uint64_t time, range_style style, payload_kind kind, std::uint64_t bits) {
      range_begin range{.time = at(time),
                        .range = static_cast<range_id>((2ull << 40) + time),
                        .thread = main_thread,
                        .style = style,
                        .name = out_.name("batch"),
                        .domain = data,
                        .category = 5,
                        .color = 0xff00ff00,
                        .payload = kind,
                        .payload_bits = bits,
                        .declared_flops = 1e9};
      out_.add(range);
      return range.range;
    };
    auto const json = raw(out_.name("{\"size\": 3}"));
    auto const elsewhere =
        open(70'000, range_style::start_end, payload_kind::unsigned64, 1ull << 63);
    auto const here = open(71'000, range_style::start_end, payload_kind::signed64, ~0ull);
    auto const pushed = open(72'000, range_style::push_pop, payload_kind::text, json);
    out_.end(pushed, 73'000);
    out_.end(here, 74'000);
    out_.add(range_end{at(75'000), elsewhere, static_cast<thread_index>(2)});
    out_.add(mark_record{.time = at(76'000),
                         .thread = main_thread,
                         .name = out_.name("loss"),
                         .payload = payload_kind::float64,
                         .payload_bits = std::bit_cast<std::uint64_t>(0.25)});
  }

  made_capture out_;
  std::uint32_t process_;
  std::uint32_t calls_ = 0;
  range_id step_{}, forward_{};
};

}  // namespace

void write_rare_work(std::string const& path, std::uint32_t process) {
  rare_work(path, process);
}

}  // namespace gpuprof

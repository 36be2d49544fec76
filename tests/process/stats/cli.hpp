// SPDX-License-Identifier: Apache-2.0
// Writes captures with the library's own writer, and runs the real command on them.
#pragma once

#include "capture/writer.hpp"
#include "support/catch.hpp"
#include "support/golden.hpp"
#include "support/run_cli.hpp"
#include "support/trace_of.hpp"

#include <string>

namespace gpuprof::test {

struct capture_options {
  bool window_ends = true;  // false: as after a kill
  bool closes = true;       // likewise
  std::uint64_t lost_kernels = 0;
};

inline void write_capture(std::string const& path, trace t, capture_options const& options = {}) {
  auto made = capture::writer::create(path, capture::create_mode::fail_if_exists);
  REQUIRE(made);
  auto& file = **made;
  auto const fact = [&](char const* key, char const* value) {
    file.add(fact_record{t.names.intern(key), t.names.intern(value)});
  };
  device_record device{};
  device.name = t.names.intern("NVIDIA H200");
  window_record window{
      .index = 0, .start = trace_start, .end = {}, .trigger = t.names.intern("start")};
  auto const lost = t.names.intern("lost.kernels"), cost = t.names.intern("cost.start_ns");
  for (auto const* text : {"process.command_line", "./app --n 4", "process.id", "4001"})
    t.names.intern(text);
  for (std::uint32_t id = 1; id < t.names.size(); ++id)
    file.add_name(static_cast<name_id>(id), t.names.text(static_cast<name_id>(id)));
  fact("process.command_line", "./app --n 4");
  fact("process.id", "4001");
  file.add(device);
  file.add(window);
  for (std::uint32_t thread = 1; thread <= 4; ++thread)
    file.add(thread_record{static_cast<thread_index>(thread), 4000 + thread, {}});
  for (auto const& shape : t.shapes) file.add(shape);
  for (auto const& r : t.begins) file.add(r);
  for (auto const& r : t.ends) file.add(r);
  for (auto const& r : t.kernels) file.add(r);
  for (auto const& r : t.copies) file.add(r);
  for (auto const& r : t.fills) file.add(r);
  for (auto const& r : t.graphs) file.add(r);
  for (auto const& r : t.calls) file.add(r);
  file.add(counter_record{lost, options.lost_kernels});
  file.add(counter_record{cost, 9'800'000});
  if (options.window_ends) {
    window.end = trace_start + 2_ms;
    file.add(window);
  }
  REQUIRE(file.flush());
  if (options.closes) REQUIRE(file.close());
}

/// Two training steps with everything in them that reports show.
inline trace two_steps() {
  return trace_of({
      range("step", 0_us, 400_us),
      range("forward", 10_us, 150_us),
      call("cudaLaunchKernel_v7000", 20_us, 24_us).correlated(1),
      kernel("_Z4gemmIfEvPKT_S2_PS0_i", 30_us, 90_us)
          .launched_at(21_us)
          .shaped({16, 16, 1}, {128, 1, 1})
          .correlated(1),
      call("cudaLaunchKernel_v7000", 30_us, 33_us).correlated(2),
      kernel("_ZN2nn4reluEPfi", 90_us, 100_us)
          .launched_at(31_us)
          .shaped({64, 1, 1}, {256, 1, 1})
          .correlated(2),
      range("backward", 160_us, 390_us),
      call("cudaLaunchKernel_v7000", 170_us, 175_us).correlated(3),
      kernel("_Z4gemmIfEvPKT_S2_PS0_i", 180_us, 300_us)
          .launched_at(171_us)
          .shaped({32, 16, 1}, {128, 1, 1})
          .correlated(3),
      range("step", 500_us, 800_us),
      call("cudaMemcpyAsync_v3020", 505_us, 510_us).correlated(4),
      copy(copy_kind::host_to_device, 8'000'000, 512_us, 700_us).launched_at(506_us).correlated(4),
      fill(4096, 701_us, 702_us).launched_at(520_us).correlated(5),
      call("cudaLaunchKernel_v7000", 530_us, 533_us).correlated(6),
      kernel("_Z4gemmIdEvPKT_S2_PS0_i", 710_us, 790_us)
          .launched_at(531_us)
          .shaped({16, 16, 1}, {128, 1, 1})
          .correlated(6),
      range("all_reduce", 200_us, 600_us).start_end().in_domain("NCCL").on_thread(2),
      kernel("ncclKernel", 250_us, 350_us).launched_at(240_us).on_thread(2).correlated(7),
      range("monitor", 100_us, 100_us).left_open().on_thread(3),
  });
}

}  // namespace gpuprof::test

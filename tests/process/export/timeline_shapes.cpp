// SPDX-License-Identifier: Apache-2.0
// Captures whose timelines are hard to draw, or have something to find in them.
#include "made_capture.hpp"

#include <array>
#include <tuple>
#include <utility>

namespace gpuprof {
namespace {

/// In each of ten rounds a kernel on each stream.
void streams(std::string const& path, std::uint64_t count) {
  made_capture out(path);
  out.describe("4242");
  out.window(0, 11'000'000);
  auto const shape = out.shape("_Z5scaleIfEvPT_i");
  for (std::uint64_t round = 0; round < 10; ++round)
    for (std::uint64_t i = 0; i < count; ++i) {
      auto kernel = out.kernel(shape, 1'000'000 * (round + 1) + 100 * (i % 64), 50'000);
      kernel.stream = static_cast<stream_id>(7 + i);
      out.add(kernel);
    }
}

/// Nothing else; one in four is in a domain, and every hundredth ends with the capture only.
void ranges(std::string const& path, std::uint64_t count) {
  made_capture out(path);
  out.describe("4242");
  out.window(0, count * 1000 + 1000);
  for (std::uint64_t i = 0; i < count; ++i) {
    auto const range =
        out.begin("work " + std::to_string(i % 50), 1000 * i, {}, i % 4 == 0 ? "library" : "");
    if (i % 100 != 99) out.end(range, 1000 * i + 800);
  }
}

void one_long_kernel(std::string const& path, std::uint64_t seconds) {
  made_capture out(path);
  out.describe("4242");
  auto const length = seconds * 1'000'000'000;
  out.window(0, length + 2'000'000);
  out.add(out.kernel(out.shape("_Z5scaleIfEvPT_i"), 1'000'000, static_cast<std::int64_t>(length)));
}

/// Each has a name of its own, and bytes that were counted.
void counted_kernels(std::string const& path, std::uint64_t count) {
  made_capture out(path);
  out.describe("4242");
  out.window(0, 10'000 * (count + 2));
  out.dram_roof(4e12);
  for (std::uint64_t i = 0; i < count; ++i) {
    auto const kernel = out.kernel(out.shape("kernel_" + std::to_string(i)), 10'000 * (i + 1),
                                   static_cast<std::int64_t>(5000 + i % 1000));
    out.add(kernel);
    out.moved(kernel, 1e6, 4e5);
  }
}

struct constant_counter {
  char const* name;
  double value;  // of each interval of 20 us
};
/// A quarter of SM cycles, tensor cores for a tenth, 150 GB/s, 1.8 GHz.
constexpr std::array<constant_counter, 6> counters = {
    {{"sm__cycles_active.avg", 9000},
     {"sm__cycles_elapsed.avg.per_second", 1.8e9},
     {"sm__pipe_tensor_cycles_active.avg", 14'400},
     {"dram__bytes_read.sum", 2e6},
     {"dram__bytes_write.sum", 1e6},
     {"pcie__read_bytes.sum", 20'000}}};

void sample(made_capture& out, std::uint64_t until) {
  constexpr std::uint64_t interval = 20'000;
  std::uint32_t id = 0;
  for (auto const& counter : counters) {
    ++id;
    out.add(metric_record{
        .metric = static_cast<metric_id>(id), .name = out.name(counter.name), .sampled = true});
    for (std::uint64_t now = 0; now < until; now += interval)
      out.add(sample_record{static_cast<metric_id>(id),
                            at(now),
                            {static_cast<std::int64_t>(interval)},
                            counter.value});
  }
}

/// 650 W, 1.7 GHz and 60 degrees, every 10 ms.
void tell_power(made_capture& out, std::uint64_t until) {
  for (std::uint64_t now = 0; now < until; now += 10'000'000)
    out.add(chip_state_record{.device = device_id{0},
                              .time = at(now),
                              .sm_clock_mhz = 1700,
                              .power_mw = 650'000,
                              .temperature_c = 60});
}

/// Each a millisecond long, but the eighth 1.5: two kernels one after the other and one beside; a
/// second thread loads in a domain of its own; counters are sampled all the time, power is told.
void steps(std::string const& path, std::uint64_t count) {
  made_capture out(path);
  out.describe("4242");
  auto const first = out.shape("_Z5firstIfEvPT_i"), second = out.shape("_Z6secondIfEvPT_i");
  std::uint64_t now = 1'000'000;
  out.window(0, now + count * 1'000'000 + 500'000);
  for (std::uint64_t i = 0; i < count; ++i) {
    auto const length = i == 7 ? 1'500'000u : 1'000'000u;
    auto const step = out.begin("step", now);
    out.add(range_begin{.time = at(now + 100'000),
                        .range = static_cast<range_id>((2ull << 40) + i + 1),
                        .thread = static_cast<thread_index>(2),
                        .name = out.name("load"),
                        .domain = out.name("loader")});
    out.add(range_end{at(now + 200'000), static_cast<range_id>((2ull << 40) + i + 1),
                      static_cast<thread_index>(2)});
    for (auto const& [shape, start, stream] :
         {std::tuple(first, 100'000u, 7u), std::tuple(second, 400'000u, 7u),
          std::tuple(second, 450'000u, 8u)}) {
      auto kernel = out.kernel(shape, now + start, 200'000);
      kernel.stream = static_cast<stream_id>(stream);
      kernel.range = step;
      out.add(kernel);
      out.launching_call(kernel, 400);
    }
    now += length;
    out.end(step, now - 50'000);
  }
  sample(out, now);
  tell_power(out, now);
}

}  // namespace

bool write_timeline_shape(std::string const& path, std::string_view what, std::uint64_t count) {
  constexpr std::pair<std::string_view, void (*)(std::string const&, std::uint64_t)> known[] = {
      {"--streams", streams},
      {"--ranges", ranges},
      {"--long-kernel", one_long_kernel},
      {"--counted", counted_kernels},
      {"--steps", steps}};
  for (auto const& [name, write] : known)
    if (name == what) {
      write(path, count);
      return true;
    }
  return false;
}

}  // namespace gpuprof

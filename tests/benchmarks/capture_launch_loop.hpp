// SPDX-License-Identifier: Apache-2.0
// A launch loop as an H200 records it, made up: the input of the capture benchmarks.
#pragma once

#include "capture/writer.hpp"

#include <algorithm>
#include <cstdint>
#include <random>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace gpuprof::capture::benchmarks {

/// Kernels 2.5 us apart with tens of ns of jitter and a pause now and then, durations in steps of
/// 32 ns, the launch some 4 us earlier, correlation ids that count up, `shapes` kernels in turn.
class launch_loop {
 public:
  explicit launch_loop(unsigned shapes = 1) : shapes_(shapes) {}

  void next(std::span<kernel_record> kernels) {
    for (auto& kernel : kernels) {
      auto const pause = engine_() % 10000 == 0 ? 40'000u : 0u;
      launched_ += 2500 + jitter(60) + pause;
      start_ = std::max(start_ + duration_ + 700, launched_ + 3800 + jitter(200));
      duration_ = 1000 + 32 * (engine_() % 12);
      ++correlation_;
      kernel = {.start = {start_},
                .duration = {static_cast<std::int64_t>(duration_)},
                .launched = {launched_},
                .shape = static_cast<shape_id>(1 + correlation_ % shapes_),
                .context = context_id{1},
                .stream = stream_id{7},
                .correlation = static_cast<correlation_id>(correlation_),
                .thread = thread_index{1},
                .range = static_cast<range_id>(1 + correlation_ / 100)};
    }
  }

 private:
  std::uint64_t jitter(double deviation) {
    return static_cast<std::uint64_t>(
        std::clamp(std::normal_distribution{400.0, deviation}(engine_), 0.0, 2000.0));
  }

  unsigned shapes_;
  std::mt19937_64 engine_{42};
  std::uint64_t launched_ = 1'700'000'000'000'000'000;
  std::uint64_t start_ = 0;
  std::uint64_t duration_ = 1000;
  std::uint32_t correlation_ = 0;
};

/// Writes a capture of so many kernels.
inline void write_launch_loop(std::string const& path, std::size_t kernels, unsigned shapes) {
  auto out = writer::create(path, create_mode::overwrite);
  if (!out) throw std::runtime_error(out.message());
  for (unsigned shape = 1; shape <= shapes; ++shape) {
    (*out)->add_name(name_id{shape}, "kernel_" + std::to_string(shape));
    kernel_shape described;
    described.id = shape_id{shape};
    described.name = name_id{shape};
    (*out)->add(described);
  }
  launch_loop loop{shapes};
  std::vector<kernel_record> some(8192);
  for (std::size_t done = 0; done < kernels; done += some.size()) {
    some.resize(std::min(some.size(), kernels - done));
    loop.next(some);
    (*out)->add(std::span<kernel_record const>{some});
  }
  if (auto const closed = (*out)->close(); !closed) throw std::runtime_error(closed.message());
}

}  // namespace gpuprof::capture::benchmarks

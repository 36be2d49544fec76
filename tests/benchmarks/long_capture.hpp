// SPDX-License-Identifier: Apache-2.0
// Writes a capture of as many kernels as a benchmark asks for.
#pragma once

#include "capture/writer.hpp"
#include "model/name_table.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>

namespace gpuprof::long_capture {

inline constexpr std::uint32_t kernel_names = 60;
inline constexpr std::uint32_t shapes = 240;
inline constexpr std::uint64_t kernels_per_range = 20;

inline timestamp_ns at(std::uint64_t nanoseconds) {
  return {1'700'000'000'000'000'000 + nanoseconds};
}

/// A training loop: steps of ten inner ranges, each of which launches twenty kernels on one stream.
inline void write_capture(std::string const& path, std::uint64_t kernels) {
  auto made = capture::writer::create(path, capture::create_mode::overwrite);
  if (!made) {
    std::fprintf(stderr, "%s\n", made.message().c_str());
    std::exit(1);
  }
  auto& file = **made;
  name_table names;
  auto const name = [&](std::string const& text) {
    auto const known = names.size();
    auto const id = names.intern(text);
    if (names.size() > known) file.add_name(id, text);
    return id;
  };
  for (std::uint32_t i = 0; i < shapes; ++i) {
    kernel_shape shape;
    shape.id = static_cast<shape_id>(i + 1);
    shape.name = name("_Z9kernel_" + std::to_string(10 + i % kernel_names) + "IfEvPT_i");
    shape.grid = {i + 1, 1, 1};
    shape.block = {256, 1, 1};
    file.add(shape);
  }
  file.add(window_record{.index = 0, .start = at(0), .end = at(kernels * 3000), .trigger = {}});

  std::mt19937_64 random(1);
  std::uint64_t ranges = 0, gpu_free = 0;
  range_id step{}, inner{};
  auto const begin = [&](char const* text, range_id parent, std::uint64_t now) {
    auto const id = static_cast<range_id>((1ull << 40) + ++ranges);
    file.add(range_begin{.time = at(now),
                         .range = id,
                         .parent = parent,
                         .thread = static_cast<thread_index>(1),
                         .level = static_cast<std::uint16_t>(raw(parent) == 0 ? 0 : 1),
                         .name = name(text)});
    return id;
  };
  for (std::uint64_t i = 0; i < kernels; ++i) {
    auto const now = i * 3000 + random() % 500;
    if (i % kernels_per_range == 0) {
      if (raw(inner) != 0)
        file.add(range_end{at(i * 3000 - 1), inner, static_cast<thread_index>(1)});
      if (i % (10 * kernels_per_range) == 0) {
        if (raw(step) != 0)
          file.add(range_end{at(i * 3000 - 1), step, static_cast<thread_index>(1)});
        step = begin("step", {}, now);
      }
      inner = begin(i % (2 * kernels_per_range) == 0 ? "forward" : "backward", step, now);
    }
    kernel_record kernel;
    auto const start = std::max(now + 3000 + random() % 3000, gpu_free);
    kernel.start = at(start);
    kernel.duration = {static_cast<std::int64_t>(1500 + random() % 1300)};
    gpu_free = start + static_cast<std::uint64_t>(kernel.duration.value);
    kernel.launched = at(now);
    kernel.shape = static_cast<shape_id>(1 + random() % shapes);
    kernel.context = static_cast<context_id>(1);
    kernel.stream = static_cast<stream_id>(7);
    kernel.correlation = static_cast<correlation_id>(i + 1);
    kernel.thread = static_cast<thread_index>(1);
    kernel.range = inner;
    file.add(kernel);
  }
  if (auto const closed = file.close(); !closed)
    std::fprintf(stderr, "%s\n", closed.message().c_str());
}

}  // namespace gpuprof::long_capture

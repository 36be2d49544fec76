// SPDX-License-Identifier: Apache-2.0
// What a page shows of a kernel beyond its sums: how its durations spread and change over time, in
// which geometries, from where, and beside which others it ran. One pass, bounded memory.
#pragma once

#include <gpuprof/capture.hpp>

#include "host/page/duration_histogram.hpp"
#include "host/page/duration_series.hpp"
#include "host/page/kernel_neighbors.hpp"
#include "host/page/kernel_places.hpp"
#include "host/page/kernel_samples.hpp"

#include <array>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace gpuprof::host::page {

/// A kernel to watch, or one grid and block of it; its range of durations is known beforehand.
struct watched_line {
  std::string name;  // with arguments
  std::optional<captured_extent> grid, block;
  std::uint64_t shortest_ns = 0, longest_ns = 0;
};

/// What of a launch decides how many blocks of it run on an SM at once.
struct launch_geometry {
  std::uint32_t device = 0;
  captured_extent grid, block, cluster;
  std::uint32_t registers = 0, static_shared = 0, dynamic_shared = 0, local_bytes = 0;
  bool shared_unknown = false;
};

struct used_geometry {
  launch_geometry geometry;
  std::uint64_t launches = 0, total_ns = 0;
};

struct line_details {
  line_details(watched_line const& line, std::size_t max_points)
      : durations(line.shortest_ns, line.longest_ns), over_time(max_points) {}
  duration_histogram durations;
  duration_series over_time;
  std::uint64_t left_out = 0;  // launches whose length is not their own
};

class kernel_details {
 public:
  struct limits {
    std::size_t points = 200;     // of a kernel; a quarter for one grid and block
    std::size_t geometries = 12;  // of a kernel, by time
    std::size_t names = 20'000;   // kernels told apart, and geometries
    std::size_t pairs = 100'000;  // with neighbors, with ranges
    std::size_t neighbors = 5;    // before and after
  };
  /// `kernels` without grid and block, each name once; `signatures` with them.
  kernel_details(std::vector<watched_line> const& kernels,
                 std::vector<watched_line> const& signatures, limits const& most);

  void open(captured_range const& range);
  /// In order of starts. `undisturbed`: the length that stands in sums, where reading counters
  /// has slowed this launch.
  void add(captured_kernel const& kernel, std::optional<std::uint64_t> undisturbed);

  /// Copies and fills, beside which a sample tells nothing of a kernel; in order with the kernels.
  void add_other(captured_work const& work);
  void add(captured_sample const& sample);
  /// Nothing follows.
  void finish() { samples_.finish(); }

  /// In the order in which they were given.
  std::vector<line_details> const& kernels() const noexcept { return of_kernels_; }
  std::vector<line_details> const& signatures() const noexcept { return of_signatures_; }
  /// The longest time first.
  std::vector<used_geometry> geometries(std::size_t kernel) const;
  std::vector<kernel_surroundings> surroundings() const;
  kernel_places const& places() const noexcept { return places_; }
  kernel_samples const& samples() const noexcept { return samples_; }
  /// By the numbers in surroundings and places: first those that are watched.
  std::vector<std::string> const& names() const noexcept { return names_; }
  std::size_t watched() const noexcept { return of_kernels_.size(); }

 private:
  struct shape_key {
    char const* name = nullptr;               // texts of a capture_file stay where they are
    std::array<std::uint32_t, 16> numbers{};  // an even number of them
    friend bool operator==(shape_key const&, shape_key const&) = default;
  };
  struct hash_of_shape {
    std::size_t operator()(shape_key const& key) const noexcept;
  };
  /// What a kernel of this shape adds to.
  struct shape_lines {
    std::uint32_t kernel = 0;
    std::optional<std::uint32_t> signature;
    used_geometry used;
  };

  static shape_key key_of(captured_kernel const& kernel);
  shape_lines& lines_of(captured_kernel const& kernel);
  shape_lines lines_of_new(captured_kernel const& kernel);
  std::uint32_t number_of(std::string_view name);

  limits most_;
  std::vector<line_details> of_kernels_, of_signatures_;
  std::vector<std::string> names_;
  std::map<std::string, std::uint32_t, std::less<>> by_name_;
  std::map<std::string, std::uint32_t> signature_by_text_;
  std::unordered_map<shape_key, shape_lines, hash_of_shape> shapes_;
  shape_lines not_told_apart_;
  kernel_neighbors neighbors_;
  kernel_places places_;
  kernel_samples samples_;
};

}  // namespace gpuprof::host::page

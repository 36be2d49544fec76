// SPDX-License-Identifier: Apache-2.0
// Details of a kernel for a page: how its durations spread and change over time, in which
// geometries and from where it was launched, and which kernels ran before and after. Needs one pass
// and bounded memory.
#pragma once

#include <gpuprof/capture.hpp>

#include "host/page/duration_spread.hpp"
#include "host/page/kernel_places.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace gpuprof::host::page {

// Values of GPU-wide counters while a kernel ran alone, by progress of the launch.

/// The course of a metric over a launch, from its beginning to its end.
struct sample_course {
  static constexpr std::size_t positions = 20;
  std::string metric;
  std::array<double, positions> sum{};
  std::array<std::uint64_t, positions> samples{};
};

/// Add work and samples in order of their starts. A sample counts for a launch if it lies inside it
/// and no other work of the GPU ran then. It waits until all work that may have run during it is
/// known.
class kernel_samples {
 public:
  static constexpr std::uint32_t not_watched = ~std::uint32_t{0};

  void work(std::uint32_t device, std::uint64_t start_ns, std::uint64_t end_ns,
            std::uint32_t kernel);
  /// Amounts (".sum") are converted to rates per second.
  void sample(std::uint32_t device, std::uint64_t start_ns, std::uint64_t duration_ns,
              std::string_view metric, double value);
  /// Call it after the last record.
  void finish();

  /// Metrics in the order in which they were first sampled.
  std::vector<sample_course> of(std::uint32_t kernel) const;

 private:
  struct piece {
    std::uint64_t start = 0, end = 0;
    std::uint32_t kernel = 0;
  };
  struct waiting_sample {
    std::uint64_t start = 0, end = 0;
    std::uint32_t metric = 0;
    double value = 0;
  };
  struct device_state {
    std::vector<piece> work;
    std::vector<waiting_sample> waiting;
  };

  void settle(device_state& device, std::uint64_t now);
  void place(device_state const& device, waiting_sample const& sample);
  std::uint32_t number_of(std::string_view metric);

  std::map<std::uint32_t, device_state> devices_;
  std::vector<std::string> metrics_;
  std::map<std::uint32_t, std::map<std::uint32_t, sample_course>> courses_;  // by kernel, metric
};

/// A kernel to watch, or one grid and block of it. Its range of durations must be known in advance.
struct watched_line {
  std::string name;  // with arguments
  std::optional<captured_extent> grid, block;
  std::uint64_t shortest_ns = 0, longest_ns = 0;
};

/// The parts of a launch that decide how many of its blocks fit on an SM at once.
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
  std::uint64_t left_out = 0;  // launches slowed by the reading of counters
};

class kernel_details {
 public:
  struct limits {
    std::size_t points = 200;     // for a kernel; a quarter of it for one grid and block
    std::size_t geometries = 12;  // for a kernel, by time
    std::size_t names = 20'000;   // maximum of distinct kernels, and of geometries
    std::size_t pairs = 100'000;  // maximum of pairs with neighbors, and with ranges
    std::size_t neighbors = 5;    // on each side
  };
  /// `kernels` have no grid and block, and each name occurs once; `signatures` have them.
  kernel_details(std::vector<watched_line> const& kernels,
                 std::vector<watched_line> const& signatures, limits const& most);

  void open(captured_range const& range);
  /// Kernels must come in order of their starts. `undisturbed` is the duration used in sums if
  /// reading counters has slowed this launch.
  void add(captured_kernel const& kernel, std::optional<std::uint64_t> undisturbed);

  /// Copies and fills, in order with the kernels. A sample at the same time as one of them says
  /// nothing of a kernel.
  void add_other(captured_work const& work);
  void add(captured_sample const& sample);
  /// Call it after the last record.
  void finish() { samples_.finish(); }

  /// In the order of the constructor's arguments.
  std::vector<line_details> const& kernels() const noexcept { return of_kernels_; }
  std::vector<line_details> const& signatures() const noexcept { return of_signatures_; }
  /// The one with the longest time comes first.
  std::vector<used_geometry> geometries(std::size_t kernel) const;
  std::vector<kernel_surroundings> surroundings() const;
  kernel_places const& places() const noexcept { return places_; }
  kernel_samples const& samples() const noexcept { return samples_; }
  /// By the numbers used in surroundings and places; the watched kernels come first.
  std::vector<std::string> const& names() const noexcept { return names_; }
  std::size_t watched() const noexcept { return of_kernels_.size(); }

 private:
  struct shape_key {
    char const* name = nullptr;               // texts of a capture_file do not move
    std::array<std::uint32_t, 16> numbers{};  // an even number of them
    friend bool operator==(shape_key const&, shape_key const&) = default;
  };
  struct hash_of_shape {
    std::size_t operator()(shape_key const& key) const noexcept;
  };
  /// The lines to which a kernel of this shape adds.
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

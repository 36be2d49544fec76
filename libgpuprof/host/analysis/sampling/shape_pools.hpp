// SPDX-License-Identifier: Apache-2.0
// Joins launches of one function that has many shapes, and gives their figures to each shape by its
// time.
#pragma once

#include "host/analysis/sampling/device_work.hpp"
#include "host/analysis/sampling/sample_series.hpp"
#include "host/analysis/sampling/sampled_figure.hpp"
#include "model/records.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <vector>

namespace gpuprof::host {

/// Which shapes belong together: those of one function and grid if there are many, else those of
/// one function. Indexed by shape; no_pool: the shape stays alone.
inline constexpr std::uint32_t no_pool = 0;
inline constexpr std::size_t least_shapes_of_pool = 8;
std::vector<std::uint32_t> pools_of(std::span<kernel_shape const> shapes);

/// All launches of a shape in the run.
struct launches_of_shape {
  std::uint64_t times = 0;
  double ns = 0;
  double mean_ns() const noexcept { return ns / static_cast<double>(times); }
};

/// The launches of a pool are kinds of work by their length alone.
class pooled_work {
 public:
  using launches_by_shape = std::map<shape_id, launches_of_shape>;

  /// `work` is finished. `launches` has the shapes of all pools on this GPU.
  pooled_work(device_work const& work, std::span<std::uint32_t const> pools,
              launches_by_shape const& launches);

  bool empty() const noexcept { return first_pooled_ == work_.kinds().size(); }
  device_work const& work() const noexcept { return work_; }

  /// The figure of a shape, from those of the classes in which its launches are: of the same rate,
  /// so a longer launch counts more. A shape that did not run in samples has that of the class with
  /// the nearest length. One shape may differ from others that take as long, so its error is as
  /// much wider as the pool has shapes: a sum over all of them has the error of the pool.
  /// `figures` are those of work(). Nothing if the shape is in no pool, or no class is as long.
  std::optional<sampled_figure> figure(shape_id shape, figure_grid const& figures,
                                       std::uint32_t column, summing how) const;

 private:
  struct part {  // the launches of a shape in one kind of work()
    std::uint64_t begun = 0, times = 0;
    double ns = 0;
  };
  struct member {
    std::map<std::uint32_t, part> parts;  // by kind; none: it did not run in samples
    launches_of_shape all;
    std::uint32_t pool = 0;
  };
  struct pool {
    double launches = 0, squares = 0;  // of its shapes, in the run
    std::set<std::uint32_t> kinds;
  };
  std::optional<std::uint32_t> kind_like(member const& of) const;

  device_work work_;
  std::size_t first_pooled_ = 0;  // kinds
  std::map<shape_id, member> members_;
  std::map<std::uint32_t, pool> pools_;
};

}  // namespace gpuprof::host

// SPDX-License-Identifier: Apache-2.0
// Gives each distinct kernel shape an id.
#pragma once

#include "model/records.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace gpuprof::guest {

/// One thread. Shape 0 is "unknown". When the table has `max_whole` shapes, later ones keep the
/// name only, up to `max_names` different names. After that they become shape 0.
class shape_table {
 public:
  static constexpr std::size_t default_max_whole = 1 << 17, default_max_names = 1 << 17;
  explicit shape_table(std::size_t max_whole = default_max_whole,
                       std::size_t max_names = default_max_names)
      : max_whole_(max_whole), max_names_(max_names), shapes_(1), places_(1 << 10, 0) {}

  struct entry {
    shape_id id{};
    bool is_new = false;
  };

  /// `wanted.id` is ignored.
  entry intern(kernel_shape const& wanted) {
    auto const whole = intern_whole(wanted);
    if (raw(whole.id) != 0) return whole;
    kernel_shape name_only;
    name_only.name = wanted.name;
    name_only.arguments = arguments_of_many_values;
    return find_or_add(name_only, names_, max_names_);
  }

  /// The same, but shape 0 if there is no place for the whole shape.
  entry intern_whole(kernel_shape wanted) {
    wanted.id = {};
    return find_or_add(wanted, whole_, max_whole_);
  }

  kernel_shape const& at(shape_id id) const noexcept { return shapes_[raw(id)]; }
  std::size_t size() const noexcept { return shapes_.size(); }

 private:
  static bool same(kernel_shape const& known, kernel_shape wanted) noexcept {
    wanted.id = known.id;
    return known == wanted;
  }
  static std::size_t hash(kernel_shape const& s) noexcept {
    // The products are independent, so that they overlap; a dependent chain took a tenth of the
    // decoding time.
    auto h = (std::uint64_t{raw(s.name)} + 1) * 0x9e3779b97f4a7c15u;
    h += ((std::uint64_t{s.grid.x} << 32) | s.grid.y) * 0xc2b2ae3d27d4eb4fu;
    h += ((std::uint64_t{s.grid.z} << 32) | s.block.x) * 0x165667b19e3779f9u;
    h += ((std::uint64_t{s.block.y} << 32) | s.block.z) * 0x27d4eb2f165667c5u;
    h += ((std::uint64_t{s.dynamic_shared_bytes} << 32) | s.cluster.x) * 0x85ebca77c2b2ae63u;
    h += ((std::uint64_t{s.registers_per_thread} << 32) | s.static_shared_bytes) *
         0xff51afd7ed558ccdu;
    h += std::uint64_t{s.arguments} * 0xd6e8feb86659fd93u;
    h ^= h >> 32;
    h *= 0xc4ceb9fe1a85ec53u;
    return static_cast<std::size_t>(h ^ (h >> 29));
  }
  entry find_or_add(kernel_shape const& wanted, std::size_t& used, std::size_t limit) {
    for (auto i = hash(wanted);; ++i) {
      auto& place = places_[i & (places_.size() - 1)];
      if (place != 0 && same(shapes_[place], wanted)) return {shape_id{place}, false};
      if (place != 0) continue;
      if (used == limit || shapes_.size() + 1 >= places_.size()) return {};
      ++used;
      return add(wanted, place);
    }
  }
  entry add(kernel_shape wanted, std::uint32_t& place) {
    wanted.id = static_cast<shape_id>(shapes_.size());
    shapes_.push_back(wanted);  // first, because it may throw
    place = raw(wanted.id);
    try {
      if (shapes_.size() * 2 > places_.size()) rehash();
    } catch (...) {  // no memory: searches take longer, and the next add() tries again
    }
    return {wanted.id, true};
  }
  void rehash() {
    places_.assign(places_.size() * 2, 0);
    for (std::size_t s = 1; s < shapes_.size(); ++s) {
      auto bare = shapes_[s];
      bare.id = {};
      auto i = hash(bare);
      while (places_[i & (places_.size() - 1)] != 0) ++i;
      places_[i & (places_.size() - 1)] = static_cast<std::uint32_t>(s);
    }
  }

  std::size_t const max_whole_, max_names_;
  std::size_t whole_ = 0, names_ = 0;
  std::vector<kernel_shape> shapes_;
  std::vector<std::uint32_t> places_;
};

}  // namespace gpuprof::guest

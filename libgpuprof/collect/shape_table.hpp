// SPDX-License-Identifier: Apache-2.0
// Gives each distinct kernel shape a small number.
#pragma once

#include "model/records.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace gpuprof {

/// One thread. Shape 0 is "unknown". At most `most` shapes; later ones become shape 0 and are
/// counted.
class shape_table {
 public:
  explicit shape_table(std::size_t most = 1 << 17) : most_(most), shapes_(1), places_(1 << 10, 0) {}

  struct entry {
    shape_id id{};
    bool is_new = false;
  };

  /// `wanted.id` is ignored.
  entry intern(kernel_shape wanted) {
    wanted.id = {};
    for (auto i = hash(wanted);; ++i) {
      auto& place = places_[i & (places_.size() - 1)];
      if (place == 0) return add(wanted, place);
      if (same(shapes_[place], wanted)) return {static_cast<shape_id>(place), false};
    }
  }

  kernel_shape const& at(shape_id id) const noexcept { return shapes_[raw(id)]; }
  std::size_t size() const noexcept { return shapes_.size(); }
  std::uint64_t refused() const noexcept { return refused_; }

 private:
  static bool same(kernel_shape const& known, kernel_shape wanted) noexcept {
    wanted.id = known.id;
    return known == wanted;
  }
  static std::size_t hash(kernel_shape const& s) noexcept {
    // Independent products, so that they overlap; one chain of them took a tenth of decoding.
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
  entry add(kernel_shape wanted, std::uint32_t& place) {
    if (shapes_.size() > most_) {
      ++refused_;
      return {};
    }
    wanted.id = static_cast<shape_id>(shapes_.size());
    place = raw(wanted.id);
    shapes_.push_back(wanted);
    if (shapes_.size() * 2 > places_.size()) rehash();
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

  std::size_t const most_;
  std::vector<kernel_shape> shapes_;
  std::vector<std::uint32_t> places_;
  std::uint64_t refused_ = 0;
};

}  // namespace gpuprof

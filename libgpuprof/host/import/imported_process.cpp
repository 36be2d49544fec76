// SPDX-License-Identifier: Apache-2.0
#include "host/import/imported_process.hpp"

#include <algorithm>

namespace gpuprof::host {

launch_table::page* launch_table::page_of(std::uint32_t number) {
  if (last_ != nullptr && last_number_ == number) return last_;
  auto const found = pages_.find(number);
  if (found == pages_.end()) return nullptr;
  last_number_ = number;
  return last_ = found->second.get();
}

void launch_table::expect(correlation_id number) {
  auto const at = raw(number) >> page_bits;
  auto* page_at = page_of(at);
  if (page_at == nullptr) {
    pages_.emplace(at, std::make_unique<page>());
    page_at = page_of(at);
  }
  auto const bit = raw(number) & ((1u << page_bits) - 1);
  page_at->wanted[bit / 64] |= std::uint64_t{1} << bit % 64;
}

launch* launch_table::find(correlation_id number) {
  auto* const at = page_of(raw(number) >> page_bits);
  if (at == nullptr) return nullptr;
  if (at->launches.empty()) {
    std::uint32_t sum = 0;
    for (std::size_t i = 0; i < words; ++i) {
      at->before[i] = sum;
      sum += static_cast<std::uint32_t>(std::popcount(at->wanted[i]));
    }
    at->launches.resize(sum);
  }
  auto const bit = raw(number) & ((1u << page_bits) - 1);
  auto const word = at->wanted[bit / 64];
  auto const mask = std::uint64_t{1} << bit % 64;
  if ((word & mask) == 0) return nullptr;
  auto const below = static_cast<std::uint32_t>(std::popcount(word & (mask - 1)));
  return &at->launches[at->before[bit / 64] + below];
}

void recorded_days::settle() {
  std::int64_t day = 0;
  std::uint64_t most = 0;
  for (auto const& [candidate, count] : counts_) {
    // If two days have equally many moments, the later one wins: damaged times are often 0.
    if (count < most || (count == most && candidate < day)) continue;
    day = candidate;
    most = count;
  }
  constexpr auto all_days = std::numeric_limits<std::int64_t>::max() / day_ns;
  constexpr auto around = longest_ns / day_ns;
  first_ = std::max(day - around, -all_days) * day_ns;
  last_ = std::min(day + around, all_days) * day_ns;
}

// The maximum that readers of a capture accept.
constexpr std::size_t max_shapes = 1u << 24;

imported_process::imported_process(std::string const& folder)
    : kernels(folder),
      copies(folder),
      fills(folder),
      graphs(folder),
      calls(folder),
      ranges(folder),
      marks(folder),
      syncs(folder),
      allocations(folder),
      migrations(folder) {}

bool imported_process::has_records() const {
  return !losses_.empty() || kernels.size() + copies.size() + fills.size() + graphs.size() +
                                     calls.size() + ranges.size() + marks.size() + syncs.size() +
                                     allocations.size() + migrations.size() >
                                 0;
}

thread_index imported_process::thread(std::uint32_t os_thread, std::int64_t process) {
  auto const next = static_cast<thread_index>(threads_.size() + 1);
  auto const [at, is_new] = thread_numbers_.try_emplace(os_thread, next);
  if (is_new) {
    threads_.push_back(os_thread);
    process_of_thread_.push_back(process);
  }
  return at->second;
}

/// Most ids fit into 32 bits. The others get numbers counted down from the top, which no trace
/// reaches.
correlation_id imported_process::correlation(std::int64_t said) {
  if (said >= 0 && said <= std::int64_t{UINT32_MAX}) return static_cast<correlation_id>(said);
  if (said == -1) return {};  // no correlation
  auto const next = static_cast<std::uint32_t>(UINT32_MAX - wide_correlations_.size());
  return correlation_id{wide_correlations_.try_emplace(said, next).first->second};
}

thread_index imported_process::process_row(std::int64_t process) {
  if (process == 0) return {};
  auto const next = static_cast<thread_index>(process_rows_.size() + 1);
  auto const [at, is_new] = row_of_process_.try_emplace(process, next);
  if (is_new) process_rows_.push_back(process);
  return at->second;
}

name_id imported_process::thread_name(std::uint32_t os_thread) const {
  auto const known = thread_names_.find(os_thread);
  return known != thread_names_.end() ? known->second : name_id{};
}

std::size_t imported_process::shape_hash::operator()(kernel_shape const& shape) const noexcept {
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (std::uint64_t const value :
       {std::uint64_t{raw(shape.name)}, std::uint64_t{shape.grid.x}, std::uint64_t{shape.grid.y},
        std::uint64_t{shape.grid.z}, std::uint64_t{shape.block.x}, std::uint64_t{shape.block.y},
        std::uint64_t{shape.block.z}, std::uint64_t{shape.registers_per_thread},
        std::uint64_t{shape.dynamic_shared_bytes}})
    hash = (hash ^ value) * 0x9E3779B97F4A7C15u;
  return static_cast<std::size_t>(hash ^ hash >> 32);
}

shape_id imported_process::shape(kernel_shape const& shape) {
  auto key = shape;
  key.id = {};
  auto const known = shape_numbers_.find(key);
  if (known != shape_numbers_.end()) return known->second;
  if (shapes_.size() == max_shapes) {
    lose("shapes");
    return {};
  }
  auto const id = static_cast<shape_id>(shapes_.size() + 1);
  shape_numbers_.emplace(key, id);
  key.id = id;
  shapes_.push_back(key);
  return id;
}

void imported_process::fact(std::string_view key, std::string_view value) {
  if (value.empty()) return;
  auto const id = name(key);
  for (auto const& known : facts_)
    if (known.first == id) return;
  facts_.emplace_back(id, name(value));
}

}  // namespace gpuprof::host

// SPDX-License-Identifier: Apache-2.0
// Where PyTorch keeps the sequence number of an operator. An operator of the forward pass and the
// autograd node that it makes have the same number.
#pragma once

#include <atomic>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace gpuprof::guest {

/// at::RecordFunction has the number in a member whose place differs between versions, and no
/// function of the library returns it. While an operator begins, the member holds what
/// at::sequence_number::peek() returns on that thread, if the operator will make a node; so the
/// place is the word that agrees with it several times in a row. Any thread.
class sequence_place {
 public:
  /// `function` is a RecordFunction on the stack of the calling thread, which has begun an
  /// operator.
  void compare(std::byte const* function, std::uint64_t next_number) noexcept;

  /// The number of `function`; nothing if it has none or the place is not known.
  std::optional<std::uint64_t> number_of(std::byte const* function) const noexcept;

  bool is_known() const noexcept { return state_.load(std::memory_order_relaxed) >= 0; }
  /// True until the place is known or the search has been given up.
  bool is_wanted() const noexcept { return state_.load(std::memory_order_relaxed) == searching; }

  static constexpr std::size_t words = 64;        // RecordFunction has some 40 words
  static constexpr unsigned agreements = 4;       // in a row, of different numbers
  static constexpr unsigned max_looks = 100'000;  // operators that make no node cost two of them

 private:
  static constexpr std::ptrdiff_t searching = -1, given_up = -2;

  std::atomic<std::ptrdiff_t> state_{searching};  // offset in bytes, or one of these
  std::atomic_flag busy_;                         // guards what follows
  std::bitset<words> agreeing_;
  std::uint64_t last_number_ = 0;
  unsigned agreed_ = 0, looks_ = 0;
};

}  // namespace gpuprof::guest

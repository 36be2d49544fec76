// SPDX-License-Identifier: Apache-2.0
#include "host/compare/run_digest.hpp"

#include <algorithm>
#include <array>
#include <sstream>
#include <string_view>
#include <utility>

namespace gpuprof::host::compare {

void duration_series::add(double ns) {
  ++count_;
  total_ += ns;
  if (limit_ > 0) {
    put(ns);
    return;
  }
  blocks_.push_back(ns);
  if (blocks_.size() == first_values) set_limit();
}

/// Then adds the first values, except the very first, which is warm-up.
void duration_series::set_limit() {
  auto const first = std::exchange(blocks_, {});
  auto sorted = first;
  auto const at = sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() * 9 / 10);
  std::nth_element(sorted.begin(), at, sorted.end());
  limit_ = std::max(1.0, clip_factor * *at);
  auto const skipped = first.size() > least_repetitions ? 1 : 0;
  for (auto value = first.begin() + skipped; value != first.end(); ++value) put(*value);
}

void duration_series::put(double ns) {
  clipped_ += ns > limit_;
  open_sum_ += std::min(ns, limit_);
  if (++in_open_ < block_length_) return;
  blocks_.push_back(open_sum_);
  open_sum_ = 0;
  in_open_ = 0;
  if (blocks_.size() < max_blocks) return;
  for (std::size_t i = 0; i < max_blocks / 2; ++i) blocks_[i] = blocks_[2 * i] + blocks_[2 * i + 1];
  blocks_.resize(max_blocks / 2);
  block_length_ *= 2;
}

void duration_series::finish() {
  if (limit_ == 0 && !blocks_.empty()) set_limit();
  for (auto& sum : blocks_) sum /= block_length_;
}

namespace {

std::string without_folder(std::string const& path) {
  auto const slash = path.rfind('/');
  return slash == path.npos ? path : path.substr(slash + 1);
}

bool is_interpreter(std::string_view program) {
  constexpr std::array<std::string_view, 8> names = {"python", "pypy", "perl", "ruby",
                                                     "node",   "bash", "sh",   "julia"};
  return std::any_of(names.begin(), names.end(), [&](auto name) {
    return program.starts_with(name) &&
           program.find_first_not_of("0123456789.", name.size()) == program.npos;
  });
}

}  // namespace

std::string program_of(run_digest const& run) {
  std::istringstream words(run.command_line);
  std::string word, first;
  words >> first;
  auto program = without_folder(run.program.empty() ? first : run.program);
  if (!is_interpreter(program)) return program;
  while (words >> word)
    if (!word.starts_with('-')) return without_folder(word);
  return program;
}

std::string programs_differ(std::span<run_digest const> base, std::span<run_digest const> fresh) {
  for (auto const& before : base)
    for (auto const& after : fresh) {
      auto const a = program_of(before), b = program_of(after);
      if (!a.empty() && !b.empty() && a != b)
        return before.path + " is of " + a + ", " + after.path + " of " + b;
    }
  return {};
}

}  // namespace gpuprof::host::compare

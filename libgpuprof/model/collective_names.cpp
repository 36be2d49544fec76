// SPDX-License-Identifier: Apache-2.0
#include "model/collective_names.hpp"

#include <algorithm>
#include <iterator>

namespace gpuprof {
namespace {

/// In small letters. '?' stands for an underscore or nothing.
constexpr std::string_view words[] = {"nccl",
                                      "nvshmem",
                                      "mscclpp",
                                      "deep_ep",
                                      "ep::internode",
                                      "ep::intranode",
                                      "cross_device_reduce",
                                      "all?reduce",
                                      "all?gather",
                                      "reduce?scatter",
                                      "all?to?all",
                                      "moea2a",
                                      "multimem",
                                      "symm?mem",
                                      "symmetric?mem",
                                      "userbuffers",
                                      "lamport"};

constexpr char small(char c) noexcept {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

bool starts_with(std::string_view text, std::string_view word) noexcept {
  for (auto const c : word) {
    if (c == '?') {
      if (!text.empty() && text.front() == '_') text.remove_prefix(1);
      continue;
    }
    if (text.empty() || small(text.front()) != c) return false;
    text.remove_prefix(1);
  }
  return true;
}

}  // namespace

bool is_named_as_collective(std::string_view kernel) noexcept {
  for (; !kernel.empty(); kernel.remove_prefix(1))
    if (std::any_of(std::begin(words), std::end(words),
                    [&](auto const word) { return starts_with(kernel, word); }))
      return true;
  return false;
}

}  // namespace gpuprof

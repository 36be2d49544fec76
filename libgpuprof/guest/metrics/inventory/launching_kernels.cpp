// SPDX-License-Identifier: Apache-2.0
#include "guest/metrics/inventory/launching_kernels.hpp"

#include "guest/metrics/inventory/elf_image.hpp"

#include <algorithm>
#include <cstring>
#include <optional>
#include <vector>

namespace gpuprof::guest {
namespace {

constexpr std::uint32_t symbol_table = 2;  // SHT_SYMTAB

// Attributes of a kernel, in its section .nv.info.NAME. The first byte says how the value is
// stored, the next one which attribute it is. As of nvcc 13.0.
constexpr std::string_view attributes_prefix = ".nv.info.";
constexpr std::uint8_t is_sized = 4, externals = 0x0f;

/// The driver provides these functions. Dynamic parallelism uses __cuda_syscall_cnpv2LaunchDeviceV2
/// or one of the older names.
constexpr std::string_view graph_launch = "cudaGraphLaunch", device_calls = "__cuda_syscall_cnp";
bool launches(std::string_view symbol) noexcept {
  return symbol == graph_launch || (symbol.starts_with(device_calls) &&
                                    symbol.find("LaunchDevice") != std::string_view::npos);
}

/// Large modules have 100,000 symbols, and these names are rare. So the string table is searched
/// first, at some GB/s.
bool may_hold_launches(elf_image::bytes texts) noexcept {
  auto const holds = [&](std::string_view name) {
    return memmem(texts.data(), texts.size(), name.data(), name.size()) != nullptr;
  };
  return holds(graph_launch) || holds(device_calls);
}

std::vector<std::uint32_t> launch_functions(elf_image const& elf) {
  std::vector<std::uint32_t> found;
  for (std::size_t i = 0; i < elf.sections(); ++i) {
    auto const section = elf.at(i);
    if (section.type != symbol_table || section.link >= elf.sections()) continue;
    auto const texts = elf.content(elf.at(section.link));
    if (!texts || !may_hold_launches(*texts)) continue;
    for (std::size_t at = 0; at < section.size / elf_image::symbol_bytes; ++at) {
      auto const symbol = elf.symbol_at(section, at);
      if (!symbol) break;  // damaged
      if (symbol->section == 0 && launches(symbol->name))
        found.push_back(static_cast<std::uint32_t>(at));
    }
  }
  return found;
}

bool refers_to(elf_image::bytes attributes, std::vector<std::uint32_t> const& symbols) noexcept {
  std::size_t at = 0;
  while (at + 4 <= attributes.size()) {
    std::size_t const size =
        attributes[at] == is_sized ? number_at<std::uint16_t>(attributes, at + 2) : 0;
    if (size > attributes.size() - at - 4) return false;
    if (attributes[at] == is_sized && attributes[at + 1] == externals)
      for (std::size_t word = 0; word + 4 <= size; word += 4)
        if (std::find(symbols.begin(), symbols.end(),
                      number_at<std::uint32_t>(attributes, at + 4 + word)) != symbols.end())
          return true;
    at += 4 + size;
  }
  return false;
}

}  // namespace

void find_launching_kernels(std::span<std::uint8_t const> image,
                            std::function<void(std::string_view)> const& take) {
  auto const elf = elf_image::open(image);
  if (!elf || elf->machine() != elf_image::machine_cuda) return;
  auto const functions = launch_functions(*elf);
  if (functions.empty()) return;
  for (std::size_t i = 0; i < elf->sections(); ++i) {
    auto const section = elf->at(i);
    if (!section.name.starts_with(attributes_prefix)) continue;
    auto const attributes = elf->content(section);
    if (attributes && refers_to(*attributes, functions))
      take(section.name.substr(attributes_prefix.size()));
  }
}

void launching_kernels::add_module(std::span<std::uint8_t const> image) noexcept {
  try {
    find_launching_kernels(image, [this](std::string_view name) {
      std::lock_guard const lock(mutex_);
      if (names_.size() < max_names) names_.emplace(name);
      any_.store(true, std::memory_order_release);
    });
  } catch (...) {  // out of memory: kernels of this module stay unknown
  }
}

bool launching_kernels::has(std::string_view mangled) const noexcept {
  if (!any_.load(std::memory_order_acquire)) return false;
  std::lock_guard const lock(mutex_);
  return names_.find(mangled) != names_.end();
}

}  // namespace gpuprof::guest

// SPDX-License-Identifier: Apache-2.0
#include "guest/metrics/inventory/cubin.hpp"

#include "guest/metrics/inventory/elf_image.hpp"
#include "guest/metrics/inventory/instructions.hpp"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

namespace gpuprof::guest {
namespace {

constexpr std::string_view text_prefix = ".text.";
constexpr std::string_view call_graph_name = ".nv.callgraph";

// Functions that the driver links into programs.
constexpr std::string_view drivers_own[] = {"vprintf", "malloc", "free", "__assertfail"};

// Since CUDA 13 the flags have a new layout.
constexpr std::uint8_t abi_of_new_flags = 8;

std::uint32_t chip_of(elf_image const& elf) noexcept {
  return elf.abi_version() >= abi_of_new_flags ? elf.flags() >> 8 & 0xff : elf.flags() & 0xff;
}

std::optional<elf_image> open(std::span<std::uint8_t const> image) noexcept {
  auto const elf = elf_image::open(image);
  if (!elf || elf->machine() != elf_image::machine_cuda) return std::nullopt;
  return elf;
}

error not_a_cubin() {
  return {"the image of a module is no cubin, or damaged: nothing is known of its kernels"};
}

/// The kernels and functions of one cubin, and their call graph.
class functions {
 public:
  explicit functions(elf_image const& elf) : elf_(elf) {}

  /// Returns false if the file is damaged.
  bool read();
  kernel_code code_of(std::size_t index) const;
  std::size_t size() const noexcept { return functions_.size(); }
  std::string_view name(std::size_t index) const noexcept { return functions_[index].name; }

 private:
  struct function {
    std::string_view name;
    instruction_set holds;
    fma_instructions fma;
    bool is_complete = true, has_calls = false;
    std::vector<std::uint32_t> calls;
  };
  // Markers in place of a callee. They define the meaning of the pairs that follow.
  enum class pairs : std::uint32_t {
    calls = 0xffffffff,
    addresses_taken = 0xfffffffe,
    calls_through_pointers = 0xfffffffd,
    possible_calls = 0xfffffffc
  };

  function* behind(elf_image::section const& symbols, std::uint32_t symbol, bool& is_drivers);
  bool read_calls(elf_image::section const& graph);

  elf_image const& elf_;
  std::vector<function> functions_;
  std::vector<std::uint32_t> by_section_;  // index + 1 of the section's function; 0: no function
};

bool functions::read() {
  auto const is_known = knows_instructions_of(chip_of(elf_));
  std::optional<elf_image::section> graph;
  by_section_.resize(elf_.sections());
  for (std::size_t i = 0; i < elf_.sections(); ++i) {
    auto const section = elf_.at(i);
    if (section.name == call_graph_name) graph = section;
    if (!section.name.starts_with(text_prefix)) continue;
    auto const code = elf_.content(section);
    if (!code) return false;
    auto& made = functions_.emplace_back();
    made.name = section.name.substr(text_prefix.size());
    made.is_complete = is_known;
    if (is_known) {
      auto const inside = instructions_in(chip_of(elf_), *code);
      made.holds = inside.holds;
      made.fma = inside.fma;
      made.has_calls = inside.has_calls;
    }
    by_section_[i] = static_cast<std::uint32_t>(functions_.size());
  }
  // Some libraries with their own kernel archives, such as cuBLAS, have no call graph. Then the
  // callees are unknown.
  if (!graph)
    for (auto& of : functions_) of.is_complete = of.is_complete && !of.has_calls;
  return !graph || read_calls(*graph);
}

/// Returns nullptr if the symbol is not a function of this file.
functions::function* functions::behind(elf_image::section const& symbols, std::uint32_t symbol,
                                       bool& is_drivers) {
  auto const found = elf_.symbol_at(symbols, symbol);
  is_drivers = found && found->section == 0 &&
               std::find(std::begin(drivers_own), std::end(drivers_own), found->name) !=
                   std::end(drivers_own);
  if (!found || found->section >= by_section_.size()) return nullptr;
  auto const index = by_section_[found->section];
  return index == 0 ? nullptr : &functions_[index - 1];
}

bool functions::read_calls(elf_image::section const& graph) {
  auto const content = elf_.content(graph);
  if (!content || graph.link >= elf_.sections()) return false;
  auto const symbols = elf_.at(graph.link);
  auto what = pairs::calls;
  for (std::size_t at = 0; at + 8 <= content->size(); at += 8) {
    auto const first = number_at<std::uint32_t>(*content, at);
    auto const second = number_at<std::uint32_t>(*content, at + 4);
    if (first == 0 && second >= static_cast<std::uint32_t>(pairs::possible_calls)) {
      what = static_cast<pairs>(second);
      continue;
    }
    if (what == pairs::addresses_taken) continue;
    bool caller_is_drivers = false, callee_is_drivers = false;
    auto* const caller = behind(symbols, first, caller_is_drivers);
    if (caller == nullptr) continue;
    if (what != pairs::calls) {
      caller->is_complete = false;
      continue;
    }
    auto const* const callee = behind(symbols, second, callee_is_drivers);
    if (callee != nullptr)
      caller->calls.push_back(static_cast<std::uint32_t>(callee - functions_.data()));
    else if (!callee_is_drivers)
      caller->is_complete = false;
  }
  return true;
}

kernel_code functions::code_of(std::size_t index) const {
  auto const& own = functions_[index];
  kernel_code code{chip_of(elf_), own.holds, own.is_complete, own.fma};
  if (functions_[index].calls.empty()) return code;
  std::vector<bool> seen(functions_.size());
  std::vector<std::size_t> to_see = {index};
  while (!to_see.empty()) {
    auto const at = to_see.back();
    to_see.pop_back();
    if (seen[at]) continue;
    seen[at] = true;
    auto const& one = functions_[at];
    code.holds.insert(one.holds);
    if (at != index) code.fma.add(one.fma);
    code.is_complete = code.is_complete && one.is_complete;
    to_see.insert(to_see.end(), one.calls.begin(), one.calls.end());
  }
  return code;
}

}  // namespace

result<cubin_facts> look_at_cubin(std::span<std::uint8_t const> image) {
  auto const elf = open(image);
  if (!elf) return not_a_cubin();
  cubin_facts facts;
  facts.sm = chip_of(*elf);
  for (std::size_t i = 0; i < elf->sections(); ++i) {
    auto const section = elf->at(i);
    if (!section.name.starts_with(text_prefix)) continue;
    auto const code = elf->content(section);
    if (!code) return not_a_cubin();
    facts.code_bytes += code->size();
  }
  return facts;
}

result<void> read_cubin(std::span<std::uint8_t const> image,
                        std::function<void(std::string_view, kernel_code const&)> const& take) {
  auto const elf = open(image);
  if (!elf) return not_a_cubin();
  functions all(*elf);
  if (!all.read()) return not_a_cubin();
  for (std::size_t i = 0; i < all.size(); ++i) take(all.name(i), all.code_of(i));
  return {};
}

}  // namespace gpuprof::guest

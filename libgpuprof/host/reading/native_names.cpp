// SPDX-License-Identifier: Apache-2.0
#include "host/reading/native_names.hpp"

#include "host/reading/binary_symbols.hpp"
#include "model/kernel_name.hpp"

#include <cstdint>
#include <cstdio>
#include <string_view>

namespace gpuprof::host {
namespace {

/// Inside of the call that returns to it.
std::uint64_t call_of(stack_record const& frame) noexcept {
  return frame.address != 0 ? frame.address - 1 : 0;
}

// As guest/stacks/native_stack.cpp writes it.
constexpr std::uint64_t callers_not_known = ~std::uint64_t{0};

std::string address_text(std::string_view path, std::uint64_t address) {
  if (address == callers_not_known) return "(callers not known)";
  char text[32];
  std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(address));
  if (path.empty()) return text;
  return std::string(path.substr(path.rfind('/') + 1)) + '+' + text;
}

}  // namespace

void name_native_frames(std::vector<stack_record>& stacks,
                        std::map<binary_id, native_binary> const& binaries,
                        std::function<name_id(std::string)> const& add) {
  std::map<binary_id, std::map<std::uint64_t, name_id>> names;
  for (auto const& frame : stacks)
    if (frame.is_native()) names[frame.binary][call_of(frame)] = {};
  for (auto& [number, of_binary] : names) {
    auto const binary = binaries.find(number);
    native_binary const& file = binary != binaries.end() ? binary->second : native_binary{};
    std::vector<std::uint64_t> addresses;
    for (auto const& [address, _] : of_binary) addresses.push_back(address);
    auto const functions = functions_at(file.path_text, file.build_id, addresses);
    std::map<std::string, name_id> kept;  // most addresses of a function are calls in it
    for (auto& [address, name] : of_binary) {
      auto const found = functions.find(address);
      auto text = found != functions.end() ? function_display_name(found->second)
                                           : address_text(file.path_text, address + 1);
      auto const [place, is_new] = kept.try_emplace(text);
      if (is_new) place->second = add(std::move(text));
      name = place->second;
    }
  }
  for (auto& frame : stacks) {
    if (!frame.is_native()) continue;
    frame.function = names[frame.binary][call_of(frame)];
    auto const binary = binaries.find(frame.binary);
    frame.file = binary != binaries.end() ? binary->second.path : name_id{};
  }
}

}  // namespace gpuprof::host

// SPDX-License-Identifier: Apache-2.0
#include "host/import/declared_work.hpp"

#include <nlohmann/json.hpp>

#include <cmath>

namespace gpuprof::host {
namespace {

constexpr std::size_t longest_payload = 64 << 10;

double number_in(nlohmann::json const& object, char const* key) {
  auto const found = object.find(key);
  if (found == object.end() || !found->is_number()) return 0;
  auto const value = found->get<double>();
  return std::isfinite(value) && value > 0 ? value : 0;
}

}  // namespace

declared_work declared_in(std::string_view json) {
  if (json.size() > longest_payload || json.find("flops") == std::string_view::npos) return {};
  constexpr bool throws = false;
  auto const payload = nlohmann::json::parse(json, nullptr, throws);
  if (!payload.is_object()) return {};
  declared_work work{number_in(payload, "flops"), number_in(payload, "bytes")};
  for (auto const& member : payload) {
    if (work.flops > 0 || !member.is_object()) continue;
    work = {number_in(member, "flops"), number_in(member, "bytes")};
  }
  return work;
}

}  // namespace gpuprof::host

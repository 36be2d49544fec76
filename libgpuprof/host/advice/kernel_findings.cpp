// SPDX-License-Identifier: Apache-2.0
#include "host/advice/kernel_findings.hpp"

#include "host/advice/bottleneck.hpp"
#include "host/advice/kernel_caps.hpp"
#include "host/advice/step_bound.hpp"
#include "host/advice/wording.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

namespace gpuprof::host::advice {
namespace {

double share_of(double part, kernel_facts const& kernel) {
  return kernel.total_ns > 0 ? std::clamp(part / kernel.total_ns, 0.0, 1.0) : 0;
}

using key = std::tuple<std::string_view, std::string, std::string, std::string, std::string>;

key key_of(finding const& one) {
  if (!one.kernel.empty())
    return {one.rule, one.family.empty() ? one.kernel : one.family, "", "", ""};
  return {one.rule, "", one.what, one.call, one.range};
}

/// What is being merged into one place.
struct merged {
  finding all;
  double worst_ns = 0;  // the gain of the part whose words it has
  std::set<std::string> kernels;
  std::set<std::pair<std::string, std::string>> geometries;  // of each kernel

  void count(finding const& part) {
    kernels.insert(part.kernel);
    geometries.emplace(part.kernel, part.geometry);
  }
};

void add_names(std::vector<std::string_view>& names, std::vector<std::string_view> const& more) {
  for (auto const name : more)
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
}

void add(merged& into, finding one) {
  into.count(one);
  if (one.gain.high_ns > into.worst_ns) {
    into.worst_ns = one.gain.high_ns;
    std::swap(into.all, one);
  }
  auto& all = into.all;
  all.gain.low_ns += one.gain.low_ns;
  all.gain.high_ns += one.gain.high_ns;
  all.instances += one.instances;
  if (all.device != one.device) all.device.reset();
  add_names(all.also, one.also);
}

std::string counted(std::size_t count, std::string const& what) {
  return std::to_string(count) + " " + what;
}

/// "3 kernels", "5 launch geometries"; empty: it is one.
std::string parts_of(finding const& all) {
  if (all.kernels > 1) return counted(all.kernels, "kernels");
  return all.geometries > 1 ? counted(all.geometries, "launch geometries") : std::string();
}

finding finished(merged part) {
  auto& all = part.all;
  all.kernels = static_cast<std::uint32_t>(part.kernels.size());
  all.geometries = static_cast<std::uint32_t>(part.geometries.size());
  auto const parts = parts_of(all);
  if (parts.empty()) return std::move(all);
  all.what += " (worst of " + parts + (all.kernels > 1 ? "" : ": " + all.geometry) + ")";
  all.arithmetic = "the sum over " + parts + "; of the worst: " + all.arithmetic;
  return std::move(all);
}

}  // namespace

bool launches_hold(run_facts const& facts) {
  auto const bound = bound_of(facts);
  return bound.host_ns > 0 ? bound.launches_hold() : bottleneck_of(facts).launches_hold;
}

void take_hidden_gains(std::vector<finding>& findings, run_facts const& facts) {
  auto const held = launches_hold(facts);
  for (auto& one : findings) {
    if (!one.kernel_line) continue;
    auto const& kernel = facts.kernels[*one.kernel_line];
    auto const followed = share_of(kernel.followed_ns, kernel);
    one.gain.low_ns *= std::min(followed, share_of(kernel.alone_ns, kernel));
    if (!held || followed >= 0.5) continue;
    one.is_hidden_by_launches = true;
    one.gain.high_ns *= followed;
    one.gain.low_ns = std::min(one.gain.low_ns, one.gain.high_ns);
    one.to_do += " The launching thread holds the program: only " + in_percent(followed) +
                 " of this kernel's time had the next kernel already queued, and only there a "
                 "shorter kernel saves time. Launch less or faster first.";
  }
}

std::vector<finding> merge_findings(std::vector<finding> findings) {
  std::map<key, std::size_t> places;
  std::vector<merged> parts;
  for (auto& one : findings) {
    auto const [place, is_new] = places.emplace(key_of(one), parts.size());
    if (is_new) {
      merged first;
      first.worst_ns = one.gain.high_ns;
      first.count(one);
      first.all = std::move(one);
      parts.push_back(std::move(first));
    } else {
      add(parts[place->second], std::move(one));
    }
  }
  std::vector<finding> result;
  result.reserve(parts.size());
  for (auto& part : parts) result.push_back(finished(std::move(part)));
  return result;
}

std::vector<finding> settle_kernel_findings(std::vector<finding> findings, run_facts const& facts) {
  auto shared = share_kernel_caps(std::move(findings), facts);
  take_hidden_gains(shared, facts);
  return merge_findings(std::move(shared));
}

}  // namespace gpuprof::host::advice

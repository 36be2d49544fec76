// SPDX-License-Identifier: Apache-2.0
#include "host/report/peaks_groups.hpp"

#include "host/report/peaks_words.hpp"

#include <algorithm>

namespace gpuprof::report {
namespace {

struct named_group {
  std::string name;
  std::vector<compared_test> tests;
};

/// Peer copies are one test with a title for each peer.
bool is_same_test(peak_result const& a, peak_result const& b) {
  return a.test == b.test && a.title == b.title;
}

void add(named_group& group, peak_result const& result, std::size_t gpu, std::size_t gpus) {
  auto found = std::find_if(group.tests.begin(), group.tests.end(), [&](compared_test const& test) {
    return test.on_each[gpu] == nullptr && is_same_test(test.any(), result);
  });
  if (found == group.tests.end())
    found = group.tests.insert(group.tests.end(), {std::vector<peak_result const*>(gpus, nullptr)});
  found->on_each[gpu] = &result;
}

std::string units_in(std::vector<compared_test> const& tests) {
  std::vector<std::string> names;
  for (auto const& test : tests) {
    auto name = unit_for_reading(test.any().unit).name;
    if (std::find(names.begin(), names.end(), name) == names.end())
      names.push_back(std::move(name));
  }
  std::string text;
  for (auto const& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

}  // namespace

peak_result const& compared_test::any() const {
  return **std::find_if(on_each.begin(), on_each.end(), [](auto const* r) { return r != nullptr; });
}

std::vector<peak_group> groups_of(std::span<gpu_peaks const> gpus) {
  std::vector<named_group> groups;
  for (std::size_t gpu = 0; gpu < gpus.size(); ++gpu)
    for (auto const& result : gpus[gpu].results) {
      auto found = std::find_if(groups.begin(), groups.end(),
                                [&](named_group const& g) { return g.name == result.group; });
      if (found == groups.end()) found = groups.insert(groups.end(), {result.group, {}});
      add(*found, result, gpu, gpus.size());
    }
  std::vector<peak_group> titled;
  for (auto& group : groups) {
    auto const name = group.name.empty() ? "Tests" : group_title(group.name);
    auto const units = units_in(group.tests);
    titled.push_back({name + ", " + units, std::move(group.tests)});
  }
  return titled;
}

}  // namespace gpuprof::report

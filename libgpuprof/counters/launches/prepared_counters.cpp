#include "counters/launches/prepared_counters.hpp"

#include <utility>

namespace gpuprof {
namespace {

/// False: it would take more passes than both apart.
result<bool> join(host_profiler const& chip, prepared_configuration& plain,
                  prepared_configuration const& rewriting, std::size_t most_passes) {
  auto metrics = plain.metrics;
  metrics.insert(metrics.end(), rewriting.metrics.begin(), rewriting.metrics.end());
  auto both = chip.configure(metrics);
  if (!both) return error{both.message()};
  auto const apart = plain.configuration.passes + rewriting.configuration.passes;
  if (both->passes != apart || apart > most_passes) return false;
  plain.configuration = std::move(*both);
  plain.metrics = std::move(metrics);
  plain.groups.insert(plain.groups.end(), rewriting.groups.begin(), rewriting.groups.end());
  return true;
}

}  // namespace

result<prepared_counters> arranged(host_profiler const& chip, std::vector<prepared_group> groups,
                                   std::size_t most_passes) {
  prepared_counters made;
  made.groups = std::move(groups);
  std::vector<prepared_configuration const*> rewriting;
  for (unsigned i = 0; i < made.groups.size(); ++i)
    made.apart.push_back({made.groups[i].configuration, made.groups[i].metrics, {i}});
  for (auto const& alone : made.apart) {
    if (made.groups[alone.groups[0]].patches_kernels)
      rewriting.push_back(&alone);
    else
      made.together.push_back(alone);
  }
  auto const plain = made.together.size();
  for (auto const* const alone : rewriting) {
    auto joined = false;
    for (std::size_t i = 0; i < plain && !joined; ++i) {
      auto const ok = join(chip, made.together[i], *alone, most_passes);
      if (!ok) return error{ok.message()};
      joined = *ok;
    }
    if (!joined) made.together.push_back(*alone);
  }
  return made;
}

}  // namespace gpuprof

// SPDX-License-Identifier: Apache-2.0
// Decides if a replay is close enough to its recording to answer questions.
#pragma once

#include "host/replay/step_graph.hpp"

#include <cstdint>
#include <string>

namespace gpuprof::host::command {

/// At most this number of kernels, copies and fills is replayed a few times; more take a sample of
/// steps.
inline constexpr std::uint64_t max_replayed_items = 400'000;
/// Fewer than whatif replays for one question, because analyze replays each finding. The page and
/// the Perfetto export show paths of the same steps.
inline constexpr std::uint64_t max_items_of_findings = 60'000;

double recorded_step_ns(replay::step_graph const& graph) noexcept;

/// Returns a message if steps of `replayed_ns`, without an edit, differ from the recording; empty
/// if they do not. With a message there is no answer.
std::string why_not_replayed(replay::step_graph const& graph, double replayed_ns);

}  // namespace gpuprof::host::command

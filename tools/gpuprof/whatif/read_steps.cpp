// SPDX-License-Identifier: Apache-2.0
#include "whatif/read_steps.hpp"

#include "host/reading/capture_walk.hpp"
#include "whatif/choose_steps.hpp"
#include "whatif/step_collector.hpp"

namespace gpuprof::host::command {

result<steps_of_capture> read_steps(trace_contents& trace, steps_question const& question) {
  auto chosen = choose_steps(trace, question);
  if (!chosen) return error{chosen.message()};
  step_collector steps(trace, *std::move(chosen));
  capture_walk walk(trace.file());
  walk.add_each<kernel_record>(
      capture::only(&kernel_record::start, &kernel_record::duration, &kernel_record::launched,
                    &kernel_record::shape, &kernel_record::device, &kernel_record::context,
                    &kernel_record::stream, &kernel_record::thread),
      [&](kernel_record const& kernel) { steps.add(kernel); });
  walk.add_each<graph_record>(capture::column_set<graph_record>{},
                              [&](graph_record const& graph) { steps.add(graph); });
  walk.add_each<copy_record>(capture::column_set<copy_record>{},
                             [&](copy_record const& copy) { steps.add(copy); });
  walk.add_each<memset_record>(capture::column_set<memset_record>{},
                               [&](memset_record const& fill) { steps.add(fill); });
  walk.add_each<api_record>(capture::only(&api_record::start, &api_record::duration,
                                          &api_record::name, &api_record::os_thread),
                            [&](api_record const& call) { steps.add(call); });
  walk.run();
  return steps.finish();
}

}  // namespace gpuprof::host::command

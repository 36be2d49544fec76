// SPDX-License-Identifier: Apache-2.0
#include "peaks_progress.hpp"

#include "guest/peaks/measure.hpp"
#include "progress.hpp"

#include <string_view>

namespace gpuprof::host::command {

using namespace guest;

result<peaks::obtained> obtain_visibly(int device, std::string const& label,
                                       peaks::obtain_options asked) {
  terminal_line progress;
  asked.what.on_progress = [&](std::string_view test, std::size_t done, std::size_t all) {
    progress.show("gpuprof: " + label + "measuring " + std::string(test) + ", " +
                  std::to_string(done + 1) + " of " + std::to_string(all));
  };
  return peaks::obtain({peaks::key_of, peaks::measure}, device, asked);
}

}  // namespace gpuprof::host::command

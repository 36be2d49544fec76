// SPDX-License-Identifier: Apache-2.0
// The recorded program of `gpuprof demo`. tools/demo links it into one library with the driver and
// CUPTI that it meets.
#include "replay/player/demo.hpp"

#include "replay/format/machine.hpp"
#include "replay/format/recording_file.hpp"
#include "replay/player/performance.hpp"
#include "replay/player/playable.hpp"

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string_view>

namespace {

using namespace gpuprof::replay;

void say_what_it_is(recording const& r) {
  std::printf(
      "This is a recorded session of %s on an %s (%s), played here. It uses no GPU; all figures "
      "are "
      "those of that run.\n",
      r.fact("program").c_str(), r.fact("device.0.name").c_str(), r.fact("recorded").c_str());
}

int play(int count, char** words) {
  bool const only_about = count == 3 && std::string_view(words[2]) == "--about";
  if (count != 2 && !only_about) {
    std::fprintf(stderr, "usage: %s SESSION [--about]\n", words[0]);
    return 2;
  }
  auto r = read_recording(words[1]);
  if (!r || !all_kinds_known(*r)) {
    std::fprintf(stderr, "the session cannot be played: %s\n",
                 r ? "it holds activity records of an unknown kind" : r.message().c_str());
    return 2;
  }
  if (only_about) {
    say_what_it_is(*r);
    return 0;
  }
  setenv(session_variable, words[1], 1);
  auto const driver = start_driver();
  performance p(*r, driver, {});
  p.run();
  driver.synchronize();
  return 0;
}

}  // namespace

int gpuprof_demo_play(int count, char** words) noexcept {
  try {
    return play(count, words);
  } catch (std::exception const& failure) {
    std::fprintf(stderr, "the session cannot be played: %s\n", failure.what());
    return 1;
  }
}

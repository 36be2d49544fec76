// SPDX-License-Identifier: Apache-2.0
#include "host/advice/gain_words.hpp"

#include "host/advice/wording.hpp"

namespace gpuprof::host::advice {

std::string in_words(time_gain const& gain) {
  auto const low = gain.low_ns > 0 ? in_time(gain.low_ns) : std::string("0");
  auto const high = gain.high_ns > 0 ? in_time(gain.high_ns) : std::string("0");
  return low == high ? high : low + " to " + high;
}

void say_gain(finding& one) {
  auto const says_why_not = one.arithmetic.find("no gain") != std::string::npos;
  if (!one.arithmetic.empty() && !says_why_not) one.arithmetic += "; gain: " + in_words(one.gain);
}

void say_change(finding& one, time_gain const& before, std::string_view why) {
  if (one.arithmetic.empty() || in_words(before) == in_words(one.gain)) return;
  one.arithmetic += "; " + std::string(why) + ": " + in_words(one.gain);
}

}  // namespace gpuprof::host::advice

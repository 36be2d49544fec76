// SPDX-License-Identifier: Apache-2.0
#include "replay/cupti/faults.hpp"

#include "replay/cupti/contract.hpp"
#include "replay/format/word_list.hpp"

#include <cstdlib>

namespace gpuprof::replay {
namespace {

std::string variable(char const* name) {
  char const* const text = std::getenv(name);
  return text != nullptr ? text : "";
}

std::uint64_t number(char const* name, std::uint64_t otherwise) {
  auto const text = variable(name);
  return text.empty() ? otherwise : std::strtoull(text.c_str(), nullptr, 10);
}

}  // namespace

faults& faults::get() noexcept {
  static auto* const one = new faults;
  return *one;
}

faults::faults()
    : version(static_cast<std::uint32_t>(number("REPLAY_CUPTI_VERSION", 130001))),
      held_by(variable("REPLAY_HELD_BY")),
      fatal_after(number("REPLAY_FATAL_AFTER", 0)),
      slow_flush_ms(static_cast<unsigned>(number("REPLAY_SLOW_FLUSH_MS", 0))),
      no_code(number("REPLAY_NO_CODE", 0) != 0),
      launching_kernels(number("REPLAY_LAUNCHING_KERNELS", 0) != 0),
      graphs_early(number("REPLAY_GRAPHS_EARLY", 0)),
      late_ms(number("REPLAY_RECORDS_LATE_MS", 0)),
      push_us(static_cast<unsigned>(number("REPLAY_PUSH_US", 0))),
      pop_us(static_cast<unsigned>(number("REPLAY_POP_US", 0))),
      decode_us(static_cast<unsigned>(number("REPLAY_DECODE_US", 0))),
      plan_us(static_cast<unsigned>(number("REPLAY_PLAN_US", 0))),
      unload_us(static_cast<unsigned>(number("REPLAY_UNLOAD_US", 0))),
      start_ms(static_cast<unsigned>(number("REPLAY_START_MS", 0))),
      nodes_us(static_cast<unsigned>(number("REPLAY_NODES_US", 0))),
      drop_every_(number("REPLAY_DROP", 0)),
      zero_every_(number("REPLAY_ZERO_TIMES", 0)),
      overflow_every_(number("REPLAY_SAMPLING_OVERFLOW", 0)),
      long_sample_every_(number("REPLAY_LONG_SAMPLE", 0)) {
  read_failing_calls(variable("REPLAY_FAIL"));
}

void faults::read_failing_calls(std::string const& text) {
  for (auto const& item : words_between_commas(text)) {
    auto const equals = item.find('=');
    if (equals == std::string::npos) {
      broken("REPLAY_FAIL has \"" + item + "\", wanted is FUNCTION[:N]=CODE");
    }
    auto* const call = new failing_call;
    call->code = static_cast<CUptiResult>(std::strtol(item.c_str() + equals + 1, nullptr, 10));
    auto const function = item.substr(0, equals);
    auto const colon = function.find(':');
    call->function = function.substr(0, colon);
    if (colon != std::string::npos) {
      call->nth = std::strtoul(function.c_str() + colon + 1, nullptr, 10);
    }
    failing_.push_back(call);
  }
}

CUptiResult faults::for_call(char const* function) noexcept {
  for (auto* const f : failing_) {
    if (f->function != function) continue;
    auto const call = ++f->calls;
    if (f->nth == 0 || f->nth == call) return f->code;
  }
  return CUPTI_SUCCESS;
}

}  // namespace gpuprof::replay

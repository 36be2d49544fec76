// SPDX-License-Identifier: Apache-2.0
#include "lines/stack_places.hpp"

namespace gpuprof::host::command {

stack_places::stack_places(trace_contents& trace) : trace_(trace), stacks_(trace.stacks()) {}

stack_record const* named_frame(std::vector<stack_record> const& stacks, stack_id stack,
                                text_of_name const& text) {
  auto const* const of_python = own_frame(stacks, stack, [&](stack_record const& frame) {
    return !frame.is_native() && is_own_by_default(text(frame.file));
  });
  if (of_python != nullptr) return of_python;
  return own_frame(stacks, stack, [&](stack_record const& frame) {
    return frame.is_native() && is_own_native(text(frame.file), text(frame.function));
  });
}

std::string place_of(stack_record const& frame, text_of_name const& text) {
  if (frame.is_native()) return std::string(text(frame.function));
  auto const file = text(frame.file);
  auto place = std::string(file.substr(file.rfind('/') + 1));
  return frame.line != 0 ? place + ':' + std::to_string(frame.line) : place;
}

stack_record const* stack_places::own_frame_of(stack_id stack) const {
  auto const* const own = named_frame(stacks_, stack, trace_.text());
  if (own != nullptr || raw(stack) == 0 || raw(stack) >= stacks_.size()) return own;
  return &stacks_[raw(stack)];
}

std::string stack_places::where(stack_record const* frame) const {
  return frame != nullptr ? place_of(*frame, trace_.text()) : std::string();
}

bool stack_places::loads_data(stack_id stack) const {
  auto const is_of_loader = [&](stack_record const& frame) {
    return trace_.text()(frame.file).find("/torch/utils/data/") != std::string_view::npos;
  };
  return own_frame(stacks_, stack, is_of_loader) != nullptr;
}

bool stack_places::is_in_module(stack_id stack) const {
  return own_frame(stacks_, stack,
                   [](stack_record const& frame) { return raw(frame.module) != 0; }) != nullptr;
}

std::string stack_places::words_of(idle_causes::key const& key) const {
  std::string words = loads_data(key.stack) ? "data loading: " : "";
  if (key.cause == idle_cause::cuda_call)
    return words.append("waits in ").append(trace_.text()(key.call));
  if (key.cause == idle_cause::running)
    return words.append(raw(key.stack) != 0 ? "runs Python" : "runs native code");
  return words.append(host::words_of(key.cause));
}

}  // namespace gpuprof::host::command

// SPDX-License-Identifier: Apache-2.0
// Writes JSON values into a string of bounded length.
#include "guest/nvtx/json.hpp"

#include <charconv>
#include <cmath>

namespace gpuprof::guest {
namespace {

template <class Number, class... Base>
void append_number(std::string& out, Number number, Base... base) {
  char text[40];
  auto const end = std::to_chars(text, text + sizeof text, number, base...).ptr;
  out.append(text, end);
}

}  // namespace

void append_json(std::string& out, double number) {
  if (!std::isfinite(number)) {
    out += "null";
    return;
  }
  append_number(out, number);
}

void append_json(std::string& out, std::int64_t number) {
  append_number(out, number);
}

void append_json(std::string& out, std::uint64_t number) {
  append_number(out, number);
}

void append_hex(std::string& out, std::uint64_t number) {
  out += "\"0x";
  append_number(out, number, 16);
  out += '"';
}

}  // namespace gpuprof::guest

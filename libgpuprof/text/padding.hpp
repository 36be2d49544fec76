// SPDX-License-Identifier: Apache-2.0
// Brings text to a width that is counted in characters, as it stands on a terminal.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>

namespace gpuprof::text {

/// Characters, not bytes, as far as UTF-8 goes.
std::size_t width_of(std::string_view text) noexcept;

/// Blanks before the text when it goes to the right, else behind it; a longer text stays whole.
void append_padded(std::string& line, std::string_view text, std::size_t width, bool to_the_right);

/// The beginning and the end, where the text is longer than the width.
std::string shortened(std::string_view text, std::size_t width);

using text_set = std::set<std::string, std::less<>>;
using text_map = std::map<std::string, std::string, std::less<>>;
/// Those of the texts that are longer than the width, shortened. Where several begin and end alike,
/// each shows what tells it apart, too; equal ones only where the width is too small for that.
text_map shortened_apart(text_set const& texts, std::size_t width);

/// In lines of that width, broken at blanks, the second and later ones set in by `indent`; a word
/// that is longer stays whole. Width 0: as it is.
std::string wrapped(std::string_view text, std::size_t width, std::size_t indent = 0);

/// Line breaks and other control characters become blanks: a name must not break a table.
std::string on_one_line(std::string_view text);

}  // namespace gpuprof::text

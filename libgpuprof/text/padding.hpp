// SPDX-License-Identifier: Apache-2.0
// Fits text to a width in characters, as shown on a terminal.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>

namespace gpuprof::text {

/// Counts characters, not bytes, if the text is UTF-8.
std::size_t width_of(std::string_view text) noexcept;

/// Pads with blanks before the text (`to_the_right`) or after it; a longer text is not cut.
void append_padded(std::string& line, std::string_view text, std::size_t width, bool to_the_right);

/// Keeps the beginning and the end if the text is longer than the width.
std::string shortened(std::string_view text, std::size_t width);

using text_set = std::set<std::string, std::less<>>;
using text_map = std::map<std::string, std::string, std::less<>>;
/// Shortens the texts that are longer than the width. If several have the same beginning and end,
/// each also keeps the part that distinguishes it; results are equal only if the width is too small
/// for that.
text_map shortened_apart(text_set const& texts, std::size_t width);

/// Breaks the text at blanks into lines of `width` characters and indents all but the first by
/// `indent`. A longer word is not broken. With width 0 the text is unchanged.
std::string wrapped(std::string_view text, std::size_t width, std::size_t indent = 0);

/// Replaces line breaks and other control characters by blanks, because a name must not break a
/// table.
std::string on_one_line(std::string_view text);

}  // namespace gpuprof::text

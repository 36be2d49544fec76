// SPDX-License-Identifier: Apache-2.0
#include "support/made_cubin.hpp"

#include <algorithm>
#include <cstddef>

namespace gpuprof::test {
namespace {

using image = std::vector<std::uint8_t>;

template <class T>
void append(image& to, T value) {
  for (std::size_t i = 0; i < sizeof(T); ++i)
    to.push_back(static_cast<std::uint8_t>(static_cast<std::uint64_t>(value) >> (8 * i)));
}
template <class T>
void store(image& to, std::size_t at, T value) {
  for (std::size_t i = 0; i < sizeof(T); ++i)
    to[at + i] = static_cast<std::uint8_t>(static_cast<std::uint64_t>(value) >> (8 * i));
}

/// Texts that end in zeros, each with its place.
struct texts {
  image bytes = {0};
  std::uint32_t add(std::string const& text) {
    auto const at = static_cast<std::uint32_t>(bytes.size());
    bytes.insert(bytes.end(), text.begin(), text.end());
    bytes.push_back(0);
    return at;
  }
};

struct section {
  std::uint32_t name = 0, type = 0;
  image content;
  std::uint32_t link = 0;
};

constexpr std::uint32_t progbits = 1, symtab = 2, strtab = 3, call_graph = 0x70000001,
                        kernel_attributes = 0x70000000;
constexpr std::uint32_t calls_follow = 0xffffffff, pointer_calls_follow = 0xfffffffd;
constexpr std::size_t header_bytes = 64;

// Sections: none, names, texts of symbols, symbols, call graph, functions.
constexpr std::uint32_t symbol_texts_section = 2, symbols_section = 3, first_function = 5;

}  // namespace

std::vector<std::uint8_t> made_cubin::bytes() const {
  texts names, symbol_texts;
  image symbols(24), graph;  // the first symbol is none
  std::vector<std::string> known = {""};
  auto const symbol_of = [&](std::string const& name, std::size_t of_section) {
    auto const found = std::find(known.begin(), known.end(), name);
    if (found != known.end()) return static_cast<std::uint32_t>(found - known.begin());
    known.push_back(name);
    append<std::uint32_t>(symbols, symbol_texts.add(name));
    append<std::uint8_t>(symbols, 0x12);  // a global function
    append<std::uint8_t>(symbols, 0);
    append<std::uint16_t>(symbols, of_section);
    append<std::uint64_t>(symbols, 0);
    append<std::uint64_t>(symbols, 0);
    return static_cast<std::uint32_t>(known.size() - 1);
  };
  for (std::size_t i = 0; i < functions.size(); ++i)
    symbol_of(functions[i].name, first_function + i);

  auto const pair = [&graph](std::uint32_t first, std::uint32_t second) {
    append(graph, first);
    append(graph, second);
  };
  pair(0, calls_follow);
  for (auto const& of : functions)
    for (auto const& callee : of.calls) pair(symbol_of(of.name, 0), symbol_of(callee, 0));
  pair(0, pointer_calls_follow);
  for (auto const& of : functions)
    if (of.calls_through_pointer) pair(symbol_of(of.name, 0), 1);

  std::vector<image> attributes;
  for (auto const& of : functions) {
    auto& own = attributes.emplace_back(image{2, 0x10, 8, 0});  // one whose value is in two bytes
    append<std::uint32_t>(own, 0x0f04 | 4 * of.externals.size() << 16);
    for (auto const& name : of.externals) append(own, symbol_of(name, 0));
  }

  std::vector<section> sections(first_function);
  sections[1].name = names.add(".shstrtab");
  sections[1].type = strtab;
  sections[symbol_texts_section] = {names.add(".strtab"), strtab, symbol_texts.bytes, 0};
  sections[symbols_section] = {names.add(".symtab"), symtab, symbols, symbol_texts_section};
  sections[4] = {names.add(has_call_graph ? ".nv.callgraph" : ".nv.other"), call_graph, graph,
                 symbols_section};
  for (auto const& of : functions) {
    image code;
    for (auto const& [low, high] : of.code) {
      append(code, low);
      append(code, high);
    }
    sections.push_back({names.add(".text." + of.name), progbits, std::move(code), symbols_section});
  }
  for (auto const& of : functions) {
    sections.push_back({names.add(".nv.info." + of.name), kernel_attributes,
                        std::move(attributes[&of - functions.data()]), symbols_section});
  }
  sections[1].content = names.bytes;

  image file(header_bytes);
  std::uint8_t const start[] = {0x7f, 'E', 'L', 'F', 2, 1, 1, 0x41, 8};
  std::copy(std::begin(start), std::end(start), file.begin());
  if (has_old_flags) file[7] = 0x33, file[8] = 7;
  std::vector<std::size_t> offsets;
  for (auto const& of : sections) {
    offsets.push_back(file.size());
    file.insert(file.end(), of.content.begin(), of.content.end());
  }
  auto const table = file.size();
  for (std::size_t i = 0; i < sections.size(); ++i) {
    append<std::uint32_t>(file, sections[i].name);
    append<std::uint32_t>(file, sections[i].type);
    append<std::uint64_t>(file, 0);
    append<std::uint64_t>(file, 0);
    append<std::uint64_t>(file, offsets[i]);
    append<std::uint64_t>(file, sections[i].content.size());
    append<std::uint32_t>(file, sections[i].link);
    append<std::uint32_t>(file, 0);
    append<std::uint64_t>(file, 1);
    append<std::uint64_t>(file, 0);
  }
  store<std::uint16_t>(file, 16, 2u);    // a program
  store<std::uint16_t>(file, 18, 190u);  // CUDA
  store<std::uint64_t>(file, 40, table);
  store<std::uint32_t>(file, 48, has_old_flags ? sm << 16 | sm : 0x6000004 | sm << 8);
  store<std::uint16_t>(file, 58, 64u);
  store<std::uint16_t>(file, 60, sections.size());
  store<std::uint16_t>(file, 62, 1u);
  return file;
}

}  // namespace gpuprof::test

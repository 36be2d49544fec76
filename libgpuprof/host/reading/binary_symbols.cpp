// SPDX-License-Identifier: Apache-2.0
#include "host/reading/binary_symbols.hpp"

#include <algorithm>
#include <cstring>
#include <elf.h>
#include <fcntl.h>
#include <optional>
#include <string_view>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

namespace gpuprof::host {
namespace {

/// Reads parts of a regular file. What is not there, or is too large, is empty.
class binary_file {
 public:
  explicit binary_file(char const* path) noexcept
      : descriptor_(open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)) {
    struct stat about {};
    if (descriptor_ >= 0 && fstat(descriptor_, &about) == 0 && S_ISREG(about.st_mode))
      size_ = static_cast<std::uint64_t>(about.st_size);
  }
  ~binary_file() {
    if (descriptor_ >= 0) close(descriptor_);
  }
  binary_file(binary_file const&) = delete;
  binary_file& operator=(binary_file const&) = delete;

  std::string part(std::uint64_t from, std::uint64_t size) const {
    constexpr std::uint64_t largest = 2u << 30;
    if (from > size_ || size > size_ - from || size > largest) return {};
    std::string bytes(size, '\0');
    for (std::size_t used = 0; used < size;) {
      auto const read =
          pread(descriptor_, bytes.data() + used, size - used, static_cast<off_t>(from + used));
      if (read <= 0) return {};
      used += static_cast<std::size_t>(read);
    }
    return bytes;
  }
  template <class T>
  std::optional<T> get(std::uint64_t from) const {
    auto const bytes = part(from, sizeof(T));
    if (bytes.empty()) return std::nullopt;
    T value;
    std::memcpy(&value, bytes.data(), sizeof value);
    return value;
  }

 private:
  int descriptor_;
  std::uint64_t size_ = 0;
};

std::string hexadecimal(std::string_view bytes) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string text;
  for (auto const byte : bytes) {
    text += digits[static_cast<unsigned char>(byte) >> 4];
    text += digits[static_cast<unsigned char>(byte) & 15];
  }
  return text;
}

/// Empty if there is none.
std::string build_id_in(std::string_view notes) {
  constexpr std::size_t longest = 20;  // as captures have it
  auto const padded = [](std::size_t size) { return (size + 3) & ~std::size_t{3}; };
  while (notes.size() >= sizeof(Elf64_Nhdr)) {
    Elf64_Nhdr note;
    std::memcpy(&note, notes.data(), sizeof note);
    notes.remove_prefix(sizeof note);
    auto const name = padded(note.n_namesz), content = padded(note.n_descsz);
    if (notes.size() < name || notes.size() - name < content) return {};
    if (note.n_type == NT_GNU_BUILD_ID && notes.starts_with(std::string_view("GNU", 4)))
      return hexadecimal(notes.substr(name, std::min<std::size_t>(note.n_descsz, longest)));
    notes.remove_prefix(name + content);
  }
  return {};
}

class symbol_search {
 public:
  explicit symbol_search(std::span<std::uint64_t const> addresses)
      : addresses_(addresses.begin(), addresses.end()), found_(addresses.size()) {
    std::sort(addresses_.begin(), addresses_.end());
  }

  void look_at(Elf64_Sym const& symbol, std::string_view names) {
    auto const type = ELF64_ST_TYPE(symbol.st_info);
    if ((type != STT_FUNC && type != STT_GNU_IFUNC) || symbol.st_shndx == SHN_UNDEF) return;
    // Functions of assembly may have no size.
    auto const is_sized = symbol.st_size != 0;
    auto const end = symbol.st_value + (is_sized ? symbol.st_size : most_without_size);
    auto at = std::lower_bound(addresses_.begin(), addresses_.end(), symbol.st_value);
    for (; at != addresses_.end() && *at < end; ++at) {
      auto& best = found_[static_cast<std::size_t>(at - addresses_.begin())];
      if (!best.name.empty() && (best.is_sized > is_sized ||
                                 (best.is_sized == is_sized && best.begin >= symbol.st_value)))
        continue;
      auto const text = names.substr(std::min<std::size_t>(symbol.st_name, names.size()));
      best = {std::string(text.substr(0, text.find('\0'))), symbol.st_value, is_sized};
    }
  }
  std::map<std::uint64_t, std::string> result() const {
    std::map<std::uint64_t, std::string> names;
    for (std::size_t i = 0; i < addresses_.size(); ++i)
      if (!found_[i].name.empty()) names.emplace(addresses_[i], found_[i].name);
    return names;
  }

 private:
  static constexpr std::uint64_t most_without_size = 512;
  struct symbol {
    std::string name;
    std::uint64_t begin = 0;
    bool is_sized = false;
  };
  std::vector<std::uint64_t> addresses_;
  std::vector<symbol> found_;
};

}  // namespace

std::map<std::uint64_t, std::string> functions_at(std::string const& path,
                                                  std::string_view build_id,
                                                  std::span<std::uint64_t const> addresses) {
  binary_file const file(path.c_str());
  auto const header = file.get<Elf64_Ehdr>(0);
  if (!header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 ||
      header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_ident[EI_DATA] != ELFDATA2LSB)
    return {};
  std::string own_id;
  for (std::uint64_t i = 0; i < header->e_phnum && own_id.empty(); ++i) {
    auto const segment = file.get<Elf64_Phdr>(header->e_phoff + i * sizeof(Elf64_Phdr));
    if (segment && segment->p_type == PT_NOTE)
      own_id = build_id_in(file.part(segment->p_offset, segment->p_filesz));
  }
  if (own_id != build_id) return {};
  auto const section = [&](std::uint64_t i) {
    return file.get<Elf64_Shdr>(header->e_shoff + i * sizeof(Elf64_Shdr));
  };
  symbol_search search(addresses);
  for (std::uint64_t i = 0; i < header->e_shnum; ++i) {
    auto const table = section(i);
    if (!table || (table->sh_type != SHT_SYMTAB && table->sh_type != SHT_DYNSYM)) continue;
    auto const texts = section(table->sh_link);
    if (!texts) continue;
    auto const names = file.part(texts->sh_offset, texts->sh_size);
    auto const symbols = file.part(table->sh_offset, table->sh_size);
    for (std::size_t at = 0; symbols.size() - at >= sizeof(Elf64_Sym); at += sizeof(Elf64_Sym)) {
      Elf64_Sym symbol;
      std::memcpy(&symbol, symbols.data() + at, sizeof symbol);
      search.look_at(symbol, names);
    }
  }
  return search.result();
}

}  // namespace gpuprof::host

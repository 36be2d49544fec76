// SPDX-License-Identifier: Apache-2.0
#include "profile/found_program.hpp"

#include "base/process.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <elf.h>
#include <fstream>
#include <sstream>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>
#include <utility>
#include <vector>

namespace gpuprof::host::command {
namespace {

enum class linkage { not_elf, dynamic, fixed, other_width };

/// An ELF file without an interpreter segment is not loaded by the dynamic loader.
linkage linkage_of(std::string const& path) {
  std::ifstream file(path, std::ios::binary);
  Elf64_Ehdr header{};
  file.read(reinterpret_cast<char*>(&header), sizeof header);
  if (!file || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) return linkage::not_elf;
  if (header.e_ident[EI_CLASS] != ELFCLASS64) return linkage::other_width;
  if (header.e_phentsize != sizeof(Elf64_Phdr)) return linkage::not_elf;
  file.seekg(static_cast<std::streamoff>(header.e_phoff));
  for (unsigned i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr segment{};
    file.read(reinterpret_cast<char*>(&segment), sizeof segment);
    if (!file) return linkage::not_elf;
    if (segment.p_type == PT_INTERP) return linkage::dynamic;
  }
  return linkage::fixed;
}

template <class Value>
bool read_at(std::ifstream& file, std::uint64_t place, Value& into) {
  file.seekg(static_cast<std::streamoff>(place));
  file.read(reinterpret_cast<char*>(&into), sizeof into);
  return static_cast<bool>(file);
}

struct elf_parts {
  std::vector<Elf64_Phdr> loaded;
  Elf64_Phdr dynamic{};
  /// Returns the file offset of an address.
  std::uint64_t place_of(std::uint64_t address) const noexcept {
    for (auto const& part : loaded)
      if (address >= part.p_vaddr && address - part.p_vaddr < part.p_filesz)
        return address - part.p_vaddr + part.p_offset;
    return 0;
  }
};

elf_parts parts_of(std::ifstream& file) {
  elf_parts parts;
  Elf64_Ehdr header{};
  if (!read_at(file, 0, header)) return parts;
  for (unsigned i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr part{};
    if (!read_at(file, header.e_phoff + i * sizeof part, part)) return {};
    if (part.p_type == PT_LOAD) parts.loaded.push_back(part);
    if (part.p_type == PT_DYNAMIC) parts.dynamic = part;
  }
  return parts;
}

/// Returns the libraries that a dynamic 64-bit ELF file needs.
std::vector<std::string> needed_libraries(std::string const& path) {
  std::ifstream file(path, std::ios::binary);
  auto const parts = parts_of(file);
  std::vector<std::uint64_t> names;
  std::uint64_t texts = 0;
  constexpr std::uint64_t max_entries = 4096;
  auto const entries = std::min(parts.dynamic.p_filesz / sizeof(Elf64_Dyn), max_entries);
  for (std::uint64_t i = 0; i < entries; ++i) {
    Elf64_Dyn entry{};
    if (!read_at(file, parts.dynamic.p_offset + i * sizeof entry, entry) || entry.d_tag == DT_NULL)
      break;
    if (entry.d_tag == DT_NEEDED) names.push_back(entry.d_un.d_val);
    if (entry.d_tag == DT_STRTAB) texts = parts.place_of(entry.d_un.d_ptr);
  }
  std::vector<std::string> needed;
  for (auto const name : names) {
    std::string text;
    file.clear();
    file.seekg(static_cast<std::streamoff>(texts + name));
    if (texts != 0 && std::getline(file, text, '\0') && text.size() < 256) needed.push_back(text);
  }
  return needed;
}

bool needs_address_sanitizer(std::string const& path) {
  if (linkage_of(path) != linkage::dynamic) return false;
  auto const all = needed_libraries(path);
  return std::any_of(all.begin(), all.end(), [](std::string const& name) {
    return name.starts_with("libasan.so") || name.starts_with("libclang_rt.asan");
  });
}

/// The loader ignores LD_PRELOAD if the file changes the user or the rights of the process.
bool changes_rights(std::string const& path) {
  struct stat info {};
  if (stat(path.c_str(), &info) != 0) return false;
  if ((info.st_mode & S_ISUID) != 0 && info.st_uid != geteuid()) return true;
  if ((info.st_mode & S_ISGID) != 0 && info.st_gid != getegid()) return true;
  return geteuid() != 0 && getxattr(path.c_str(), "security.capability", nullptr, 0) > 0;
}

std::string obstacle(std::string const& path) {
  switch (linkage_of(path)) {
    case linkage::fixed:
      return path +
             " is statically linked, so no library can be loaded into it and nothing will be "
             "recorded. Link it dynamically";
    case linkage::other_width:
      return path + " is a 32-bit program; gpuprof records 64-bit ones. Build it for 64 bits";
    case linkage::not_elf:
      return {};  // a script: its interpreter decides
    case linkage::dynamic:
      break;
  }
  if (!changes_rights(path)) return {};
  return path +
         " runs with another user's rights (set-user-ID or capabilities), so LD_PRELOAD is dropped "
         "and nothing will be recorded. Run a copy without these rights, or link gpuprof into it";
}

bool is_runnable_file(std::string const& path) {
  struct stat info {};
  return stat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode) && access(path.c_str(), X_OK) == 0;
}

no_program not_runnable(std::string const& path) {
  struct stat info {};
  if (stat(path.c_str(), &info) != 0) {
    int const reason = errno;
    if (reason != ENOENT && reason != ENOTDIR) {
      return {126, path + " cannot be executed: " + std::strerror(reason)};
    }
    return {127, path + " does not exist, so there is nothing to profile. Check the path"};
  }
  if (S_ISDIR(info.st_mode)) return {126, path + " is a folder, not a program. Name a file in it"};
  return {126, path + " is not executable. Allow it with chmod +x, or name its interpreter first"};
}

program_file found(std::string path) {
  auto why_not = obstacle(path);
  auto const has_sanitizer = needs_address_sanitizer(path);
  return {std::move(path), std::move(why_not), has_sanitizer};
}

}  // namespace

std::variant<program_file, no_program> find_program(std::string const& name) {
  if (name.find('/') != std::string::npos) {
    if (is_runnable_file(name)) return found(name);
    return not_runnable(name);
  }
  auto const search = environment("PATH");
  std::istringstream folders(search.empty() ? "/usr/local/bin:/usr/bin:/bin" : search);
  std::string blocked;
  for (std::string folder; std::getline(folders, folder, ':');) {
    auto const candidate = (folder.empty() ? "." : folder) + "/" + name;
    if (is_runnable_file(candidate)) return found(candidate);
    if (blocked.empty() && access(candidate.c_str(), F_OK) == 0) blocked = candidate;
  }
  if (!blocked.empty()) return not_runnable(blocked);
  auto line = name + " is not in PATH, so there is nothing to profile.";
  if (access(name.c_str(), X_OK) == 0)
    return no_program{127, line + " Did you mean ./" + name + "?"};
  return no_program{127, line + " Give its whole path"};
}

}  // namespace gpuprof::host::command

// SPDX-License-Identifier: Apache-2.0
#include "guest/stacks/loaded_binaries.hpp"

#include <algorithm>
#include <cstring>
#include <elf.h>
#include <link.h>
#include <unistd.h>

namespace gpuprof::guest {
namespace {

constinit loaded_binaries all_binaries;

char const own_code = 0;  // lies in the library that the profiler is

std::string_view file_name(std::string_view path) noexcept {
  return path.substr(path.rfind('/') + 1);
}

bool is_of_driver_or_profiler(std::string_view path) noexcept {
  auto const name = file_name(path);
  return name.starts_with("libcuda.so") || name.starts_with("libcupti.so") ||
         name.starts_with("libgpuprof.so") || name.starts_with("libgpuprof_preload");
}

bool is_c_library(std::string_view path) noexcept {
  auto const name = file_name(path);
  return name.starts_with("libc.so") || name.starts_with("libc-2.") ||
         name.starts_with("libpthread") || name.starts_with("ld-linux") ||
         name.starts_with("ld-musl");
}

void read_build_id(dl_phdr_info const& library, ElfW(Phdr) const& segment,
                   loaded_binaries::binary& into) noexcept {
  auto const* at = reinterpret_cast<std::uint8_t const*>(library.dlpi_addr + segment.p_vaddr);
  auto left = static_cast<std::size_t>(segment.p_memsz);
  auto const padded = [](std::size_t size) { return (size + 3) & ~std::size_t{3}; };
  while (left >= sizeof(ElfW(Nhdr))) {
    ElfW(Nhdr) note;
    std::memcpy(&note, at, sizeof note);
    auto const name = padded(note.n_namesz), content = padded(note.n_descsz);
    if (left - sizeof note < name || left - sizeof note - name < content) return;
    auto const* const id = at + sizeof note + name;
    if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 &&
        std::memcmp(at + sizeof note, "GNU", 4) == 0) {
      into.build_id_size =
          static_cast<std::uint8_t>(std::min<std::size_t>(note.n_descsz, into.build_id.size()));
      std::memcpy(into.build_id.data(), id, into.build_id_size);
      return;
    }
    at += sizeof note + name + content;
    left -= sizeof note + name + content;
  }
}

loaded_binaries::binary read_binary(dl_phdr_info const& library) noexcept {
  loaded_binaries::binary seen;
  seen.load_address = library.dlpi_addr;
  seen.begin = ~std::uintptr_t{0};
  for (auto const& segment : std::span(library.dlpi_phdr, library.dlpi_phnum)) {
    if (segment.p_type == PT_NOTE && seen.build_id_size == 0) read_build_id(library, segment, seen);
    if (segment.p_type != PT_LOAD) continue;
    seen.begin = std::min<std::uintptr_t>(seen.begin, library.dlpi_addr + segment.p_vaddr);
    seen.end =
        std::max<std::uintptr_t>(seen.end, library.dlpi_addr + segment.p_vaddr + segment.p_memsz);
  }
  if (library.dlpi_name != nullptr) seen.path = library.dlpi_name;
  auto const own = reinterpret_cast<std::uintptr_t>(&own_code);
  auto const is_ours = !seen.path.empty() && own >= seen.begin && own < seen.end;
  seen.is_left_out = is_ours || is_of_driver_or_profiler(seen.path);
  seen.begins_threads = is_c_library(seen.path);
  return seen;
}

bool has_counts(std::size_t size) noexcept {
  return size >= offsetof(dl_phdr_info, dlpi_subs) + sizeof(dl_phdr_info::dlpi_subs);
}

}  // namespace

loaded_binaries& binaries() noexcept {
  return all_binaries;
}

library_counts count_libraries() noexcept {
  library_counts counts;
  dl_iterate_phdr(
      [](dl_phdr_info* first, std::size_t size, void* into) {
        if (has_counts(size))
          *static_cast<library_counts*>(into) = {first->dlpi_adds, first->dlpi_subs};
        return 1;
      },
      &counts);
  return counts;
}

void loaded_binaries::add(binary const& seen) noexcept {
  for (std::size_t i = size_; i-- > 0;) {
    auto& known = all_[i];
    if (known.begin != seen.begin || known.end != seen.end || known.build_id != seen.build_id)
      continue;
    // The executable has no name here, but got one.
    if (!seen.path.empty() && known.path != seen.path) continue;
    known.seen_at = seen.seen_at;
    return;
  }
  auto const room = text_.size() - text_used_;
  if (size_ == all_.size() || room < seen.path.size()) return;
  auto made = seen;
  auto* const text = text_.data() + text_used_;
  std::size_t used = seen.path.size();
  if (seen.path.empty()) {
    auto const read = readlink("/proc/self/exe", text, room);
    used = read > 0 ? static_cast<std::size_t>(read) : 0;
  } else {
    std::memcpy(text, seen.path.data(), used);
  }
  made.path = {text, used};
  text_used_ += used;
  all_[size_++] = made;
}

void loaded_binaries::look_again(library_counts const& now) noexcept {
  if (looks_ != 0 && looked_at_ == now) return;
  looked_at_ = now;
  ++looks_;
  dl_iterate_phdr(
      [](dl_phdr_info* library, std::size_t, void* self) {
        auto& all = *static_cast<loaded_binaries*>(self);
        auto seen = read_binary(*library);
        seen.seen_at = all.looks_;
        if (seen.begin < seen.end) all.add(seen);
        return 0;
      },
      this);
}

std::uint32_t loaded_binaries::number_of(std::uintptr_t address) const noexcept {
  std::size_t found = 0;
  for (std::size_t i = 0; i < size_; ++i) {
    auto const& one = all_[i];
    if (address < one.begin || address >= one.end) continue;
    if (found == 0 || one.seen_at >= all_[found - 1].seen_at) found = i + 1;
  }
  return static_cast<std::uint32_t>(found);
}

bool loaded_binaries::find(std::span<std::uintptr_t const> addresses, std::span<std::uint32_t> into,
                           library_counts const& now) noexcept {
  if (busy_.test_and_set(std::memory_order_acquire)) return false;
  look_again(now);
  for (std::size_t i = 0; i < addresses.size(); ++i) into[i] = number_of(addresses[i]);
  busy_.clear(std::memory_order_release);
  return true;
}

}  // namespace gpuprof::guest

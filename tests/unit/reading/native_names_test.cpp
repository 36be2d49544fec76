// SPDX-License-Identifier: Apache-2.0
#include "host/reading/native_names.hpp"

#include "host/reading/binary_symbols.hpp"
#include "support/catch.hpp"
#include "support/scratch_folder.hpp"

#include <array>
#include <cstring>
#include <elf.h>
#include <fstream>
#include <link.h>

using namespace gpuprof;
using namespace gpuprof::host;

namespace {

/// A file of ELF with one section of symbols: "_ZN3app4stepEv" at 0x1000 of 0x40 bytes, and
/// "_start" at 0x2000 without a size. Its build id is 0102030405060708.
std::string made_binary() {
  std::string file(4096, '\0');
  auto const put = [&](std::size_t at, auto const& value) {
    std::memcpy(file.data() + at, &value, sizeof value);
  };
  Elf64_Ehdr header{};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_phoff = 64;
  header.e_phnum = 1;
  header.e_shoff = 512;
  header.e_shnum = 2;
  put(0, header);
  Elf64_Phdr notes{};
  notes.p_type = PT_NOTE;
  notes.p_offset = 256;
  notes.p_filesz = sizeof(Elf64_Nhdr) + 12;
  put(64, notes);
  put(256, Elf64_Nhdr{4, 8, NT_GNU_BUILD_ID});
  std::memcpy(file.data() + 256 + sizeof(Elf64_Nhdr), "GNU\0\1\2\3\4\5\6\7\10", 12);
  Elf64_Shdr symbols{}, texts{};
  symbols.sh_type = SHT_SYMTAB;
  symbols.sh_offset = 1024;
  symbols.sh_size = 2 * sizeof(Elf64_Sym);
  symbols.sh_link = 1;
  texts.sh_type = SHT_STRTAB;
  texts.sh_offset = 2048;
  texts.sh_size = 64;
  put(512, symbols);
  put(512 + sizeof symbols, texts);
  std::memcpy(file.data() + 2048, "\0_ZN3app4stepEv\0_start", 23);
  put(1024, Elf64_Sym{1, ELF64_ST_INFO(STB_GLOBAL, STT_FUNC), 0, 1, 0x1000, 0x40});
  put(1024 + sizeof(Elf64_Sym),
      Elf64_Sym{16, ELF64_ST_INFO(STB_GLOBAL, STT_FUNC), 0, 1, 0x2000, 0});
  return file;
}

constexpr std::string_view build_id = "0102030405060708";
constexpr std::array<std::uint64_t, 5> asked{0xfff, 0x1000, 0x103f, 0x1040, 0x2010};

std::string written(test::scratch_folder const& folder, std::string const& content) {
  auto const path = folder / "binary";
  std::ofstream(path, std::ios::binary) << content;
  return path;
}

}  // namespace

TEST_CASE("functions are found by address, if the build id is the same") {
  test::scratch_folder const folder;
  auto const path = written(folder, made_binary());
  auto const found = functions_at(path, build_id, asked);
  CHECK(found == std::map<std::uint64_t, std::string>{
                     {0x1000, "_ZN3app4stepEv"}, {0x103f, "_ZN3app4stepEv"}, {0x2010, "_start"}});
  CHECK(functions_at(path, "0102030405060709", asked).empty());
  CHECK(functions_at(path, "", asked).empty());
  CHECK(functions_at(path + "s", build_id, asked).empty());
  CHECK(functions_at("/dev/null", build_id, asked).empty());
  CHECK(functions_at("", build_id, asked).empty());
}

TEST_CASE("a damaged binary has no functions or the wrong ones, and does no harm") {
  test::scratch_folder const folder;
  auto const whole = made_binary();
  std::uint64_t random = 1;
  for (int i = 0; i < 3000; ++i) {
    auto damaged = whole;
    for (int k = 0; k < 4; ++k) {
      random = random * 6364136223846793005u + 1442695040888963407u;
      damaged[(random >> 33) % 2100] = static_cast<char>(random >> 24);
    }
    if (i % 5 == 0) damaged.resize((random >> 40) % damaged.size());
    functions_at(written(folder, damaged), build_id, asked);
  }
  CHECK(functions_at(written(folder, whole), build_id, asked).size() == 3);
}

TEST_CASE("native frames get functions without parameters, and addresses where there are none") {
  test::scratch_folder const folder;
  auto const path = written(folder, made_binary());
  std::vector<stack_record> stacks(6);
  stacks[1] = {.stack = stack_id{1}, .file = name_id{8}, .function = name_id{9}, .line = 3};
  stacks[2] = {.stack = stack_id{2}, .binary = binary_id{1}, .address = 0x1010};
  stacks[3] = {.stack = stack_id{3}, .binary = binary_id{1}, .address = 0x1800};
  stacks[4] = {.stack = stack_id{4}, .binary = binary_id{7}, .address = 0x5};
  stacks[5] = {.stack = stack_id{5}, .address = ~std::uint64_t{0}};
  std::vector<std::string> texts;
  name_native_frames(stacks, {{binary_id{1}, {name_id{4}, path, std::string(build_id)}}},
                     [&](std::string text) {
                       texts.push_back(std::move(text));
                       return static_cast<name_id>(100 + texts.size() - 1);
                     });
  auto const function = [&](std::size_t i) { return texts.at(raw(stacks[i].function) - 100); };
  CHECK(stacks[1].function == name_id{9});
  CHECK(function(2) == "app::step");
  CHECK(stacks[2].file == name_id{4});
  CHECK(function(3) == "binary+0x1800");
  CHECK(function(4) == "0x5");
  CHECK(function(5) == "(callers not known)");
}

// SPDX-License-Identifier: Apache-2.0
#include "host/export/sqlite/database.hpp"

#include <cerrno>
#include <cstring>
#include <vector>

namespace gpuprof::host {
namespace {

// What is given up, safety from a crash of the machine half way, the export has by its temporary
// name. The file is not in WAL mode, so that it can be read where it cannot be written.
constexpr char settings[] =
    "PRAGMA page_size=16384; PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF;"
    "PRAGMA locking_mode=EXCLUSIVE; PRAGMA cache_size=-16384; BEGIN";

// Virtual machine instructions of SQLite between two looks at the interruption.
constexpr int look_interval = 100'000;

/// The names in "id INTEGER PRIMARY KEY, value TEXT".
std::vector<std::string> names_in(std::string_view columns) {
  std::vector<std::string> names;
  while (!columns.empty()) {
    auto const begin = columns.find_first_not_of(' ');
    names.emplace_back(columns.substr(begin, columns.find(' ', begin) - begin));
    auto const comma = columns.find(',');
    columns = comma == std::string_view::npos ? std::string_view{} : columns.substr(comma + 1);
  }
  return names;
}

std::string insertion_into(sqlite_table const& table, bool numbered) {
  std::string names = numbered ? "rowid" : "", places = numbered ? "?" : "";
  for (auto const& name : names_in(table.columns)) {
    names += (names.empty() ? "" : ", ") + name;
    places += places.empty() ? "?" : ",?";
  }
  return "INSERT INTO " + std::string(table.name) + "(" + names + ") VALUES(" + places + ")";
}

}  // namespace

database::database(std::string const& path) {
  auto const status =
      sqlite3_open_v2(path.c_str(), &handle_, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, nullptr);
  // The destructor of what has not been made is not called.
  std::unique_ptr<sqlite3, decltype(&sqlite3_close_v2)> opened(handle_, sqlite3_close_v2);
  if (status != SQLITE_OK) fail();
  run(settings);
  static_cast<void>(opened.release());
}

database::~database() {
  sqlite3_close_v2(handle_);
}

void database::run(std::string const& statement) {
  if (sqlite3_exec(handle_, statement.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK) fail();
}

void database::interrupt_when(bool (*asked)() noexcept) {
  sqlite3_progress_handler(
      handle_, look_interval,
      [](void* question) { return reinterpret_cast<bool (*)() noexcept>(question)() ? 1 : 0; },
      reinterpret_cast<void*>(asked));
}

void database::fail() const {
  if (handle_ == nullptr) throw sqlite_failure{"out of memory"};
  auto const code = sqlite3_errcode(handle_);
  // SQLite says "disk I/O error"; the system knows what it is.
  auto const system = code == SQLITE_IOERR ? sqlite3_system_errno(handle_) : 0;
  throw sqlite_failure{code == SQLITE_FULL ? std::strerror(ENOSPC)
                       : system != 0       ? std::strerror(system)
                                           : sqlite3_errmsg(handle_)};
}

insertion::insertion(database& into, sqlite_table const& table, bool numbered) : into_(&into) {
  auto const text = insertion_into(table, numbered);
  sqlite3_stmt* made = nullptr;
  check(sqlite3_prepare_v3(into.handle(), text.c_str(), static_cast<int>(text.size()),
                           SQLITE_PREPARE_PERSISTENT, &made, nullptr));
  made_.reset(made);
}

void insertion::bind(int place, std::string_view text) {
  auto const* const bytes = text.data() == nullptr ? "" : text.data();  // null would be NULL
  if (std::memchr(bytes, 0, text.size()) == nullptr) {
    check(sqlite3_bind_text64(made_.get(), place, bytes, text.size(), SQLITE_STATIC, SQLITE_UTF8));
    return;
  }
  std::string without;
  for (char const c : text) c == '\0' ? without += "\xef\xbf\xbd" : without += c;
  check(sqlite3_bind_text64(made_.get(), place, without.data(), without.size(), SQLITE_TRANSIENT,
                            SQLITE_UTF8));
}

void insertion::add() {
  auto const status = sqlite3_step(made_.get());
  if (status != SQLITE_DONE) into_->fail();
  check(sqlite3_reset(made_.get()));
  ++rows_;
}

}  // namespace gpuprof::host

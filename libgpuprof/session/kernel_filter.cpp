#include "session/kernel_filter.hpp"

#include "analyse/kernel_name.hpp"

#include <cstring>
#include <optional>
#include <regex>
#include <string>

namespace gpuprof {

struct kernel_filter::pattern {
  std::string text;
  std::optional<std::regex> expression;

  bool matches(std::string const& name) const {
    return expression ? std::regex_search(name, *expression) : name == text;
  }
};

kernel_filter::kernel_filter(settings const& wishes)
    : skip_(wishes.launch_skip), count_(wishes.launch_count) {}
kernel_filter::~kernel_filter() = default;

result<std::unique_ptr<kernel_filter>> kernel_filter::make(settings const& wishes) {
  std::unique_ptr<kernel_filter> filter(new kernel_filter(wishes));
  for (auto const& wanted : wishes.kernel_names) {
    pattern p{wanted.text, {}};
    try {
      if (wanted.is_regex)
        p.expression.emplace(wanted.text, std::regex::ECMAScript | std::regex::optimize);
    } catch (std::regex_error const& e) {
      return error{"--kernel-name regex:" + wanted.text + " is not a regular expression (" +
                   e.what() + "): all kernels are traced"};
    }
    filter->patterns_.push_back(std::move(p));
  }
  return filter;
}

bool kernel_filter::name_matches(std::string_view mangled) const {
  if (patterns_.empty()) return true;
  std::string const names[] = {std::string(mangled),
                               kernel_display_name(mangled, kernel_name_style::demangled),
                               kernel_display_name(mangled, kernel_name_style::base)};
  for (auto const& p : patterns_) {
    for (auto const& name : names) {
      if (p.matches(name)) return true;
    }
  }
  return false;
}

bool kernel_filter::selects_launch(char const* mangled) noexcept {
  if (mangled == nullptr) return true;
  if (!patterns_.empty()) {
    // CUPTI gives the same pointer for the same function; the first bytes guard against an address
    // used again.
    struct answer {
      char const* pointer = nullptr;
      std::uint64_t start = 0;
      bool yes = false;
    };
    static thread_local answer answers[256];
    std::uint64_t start = 0;
    std::memcpy(&start, mangled, strnlen(mangled, sizeof start));
    auto& a = answers[(reinterpret_cast<std::uintptr_t>(mangled) >> 3) % 256];
    if (a.pointer != mangled || a.start != start) {
      try {
        a = {mangled, start, name_matches(mangled)};
      } catch (...) {
        return true;  // no memory: better a kernel too many
      }
    }
    if (!a.yes) return false;
  }
  auto const place = matching_.fetch_add(1, std::memory_order_relaxed);
  return place >= skip_ && (count_ == 0 || place < skip_ + count_);
}

}  // namespace gpuprof

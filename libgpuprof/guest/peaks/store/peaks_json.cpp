// SPDX-License-Identifier: Apache-2.0
#include "guest/peaks/store/peaks_json.hpp"

#include <nlohmann/json.hpp>

#include <array>
#include <cmath>
#include <limits>
#include <utility>

namespace gpuprof::guest::peaks {
namespace {

constexpr std::uint64_t newest_format = 1;

template <class Value>
using words = std::array<std::pair<Value, std::string_view>, 3>;

constexpr words<peak_outcome> outcomes{{{peak_outcome::measured, "measured"},
                                        {peak_outcome::failed, "failed"},
                                        {peak_outcome::unavailable, "unavailable"}}};
constexpr words<peak_effort> efforts{{{peak_effort::quick, "quick"},
                                      {peak_effort::standard, "standard"},
                                      {peak_effort::sustained, "sustained"}}};
constexpr auto const& words_for(peak_outcome) {
  return outcomes;
}
constexpr auto const& words_for(peak_effort) {
  return efforts;
}

// The format, defined once for writer and reader. `visit(name, field)` handles optional fields,
// `visit.needs(name, field)` required ones. Value is const for the writer.

template <class Visitor, class Value>
void each_field(Visitor& visit,
                Value& v) requires std::is_same_v<std::remove_const_t<Value>, peak_figure> {
  visit.needs("value", v.value);
  visit("spread", v.spread);
  visit.needs("samples", v.samples);
  visit("sm_clock_mhz", v.chip.sm_clock_mhz);
  visit("memory_clock_mhz", v.chip.memory_clock_mhz);
  visit("watts", v.chip.watts);
  visit("temperature_c", v.chip.temperature_c);
  visit("limiters", v.chip.limiters);
}

template <class Visitor, class Value>
void each_field(Visitor& visit,
                Value& v) requires std::is_same_v<std::remove_const_t<Value>, peak_result> {
  visit.needs("test", v.test);
  visit("group", v.group);
  visit("title", v.title);
  visit.needs("unit", v.unit);
  visit.needs("outcome", v.outcome);
  visit("effort", v.effort);
  visit("measured_at", v.measured_at);
  visit("remark", v.remark);
  visit("method", v.method);
  visit("operands", v.operands);
  visit("buffer_bytes", v.buffer_bytes);
  visit("clock", v.clock);
  visit("per_clock", v.per_clock);
  visit("per_clock_theory", v.per_clock_theory);
  visit("burst", v.burst);
  visit("sustained", v.sustained);
  visit("theory", v.theory);
  visit("theory_formula", v.theory_formula);
}

template <class Visitor, class Value>
void each_field(Visitor& visit,
                Value& v) requires std::is_same_v<std::remove_const_t<Value>, peaks_key> {
  visit.needs("uuid", v.uuid);
  visit("driver_version", v.driver_version);
  visit("kernels", v.kernels);
  visit("power_limit_w", v.power_limit_w);
  visit("max_sm_clock_mhz", v.max_sm_clock_mhz);
  visit("max_memory_clock_mhz", v.max_memory_clock_mhz);
  visit("application_sm_clock_mhz", v.application_sm_clock_mhz);
  visit("ecc", v.ecc);
  visit("sm_count", v.sm_count);
  visit("memory_bytes", v.memory_bytes);
}

template <class Visitor, class Value>
void each_field(Visitor& visit,
                Value& v) requires std::is_same_v<std::remove_const_t<Value>, gpu_peaks> {
  visit("name", v.name);
  visit("compute_major", v.compute_major);
  visit("compute_minor", v.compute_minor);
  visit("pci_bus", v.pci_bus);
  visit("measured_at", v.measured_at);
  visit("seconds", v.seconds);
  visit.needs("key", v.key);
  visit("remarks", v.remarks);
  visit.needs("results", v.results);
}

class writer {
 public:
  explicit writer(nlohmann::ordered_json& to) : to_(to) {}

  template <class Value>
  void needs(char const* name, Value const& value) {
    to_[name] = shown(value);
  }
  template <class Value>
  void operator()(char const* name, Value const& value) {
    if (is_there(value)) needs(name, value);
  }

 private:
  static bool is_there(double value) { return value != 0 && std::isfinite(value); }
  static bool is_there(bool) { return true; }
  template <std::integral Value>
  static bool is_there(Value value) {
    return value != 0;
  }
  static bool is_there(std::string const& text) { return !text.empty(); }
  static bool is_there(std::vector<std::string> const& lines) { return !lines.empty(); }
  static bool is_there(peak_figure const& figure) {
    return figure.is_there() && std::isfinite(figure.value);
  }
  template <class Word>
  static bool is_there(Word) requires std::is_enum_v<Word> {
    return true;
  }

  template <class Value>
  static nlohmann::ordered_json shown(Value const& value) {
    if constexpr (std::is_enum_v<Value>) {
      for (auto const& [known, word] : words_for(value))
        if (known == value) return word;
      return "";
    } else if constexpr (requires(writer & w) { each_field(w, value); }) {
      nlohmann::ordered_json made = nlohmann::ordered_json::object();
      writer inner(made);
      each_field(inner, value);
      return made;
    } else {
      return value;
    }
  }
  static nlohmann::ordered_json shown(std::vector<peak_result> const& results) {
    nlohmann::ordered_json made = nlohmann::ordered_json::array();
    for (auto const& result : results) made.push_back(shown(result));
    return made;
  }

  nlohmann::ordered_json& to_;
};

/// Used only inside this file. Describes the first error and its position.
struct wrong_field {
  std::string message;
};

class reader {
 public:
  reader(nlohmann::json const& from, std::string place) : from_(from), place_(std::move(place)) {
    if (!from_.is_object()) refuse(place_, "is no object");
  }

  template <class Value>
  void needs(char const* name, Value& value) {
    auto const found = from_.find(name);
    if (found == from_.end()) refuse(place_of(name), "is missing");
    read(*found, place_of(name), value);
  }
  template <class Value>
  void operator()(char const* name, Value& value) {
    auto const found = from_.find(name);
    if (found != from_.end()) read(*found, place_of(name), value);
  }

  [[noreturn]] static void refuse(std::string const& place, char const* what) {
    throw wrong_field{"cannot be used: " + (place.empty() ? "it" : place) + " " + what};
  }

  template <class Value>
  static void read(nlohmann::json const& from, std::string const& place, Value& value) {
    if constexpr (std::is_enum_v<Value>) {
      std::string word;
      read(from, place, word);
      for (auto const& [known, its_word] : words_for(value))
        if (its_word == word) return void(value = known);
      refuse(place, "is no word known here");
    } else {
      reader inner(from, place);
      each_field(inner, value);
    }
  }
  static void read(nlohmann::json const& from, std::string const& place, double& value) {
    if (!from.is_number()) refuse(place, "is no number");
    value = from.get<double>();
    if (value < 0) refuse(place, "is negative");
  }
  static void read(nlohmann::json const& from, std::string const& place, bool& value) {
    if (!from.is_boolean()) refuse(place, "is neither true nor false");
    value = from.get<bool>();
  }
  template <std::integral Value>
  static void read(nlohmann::json const& from, std::string const& place, Value& value) {
    if (!from.is_number_unsigned()) refuse(place, "is no whole number");
    auto const number = from.get<std::uint64_t>();
    if (number > static_cast<std::uint64_t>(std::numeric_limits<Value>::max()))
      refuse(place, "is too large");
    value = static_cast<Value>(number);
  }
  static void read(nlohmann::json const& from, std::string const& place, std::string& value) {
    if (!from.is_string()) refuse(place, "is no text");
    value = from.get<std::string>();
  }
  template <class Value>
  static void read(nlohmann::json const& from, std::string const& place,
                   std::vector<Value>& values) {
    if (!from.is_array()) refuse(place, "is no list");
    for (auto const& element : from) {
      auto const number = "[" + std::to_string(values.size()) + "]";
      read(element, place + number, values.emplace_back());
    }
  }

 private:
  std::string place_of(char const* name) const {
    return place_.empty() ? name : place_ + "." + name;
  }

  nlohmann::json const& from_;
  std::string const place_;
};

std::vector<gpu_peaks> read_document(nlohmann::json const& document) {
  reader fields(document, "");
  std::uint64_t format = 0;
  fields.needs("format", format);
  if (format == 0 || format > newest_format)
    throw wrong_field{"has format " + std::to_string(format) + ", and this gpuprof reads format " +
                      std::to_string(newest_format)};
  std::vector<gpu_peaks> gpus;
  fields.needs("gpus", gpus);
  return gpus;
}

}  // namespace

std::string to_json(std::span<gpu_peaks const> gpus) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (auto const& gpu : gpus) {
    auto& made = list.emplace_back(nlohmann::ordered_json::object());
    writer fields(made);
    each_field(fields, gpu);
  }
  nlohmann::ordered_json const document{{"format", newest_format}, {"gpus", std::move(list)}};
  // Names and paths can contain any bytes.
  return document.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

result<std::vector<gpu_peaks>> from_json(std::string_view text) {
  try {
    return read_document(nlohmann::json::parse(text));
  } catch (wrong_field const& wrong) {
    return error{wrong.message};
  } catch (nlohmann::json::parse_error const& wrong) {
    if (text.empty()) return error{"is empty"};
    if (wrong.byte > text.size())
      return error{"ends too early, after " + std::to_string(text.size()) + " bytes"};
    return error{"is no valid JSON from byte " + std::to_string(wrong.byte) + " on"};
  } catch (std::exception const& failure) {  // a number outside of double, or out of memory
    return error{std::string("cannot be used: ") + failure.what()};
  }
}

}  // namespace gpuprof::guest::peaks

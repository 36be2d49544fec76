// SPDX-License-Identifier: Apache-2.0
// A sweep as one JSON object.
#include "host/report/json_object.hpp"
#include "host/report/sweep_report.hpp"

namespace gpuprof::host::report {
namespace {

/// Writes null if the text is not known.
void text_or_null(json_object& o, std::string_view key, std::string_view text) {
  o.member(key, [&](std::string& to) {
    if (text.empty())
      to += "null";
    else
      append_json_text(to, text);
  });
}

void append_point(std::string& out, sweep_point const& p) {
  json_object o(out);
  o.text("label", p.label);
  o.number("size", p.size);
  o.whole("captures", p.captures);
  o.whole("calls", p.calls);
  o.number("time_per_call_ns", p.time_per_call);
  o.number("flops", p.flops);
  text_or_null(o, "flop_source", name_of(p.flops_from));
  o.number("dram_bytes_per_second", p.bytes);
  text_or_null(o, "byte_source", name_of(p.bytes_from));
  o.number("of_roof", p.of_roof);
  text_or_null(o, "bound_by", name_of(p.bound));
  o.number("time_spread", spread_of(p.times_per_call, p.time_per_call));
  o.number("flops_spread", spread_of(p.all_flops, p.flops));
  o.number("dram_bytes_spread", spread_of(p.all_bytes, p.bytes));
  o.end();
}

template <class Items, class Append>
void append_list(std::string& out, Items const& items, Append append) {
  out += '[';
  bool first = true;
  for (auto const& item : items) {
    out += first ? "" : ", ";
    first = false;
    append(out, item);
  }
  out += ']';
}

void append_label(std::string& out, sweep const& of, std::optional<std::size_t> point) {
  if (point)
    append_json_text(out, of.points[*point].label);
  else
    out += "null";
}

void append_plateau(std::string& out, sweep const& of) {
  auto const& found = of.found;
  if (!found.plateau) {
    out += "null";
    return;
  }
  json_object o(out);
  o.text("of", found.judged == sweep_figure::bytes ? "dram_bytes_per_second" : "flops");
  o.number("value", found.plateau->value);
  o.number("greatest", found.plateau->greatest);
  o.member("fastest", [&](std::string& to) { append_label(to, of, found.plateau->fastest); });
  o.member("labels", [&](std::string& to) {
    append_list(to, found.plateau->points,
                [&](std::string& into, std::size_t point) { append_label(into, of, point); });
  });
  o.number("of_roof", found.plateau->of_roof);
  o.number("width", plateau_width);
  o.end();
}

void append_turn(std::string& out, sweep const& of, sweep_findings::turn const& turn) {
  json_object o(out);
  o.member("from", [&](std::string& to) { append_label(to, of, turn.from); });
  o.member("to", [&](std::string& to) { append_label(to, of, turn.to); });
  o.text("turns", turn.to_compute ? "memory to compute" : "compute to memory");
  o.end();
}

template <class Roof>
void append_roof(std::string& out, Roof const& roof, std::string_view unit) {
  json_object o(out);
  o.text("name", roof.name);
  o.text("unit", unit);
  o.number("burst", roof.measured);
  o.number("theory", roof.theory);
  o.end();
}

void append_roofs(std::string& out, roofline_roofs const& roofs) {
  out += '[';
  auto const separate = [&] {
    if (out.back() != '[') out += ", ";
  };
  for (auto const& roof : roofs.compute) {
    separate();
    append_roof(out, roof, "FLOP/s");
  }
  for (auto const& roof : roofs.memory)
    if (roof.measured || roof.theory) {
      separate();
      append_roof(out, roof, "B/s");
    }
  out += ']';
}

}  // namespace

void write_sweep_json(sweep const& of, text::text_sink const& out) {
  std::string text;
  json_object o(text);
  o.text("over", of.facts.over);
  o.text("subject", of.facts.subject);
  o.text("calls_are", of.facts.calls);
  text_or_null(o, "program", of.facts.program);
  text_or_null(o, "device", of.facts.device);
  o.member("notes", [&](std::string& to) { append_json_texts(to, of.facts.notes); });
  o.member("findings", [&](std::string& to) { append_json_texts(to, findings_in_words(of)); });
  o.member("has_sizes", [&](std::string& to) { to += of.found.is_ordered ? "true" : "false"; });
  o.member("plateau", [&](std::string& to) { append_plateau(to, of); });
  o.member("reached", [&](std::string& to) { append_label(to, of, of.found.reached); });
  o.member("leaves_roof", [&](std::string& to) { append_label(to, of, of.found.leaves_roof); });
  o.member("still_rises", [&](std::string& to) { to += of.found.still_rises ? "true" : "false"; });
  o.member("turns", [&](std::string& to) {
    append_list(to, of.found.turns,
                [&](std::string& into, auto const& turn) { append_turn(into, of, turn); });
  });
  o.member("roofs", [&](std::string& to) { append_roofs(to, of.facts.roofs); });
  o.member("points", [&](std::string& to) {
    to += "\n ";
    append_list(to, of.points, [](std::string& into, sweep_point const& point) {
      into += "\n  ";
      append_point(into, point);
    });
  });
  o.end();
  out(text + "\n");
}

}  // namespace gpuprof::host::report

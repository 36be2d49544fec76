// SPDX-License-Identifier: Apache-2.0
// The answer of a replay as one JSON object. All times are nanoseconds of a step.
#include "host/report/critical_path_table.hpp"
#include "host/report/json_object.hpp"
#include "host/report/whatif_report.hpp"

namespace gpuprof::host::report {
namespace {

void append_sensitivity(std::string& out, replay::sensitivity const& of) {
  constexpr std::string_view kinds[] = {"kind", "gpu_work", "call", "range", "rank"};
  json_object o(out);
  o.text("name", of.name);
  o.text("kind", kinds[static_cast<std::size_t>(of.kind)]);
  o.number("count", of.count);
  o.number("time_ns", of.time_ns);
  o.number("shorter_with_tenth_less_ns", of.tenth_ns);
  o.number("shorter_without_ns", of.all_ns);
  o.end();
}

void append_forecast(std::string& out, whatif_report const& of) {
  json_object o(out);
  o.member("with", [&](std::string& to) { append_json_texts(to, of.repairs); });
  o.number("least_step_ns", of.forecast->low_ns);
  o.number("greatest_step_ns", of.forecast->high_ns);
  o.number("least_gain_ns", of.forecast->least_gain_ns());
  o.number("greatest_gain_ns", of.forecast->greatest_gain_ns());
  o.member("then_held_by", [&](std::string& to) { append_path_json(to, of.forecast->then); });
  o.end();
}

}  // namespace

void write_whatif_json(whatif_report const& of, text::text_sink const& out) {
  std::string text;
  json_object o(text);
  o.text("step", of.step);
  o.whole("steps", of.steps);
  o.whole("all_steps", of.all_steps);
  o.number("recorded_step_ns", of.recorded_ns);
  o.number("replayed_step_ns", of.replayed_ns);
  o.number("checked_step_ns", of.checked_ns);
  o.member("held_by", [&](std::string& to) { append_path_json(to, of.path); });
  o.member("critical_path", [&](std::string& to) { append_paths_json(to, of.step, of.paths); });
  o.member("remarks", [&](std::string& to) { append_json_texts(to, of.remarks); });
  if (of.forecast) o.member("forecast", [&](std::string& to) { append_forecast(to, of); });
  if (of.sensitivities) {
    o.number("sum_of_kinds", of.sensitivities->sum_of_kinds());
    o.member("kinds", [&](std::string& to) {
      append_json_array(to, of.sensitivities->kinds, append_sensitivity);
    });
    if (!of.sensitivities->ranks.empty())
      o.member("ranks", [&](std::string& to) {
        append_json_array(to, of.sensitivities->ranks, append_sensitivity);
      });
    o.member("sensitivities", [&](std::string& to) {
      append_json_array(to, of.sensitivities->subjects, append_sensitivity);
    });
  }
  o.end();
  out(text + "\n");
}

}  // namespace gpuprof::host::report

// SPDX-License-Identifier: Apache-2.0
// Sessions survive the way through a file, damaged ones are refused, and the record table is right.
#include "replay/format/record_fields.hpp"
#include "replay/format/recording_file.hpp"
#include "replay/format/synthetic_session.hpp"
#include "support/catch.hpp"

using namespace gpuprof::replay;

TEST_CASE("a session comes back from its file as it was") {
  auto const was = make_synthetic_session({.threads = 3, .launches_per_thread = 50});
  auto const is = decode(encode(was));
  REQUIRE(is);
  CHECK(is->facts == was.facts);
  CHECK(is->strings == was.strings);
  CHECK(is->threads.size() == was.threads.size());
  CHECK(is->records.bytes == was.records.bytes);
  CHECK(is->records.sizes == was.records.sizes);
  REQUIRE(is->events.size() == was.events.size());
  for (std::size_t i = 0; i < was.events.size(); ++i) {
    CHECK(is->events[i].time == was.events[i].time);
    CHECK(is->events[i].code == was.events[i].code);
    CHECK(is->events[i].correlation == was.events[i].correlation);
    CHECK(is->events[i].payload_bits == was.events[i].payload_bits);
  }
}

TEST_CASE("a session of 2000 launches takes less than 200 KiB") {
  CHECK(encode(make_synthetic_session({.launches_per_thread = 2000})).size() < 200 * 1024);
}

TEST_CASE("negative results and the largest numbers survive") {
  recording was;
  was.threads.push_back({1, 0});
  event e;
  e.time = ~std::uint64_t{0};
  e.result = -1;
  e.payload_bits = ~std::uint64_t{0};
  e.color = 0xffffffff;
  was.events = {e, event{}, e};
  auto const is = decode(encode(was));
  REQUIRE(is);
  for (auto const i : {0, 2}) {
    CHECK(is->events[static_cast<std::size_t>(i)].time == e.time);
    CHECK(is->events[static_cast<std::size_t>(i)].result == -1);
    CHECK(is->events[static_cast<std::size_t>(i)].payload_bits == e.payload_bits);
    CHECK(is->events[static_cast<std::size_t>(i)].color == e.color);
  }
}

TEST_CASE("a session cut anywhere is refused") {
  auto const whole = encode(make_synthetic_session({}));
  for (std::size_t length = 0; length < whole.size(); ++length) {
    CHECK_FALSE(decode(std::span(whole).first(length)));
  }
}

TEST_CASE("a session with a changed bit is refused or reads as before") {
  auto const whole = encode(make_synthetic_session({}));
  auto const records = decode(whole)->records.bytes;
  for (std::size_t i = 0; i < whole.size() * 8; i += 3) {
    auto damaged = whole;
    damaged[i / 8] ^= std::byte(1u << (i % 8));
    if (auto const r = decode(damaged)) CHECK(r->records.bytes == records);
  }
}

TEST_CASE("the error says why a session cannot be read") {
  CHECK(read_recording("/nowhere/at/all").message() == "session /nowhere/at/all cannot be opened");
  std::vector<std::byte> const text(64, std::byte('x'));
  CHECK(decode(text).message().find("not a recorded session") != std::string::npos);
}

TEST_CASE("the record table knows the fields of each kind") {
  CUpti_ActivityKernel10 k{};
  k.kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
  k.start = 11;
  k.end = 12;
  k.correlationId = 13;
  k.streamId = 14;
  auto const* const fields = fields_of(kind_of_record(&k));
  REQUIRE(fields != nullptr);
  CHECK(get_field<std::uint64_t>(&k, fields->start) == 11);
  CHECK(get_field<std::uint64_t>(&k, fields->end) == 12);
  CHECK(get_field<std::uint32_t>(&k, fields->correlation) == 13);
  CHECK(get_field<std::uint32_t>(&k, fields->stream) == 14);
  CHECK(record_size(*fields, 130001) == sizeof(CUpti_ActivityKernel10));
  CHECK(record_size(*fields, 24) == sizeof(CUpti_ActivityKernel9));
  CHECK(fields_of(CUPTI_ACTIVITY_KIND_MARKER) == nullptr);
}

// SPDX-License-Identifier: Apache-2.0
#include "base/last_message.hpp"

#include "support/catch.hpp"

#include <cerrno>
#include <condition_variable>
#include <mutex>
#include <string>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

using namespace gpuprof;

TEST_CASE("the last message is empty at first and after it is cleared") {
  std::thread([] {
    CHECK(std::string(last_message()).empty());
    keep_message("first");
    CHECK(std::string(last_message()) == "first");
    keep_fixed_message("second");
    CHECK(std::string(last_message()) == "second");
    keep_fixed_message("");
    CHECK(std::string(last_message()).empty());
  }).join();
}

TEST_CASE("each thread has its own last message") {
  keep_message("of the main thread");
  std::thread([] { keep_message("of another"); }).join();
  CHECK(std::string(last_message()) == "of the main thread");
}

TEST_CASE("a long message is cut between two characters, and errno stays") {
  std::string text(max_message_bytes - 1, 'x');
  text += "\xc3\xa9 and more";
  errno = 7;
  keep_message(text);
  CHECK(errno == 7);
  CHECK(last_message() == std::string(max_message_bytes - 1, 'x'));
}

TEST_CASE("threads that have ended free their places") {
  std::string last;
  for (int i = 0; i < 200; ++i)
    std::thread([&, i] {
      keep_message("message " + std::to_string(i));
      last = last_message();
    }).join();
  CHECK(last == "message 199");
}

TEST_CASE("if more threads run than there are places, the message points to stderr") {
  std::mutex mutex;
  std::condition_variable changed;
  int kept = 0;
  bool over = false;
  std::vector<std::string> messages;
  std::vector<std::thread> threads;
  for (int i = 0; i < 80; ++i)
    threads.emplace_back([&] {
      keep_message("own");
      std::unique_lock lock(mutex);
      messages.emplace_back(last_message());
      ++kept;
      changed.notify_all();
      changed.wait(lock, [&] { return over; });
    });
  {
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return kept == 80; });
    over = true;
  }
  changed.notify_all();
  for (auto& thread : threads) thread.join();
  int own = 0, others = 0;
  for (auto const& message : messages) {
    own += message == "own";
    others += message == "the reason is in the lines of [gpuprof] on stderr";
  }
  CHECK(own + others == 80);
  CHECK(others >= 16);
}

TEST_CASE("a forked child has its own messages") {
  keep_message("of the parent");
  auto const child = fork();
  if (child == 0) {
    auto const inherited = std::string(last_message()) == "of the parent";
    keep_message("of the child");
    _exit(inherited && std::string(last_message()) == "of the child" ? 0 : 1);
  }
  int status = -1;
  waitpid(child, &status, 0);
  CHECK(status == 0);
  CHECK(std::string(last_message()) == "of the parent");
}

#include "output_file.hpp"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>
#include <utility>

namespace gpuprof {

result<output_file> output_file::open(std::string name, bool overwrite) {
  file opened(nullptr, std::fclose);
  if (name == "-") return output_file("to standard output", std::move(opened));
  auto const flags = O_WRONLY | O_CREAT | O_CLOEXEC | (overwrite ? O_TRUNC : O_EXCL);
  auto const descriptor = ::open(name.c_str(), flags, 0666);
  if (descriptor < 0 && errno == EEXIST)
    return error{name +
                 " exists already, nothing is written; use --force-overwrite or another name for "
                 "--output"};
  if (descriptor >= 0) opened.reset(fdopen(descriptor, "w"));
  if (opened == nullptr)
    return error{"cannot write " + name + ": " + std::strerror(errno) +
                 "; choose another place with --output"};
  return output_file(std::move(name), std::move(opened));
}

result<void> output_file::finish() const {
  if (std::fflush(stream()) != 0 || std::ferror(stream()) != 0)
    return error{"writing " + name_ + " failed: " + std::strerror(errno) + "; it is incomplete"};
  if (!is_standard_output()) std::fprintf(stderr, "gpuprof: wrote %s\n", name_.c_str());
  return {};
}

}  // namespace gpuprof

// Machine code that tests compile from kernels' sources, and the bytes of its arguments.
#ifndef KILN_TESTS_AMDGCN_COMPILEDKERNEL_H
#define KILN_TESTS_AMDGCN_COMPILEDKERNEL_H

#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <gtest/gtest.h>
#include <iterator>
#include <map>
#include <string>
#include <vector>

namespace kiln::amdgcn {

/// The HSACO that `kiln compile` makes with these options for the processor, compiled once.
inline const std::string &compiledKernel(const std::string &options, const std::string &processor) {
  static std::map<std::string, std::string> images;
  std::string &bytes = images[options + processor];
  if (!bytes.empty())
    return bytes;
  std::string path = testing::TempDir() + processor + ".hsaco";
  std::string command =
      "./kiln compile " + options + " --target=hip:" + processor + " --emit=hsaco -o " + path;
  EXPECT_EQ(std::system(command.c_str()), 0) << command;
  std::ifstream file(path, std::ios::binary);
  bytes.assign(std::istreambuf_iterator<char>(file), {});
  return bytes;
}

template <typename T> void putArgument(std::vector<uint8_t> &bytes, T value) {
  const auto *first = reinterpret_cast<const uint8_t *>(&value);
  bytes.insert(bytes.end(), first, first + sizeof value);
}

} // namespace kiln::amdgcn

#endif // KILN_TESTS_AMDGCN_COMPILEDKERNEL_H

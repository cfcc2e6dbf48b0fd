#include "tests/compiler/Syntax/GoldenFile.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace kiln {

std::string readFile(const std::string &path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

std::vector<GoldenInput> listGoldenInputs() {
  std::vector<GoldenInput> inputs;
  for (const auto &entry : std::filesystem::directory_iterator(goldenFolder))
    if (entry.path().extension() == ".py")
      inputs.push_back({entry.path().stem().string(), readFile(entry.path().string())});
  std::sort(inputs.begin(), inputs.end(),
            [](const GoldenInput &a, const GoldenInput &b) { return a.name < b.name; });
  return inputs;
}

} // namespace kiln

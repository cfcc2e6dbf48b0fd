// Names that generated C cannot have, against what a C compiler says of its own headers.

#include "codegen/CNames.h"
#include <array>
#include <cstdio>
#include <gtest/gtest.h>

using namespace kiln;

namespace {

/// All headers of C11.
constexpr const char *headers[] = {
    "assert",  "complex", "ctype",  "errno",  "fenv",   "float",       "inttypes", "iso646",
    "limits",  "locale",  "math",   "setjmp", "signal", "stdalign",    "stdarg",   "stdatomic",
    "stdbool", "stddef",  "stdint", "stdio",  "stdlib", "stdnoreturn", "string",   "tgmath",
    "threads", "time",    "uchar",  "wchar",  "wctype"};

/// The names that the headers define as macros, but for those that no program may use.
std::vector<std::string> macrosOfHeaders() {
  std::string command = "for h in";
  for (const char *header : headers)
    command += std::string(" ") + header;
  command += "; do echo \"#include <$h.h>\"; done | gcc -std=c11 -dM -E -x c -";
  FILE *list = popen(command.c_str(), "r");
  std::vector<std::string> names;
  std::array<char, 65536> line;
  while (list && fgets(line.data(), line.size(), list)) {
    std::array<char, 1024> name = {};
    if (sscanf(line.data(), "#define %1023[A-Za-z0-9_]", name.data()) == 1 && name[0] != '_')
      names.emplace_back(name.data());
  }
  EXPECT_TRUE(list && pclose(list) == 0);
  return names;
}

TEST(CNames, MacrosOfCsHeadersAreReserved) {
  std::vector<std::string> macros = macrosOfHeaders();
  EXPECT_GT(macros.size(), 500u);
  for (const std::string &name : macros) {
    EXPECT_NE(reservedBecause(name), "") << name;
    EXPECT_NE(parameterCName(name), name);
  }
}

TEST(CNames, OtherNamesAreNot) {
  for (const char *name : {"scale", "E", "EPS", "SIGMOID", "PRIOR", "INT8_gemm", "FP8", "MAX",
                           "min", "log_softmax", "N"}) {
    EXPECT_EQ(reservedBecause(name), "") << name;
    EXPECT_EQ(parameterCName(name), name);
  }
}

TEST(CNames, FunctionsOfCsLibraryAreNoEntryPoints) {
  for (const char *name : {"expf", "qsort", "rand", "div", "signal", "remove", "memcpy"}) {
    EXPECT_EQ(reservedBecause(name), "a function of C's library") << name;
    EXPECT_EQ(parameterCName(name), name) << "a parameter hides it";
  }
}

TEST(CNames, ArgumentsHideNothingThatGeneratedFunctionsUse) {
  EXPECT_EQ(parameterCName("ceil_div"), "ceil_div_");
  EXPECT_EQ(parameterCName("from_u64"), "from_u64_");
  EXPECT_EQ(parameterCName("kiln_status"), "arg_kiln_status");
  EXPECT_EQ(parameterCName("KILN_SUCCESS"), "arg_KILN_SUCCESS");
}

TEST(CNames, SaysWhatAMacroIs) {
  for (const char *name : {"stdin", "assert", "EOF", "INT_MAX", "PRId64", "FLT_EPSILON", "I"})
    EXPECT_EQ(reservedBecause(name), "a macro of C's headers") << name;
  EXPECT_NE(reservedBecause("NDEBUG"), "");
  EXPECT_EQ(parameterCName("stdin"), "stdin_");
  EXPECT_EQ(parameterCName("EOF"), "EOF_");
}

} // namespace

// make_expressions: prints C functions `expression_<i>(a, b, c, failed)` for PrintedExpressions.h.
// With an argument, the compiler's overflow builtins are hidden from them.
#include "tests/codegen/PrintedExpressions.h"
#include "tests/codegen/TestModel.h"
#include "llvm/Support/raw_ostream.h"

using namespace kiln;

int main(int argc, char **argv) {
  std::string prefix = argc > 1 ? argv[1] : "expression";
  std::set<std::string> used;
  std::string functions, table;
  unsigned i = 0;
  for (const char *text : kPrintedExpressions) {
    std::string c = test::expression(text).printC([](llvm::StringRef name) { return name.str(); },
                                                  "failed", used);
    std::string name = prefix + "_" + std::to_string(i++);
    functions += "static int64_t " + name + "(int64_t a, int64_t b, int64_t c, int *failed) {\n" +
                 "  (void)a;\n  (void)b;\n  (void)c;\n  (void)failed;\n  return " + c + ";\n}\n";
    table += "    " + name + ",\n";
  }
  llvm::outs() << "#include <stdint.h>\n"
               << (argc > 1 ? "#undef __GNUC__\n" : "") << Expression::cHelpers(used) << functions
               << "int64_t (*const " << prefix
               << "_table[])(int64_t, int64_t, int64_t, int *) = {\n"
               << table << "};\n";
  return 0;
}

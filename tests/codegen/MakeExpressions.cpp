// make_expressions: prints C functions `expression_<i>(a, b, c, failed)` and
// `expression_truth_<i>` for PrintedExpressions.h. With an argument, the compiler's overflow
// builtins are hidden from them.
#include "tests/codegen/PrintedExpressions.h"
#include "tests/codegen/TestModel.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

using namespace kiln;

int main(int argc, char **argv) {
  std::string prefix = argc > 1 ? argv[1] : "expression";
  std::set<std::string> used;
  std::string functions, values, truths;
  auto add = [&](const std::string &name, const std::string &value, std::string &table) {
    functions +=
        llvm::formatv("static int64_t {0}(int64_t a, int64_t b, int64_t c, int *failed) {{\n"
                      "  (void)a;\n  (void)b;\n  (void)c;\n  (void)failed;\n"
                      "  return {1};\n}\n",
                      name, value)
            .str();
    table += "    " + name + ",\n";
  };
  auto nameOf = [](llvm::StringRef name) { return name.str(); };
  unsigned i = 0;
  for (const std::string &text : test::printedExpressions()) {
    Expression expression = test::expression(text);
    std::string number = "_" + std::to_string(i++);
    add(prefix + number, expression.printC(nameOf, "failed", used), values);
    add(prefix + "_truth" + number, expression.printCTruth(nameOf, "failed", used), truths);
  }
  std::string type = "(int64_t, int64_t, int64_t, int *) = {\n";
  llvm::outs() << "#include <stdint.h>\n"
               << (argc > 1 ? "#undef __GNUC__\n" : "") << Expression::cHelpers(used) << functions
               << "int64_t (*const " << prefix << "_table[])" << type << values << "};\n"
               << "int64_t (*const " << prefix << "_truth_table[])" << type << truths << "};\n";
  return 0;
}

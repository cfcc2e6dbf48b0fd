// Rows that do not agree.
include "compiler/Sema/Table/BuiltinBase.td"

def FirstFamily : Family<"First">;
let library = Language, family = FirstFamily in {
def One : KernelBuiltin<"one", (parameters), "Nothing.">;
def Two : KernelBuiltin<"one", (parameters), "Nothing.">;
def Three : KernelBuiltin<"three", (parameters), "Nothing.">, SameAs<One>, Uses<Evaluator>;
}

// A table of four rows.
include "compiler/Sema/Table/BuiltinBase.td"

def FirstFamily : Family<"First">;
let library = Language, family = FirstFamily in {
def Plain : KernelBuiltin<"plain", (parameters tensor:$x, Default<axis, "-1">:$axis, Default<text, "'a\"b'">:$word),
    "Says \"this\", and that it is long enough for " "two pieces.">;
def Root : KernelBuiltin<"root", (parameters single:$x), "A root.">, FastOperation<"math::SqrtOp">;
}
def SecondFamily : Family<"Second">;
let library = Python, family = SecondFamily in {
def Others : ConstantBuiltin<"others", (parameters AnyOf<[integer, tuple]>:$x, Variadic<anything>:$args, Keywords<anything>:$options), "All.">,
    Uses<Evaluator>;
def More : ConstantBuiltin<"more", (parameters), "As others.">, Uses<Evaluator>, SameAs<Others>;
def : Unsupported<"later">;
}

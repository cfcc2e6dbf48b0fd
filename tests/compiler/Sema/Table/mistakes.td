// A mistake a row.
include "compiler/Sema/Table/BuiltinBase.td"

def FirstFamily : Family<"First">;
def NoLibrary : KernelBuiltin<"a", (parameters), "Nothing.">;
let library = Language, family = FirstFamily in {
def NoStop : KernelBuiltin<"b", (parameters), "No full stop">;
def NoName : KernelBuiltin<"c", (parameters tensor), "Nothing.">;
def NoType : KernelBuiltin<"d", (parameters FirstFamily:$x), "Nothing.">;
def Twice : KernelBuiltin<"e", (parameters tensor:$x, tensor:$x), "Nothing.">;
def Behind : KernelBuiltin<"f", (parameters Default<tensor, "None">:$x, tensor:$y), "Nothing.">;
def NoPython : KernelBuiltin<"g", (parameters Default<flag, "true">:$x), "Nothing.">;
def NoFlag : KernelBuiltin<"h", (parameters Default<flag, "1">:$x), "Nothing.">;
def Keys : KernelBuiltin<"i", (parameters Keywords<anything>:$x, Variadic<anything>:$y), "Nothing.">;
def Three : KernelBuiltin<"j", (parameters single:$x, single:$y, single:$z), "Nothing.">, Operation<"math::FmaOp">;
def Walks : KernelBuiltin<"k", (parameters single:$x), "Nothing.">, Operation<"math::ExpOp">, Uses<Evaluator>;
}

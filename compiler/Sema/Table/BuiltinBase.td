// What a row of the table of builtins says: the function's name, parameters and documentation, where
// it can be called, what its implementation may touch, and, for functions that are one operation,
// which. kiln-tblgen (Generator/) checks the rows and writes what Sema is compiled with.

// Where a function lives: an enumerator of Library (Values/Builtin.h).
class Library;
def Language : Library; // triton.language and triton.language.math
def Device : Library;   // libdevice, under all its names
def Target : Library;   // triton.language.target_info and the driver
def Triton : Library;   // triton
def Python : Library;   // Python's builtins
def Math : Library;     // Python's module math
def Other : Library;    // by full path: "os.environ.get"

// A heading of the reference. Families come in the order of their first rows.
class Family<string heading> {
  string title = heading;
}

// Where a function can be called: an enumerator of Place.
class Place;
def Kernel : Place;   // it builds IR
def Anywhere : Place; // of compile-time values it needs none

// What an implementation may touch: the type of its first parameter.
class Context;
def PythonOperations : Context; // values that are known at compile time
def TensorBuilder : Context;    // tensors, and the IR that computes them
def Evaluator : Context;        // the code that calls it, names, control flow and objects of Python

//===-- Parameters -------------------------------------------------------------------------------===//

// What is accepted, in the reference's words, and what a default can be beside None: "flag",
// "integer", "text", "tuple".
class Type<string reference, list<string> literals = []> {
  string words = reference;
  list<string> defaults = literals;
}

def tensor : Type<"tensor">;
def tensors : Type<"tensors">;
def scalar : Type<"scalar">;
def float : Type<"float">;
def single : Type<"single">;
def integer : Type<"int">;
def ints : Type<"ints">;
def int_tensor : Type<"int tensor">;
def int_vector : Type<"int vector">;
def int_constant : Type<"int constant", ["integer"]>;
def int_constants : Type<"int constants">;
def boolean : Type<"boolean">;
def booleans : Type<"booleans">;
def flag : Type<"flag", ["flag"]>;
def text : Type<"text", ["text"]>;
def texts : Type<"texts">;
def pointer : Type<"pointer">;
def block_pointer : Type<"block pointer">;
def descriptor : Type<"descriptor">;
def axis : Type<"axis", ["integer"]>;
def axes : Type<"axes", ["tuple"]>;
def shape : Type<"shape">;
def dtype : Type<"dtype">;
def dtypes : Type<"dtypes">;
def types : Type<"types">;
def constant : Type<"constant">;
def constants : Type<"constants">;
def function : Type<"function">;
def tuple : Type<"tuple", ["tuple"]>;
def python_list : Type<"list", ["tuple"]>;
def dict : Type<"dict">;
def aggregate : Type<"aggregate">;
def fields : Type<"fields">;
def PropagateNan : Type<"PropagateNan">;
// Not said: values of Python.
def anything : Type<"", ["flag", "integer", "text", "tuple"]>;

// One of several.
class AnyOf<list<Type> alternatives> : Type<!interleave(!foreach(each, alternatives, each.words), "|"),
                                            !foldl([]<string>, alternatives, all, each, !listconcat(all, each.defaults))>;

class Parameter<Type accepted> {
  Type type = accepted;
  string default = "";
}
// With a default, as Python would write it: None, True, False, an integer, a string in single quotes, or ().
class Default<Type accepted, string written> : Parameter<accepted> {
  let default = written;
}
// *name
class Variadic<Type accepted> : Parameter<accepted>;
// **name
class Keywords<Type accepted> : Parameter<accepted>;

// (parameters tensor:$x, Default<axis, "None">:$axis): a Type is a parameter without a default.
def parameters;

//===-- Rows -------------------------------------------------------------------------------------===//

class Row<string spelled> {
  Library library;
  Family family;
  string name = spelled;
}

class Builtin<string spelled, dag takes, string gives> : Row<spelled> {
  dag signature = takes;
  string documentation = gives;
  Place place;
  Context context;
  // The C++ function that runs it.
  string handler = "builtin" # NAME;
  // The operation that it is, on floats: kiln-tblgen writes the handler.
  string operation = "";
  bit isFast = false;
}

class KernelBuiltin<string spelled, dag takes, string gives> : Builtin<spelled, takes, gives> {
  let place = Kernel;
  let context = TensorBuilder;
}

class ConstantBuiltin<string spelled, dag takes, string gives> : Builtin<spelled, takes, gives> {
  let place = Anywhere;
  let context = PythonOperations;
}

// What Triton has and Kiln does not yet.
class Unsupported<string spelled> : Row<spelled>;

//===-- What rows may say beside ---------------------------------------------------------------------===//

// Touches more than its place says.
class Uses<Context more> {
  Context context = more;
}
// Run by the function that runs another.
class SameAs<Builtin other> {
  string handler = other.handler;
}
// Run by a function that tells its rows apart by their names.
class Handler<string shared> {
  string handler = shared;
}
// One operation of arith or math, of one or two floats.
class Operation<string cppClass> {
  string operation = cppClass;
}
// The same, where a target may use an instruction that approximates it.
class FastOperation<string cppClass> : Operation<cppClass> {
  bit isFast = true;
}

// The modules that Kiln knows without reading them: triton, Python's library as far as kernels'
// host code computes with it, and modules that are only passed through (torch).

#include "compiler/Sema/Modules/ModuleScope.h"

#include "llvm/ADT/StringSwitch.h"

#include <cmath>

namespace kiln::sema {
namespace {

/// Paths under which Triton has had its language, its math functions and libdevice.
std::optional<Library> libraryOf(llvm::StringRef path) {
  return llvm::StringSwitch<std::optional<Library>>(path)
      .Cases({"triton.language", "triton.language.core", "triton.language.standard",
              "triton.language.random", "triton.language.semantic"},
             Library::Language)
      .Cases({"triton.language.extra.cuda", "triton.language.extra.hip",
              "triton.language.extra.cuda.utils", "triton.language.extra.cuda.gdc",
              "triton.language.extra.hip.utils"},
             Library::Language)
      .Cases({"triton.language.math", "triton.language.libdevice",
              "triton.language.extra.libdevice", "triton.language.extra.cuda.libdevice",
              "triton.language.extra.hip.libdevice", "triton.language.extra.intel.libdevice",
              "triton.language.extra"},
             Library::Device)
      .Cases(
          {"triton.language.target_info", "triton.runtime.driver.active", "triton.runtime.driver"},
          Library::Target)
      .Case("triton", Library::Triton)
      .Case("math", Library::Math)
      .Default(std::nullopt);
}

/// Modules made of other modules, with no functions of their own.
bool isNamespace(llvm::StringRef path) {
  return llvm::StringSwitch<bool>(path)
      .Cases({"triton.runtime", "triton.compiler", "os", "functools", "itertools", "typing"}, true)
      .Cases({"packaging", "packaging.version", "os.environ", "collections", "torch", "torch.cuda",
              "torch.xpu", "torch.npu", "torch.musa", "torch.backends", "torch.backends.mps",
              "torch.version"},
             true)
      .Cases({"dataclasses", "enum", "operator", "__future__", "builtins", "triton.runtime.jit",
              "triton.runtime.autotuner", "importlib", "importlib.util", "torch.utils",
              "torch.utils._triton"},
             true)
      .Default(libraryOf(path).has_value());
}

/// Installed wherever kernels run: Python's own modules and a few packages. A `try: import` of
/// others fails.
// clang-format off
constexpr llvm::StringLiteral installedModules[] = {
    "torch", "numpy", "np", "packaging", "triton", "typing_extensions", "einops", "pytest",
    "__future__", "abc", "aifc", "antigravity", "argparse", "array", "ast", "asynchat", "asyncio",
    "asyncore", "atexit", "audioop", "base64", "bdb", "binascii", "bisect", "builtins", "bz2",
    "cProfile", "calendar", "cgi", "cgitb", "chunk", "cmath", "cmd", "code", "codecs", "codeop",
    "collections", "colorsys", "compileall", "concurrent", "configparser", "contextlib",
    "contextvars", "copy", "copyreg", "crypt", "csv", "ctypes", "curses", "dataclasses", "datetime",
    "dbm", "decimal", "difflib", "dis", "distutils", "doctest", "email", "encodings", "ensurepip",
    "enum", "errno", "faulthandler", "fcntl", "filecmp", "fileinput", "fnmatch", "fractions",
    "ftplib", "functools", "gc", "genericpath", "getopt", "getpass", "gettext", "glob", "graphlib",
    "grp", "gzip", "hashlib", "heapq", "hmac", "html", "http", "idlelib", "imaplib", "imghdr",
    "imp", "importlib", "inspect", "io", "ipaddress", "itertools", "json", "keyword", "lib2to3",
    "linecache", "locale", "logging", "lzma", "mailbox", "mailcap", "marshal", "math", "mimetypes",
    "mmap", "modulefinder", "msilib", "msvcrt", "multiprocessing", "netrc", "nis", "nntplib", "nt",
    "ntpath", "nturl2path", "numbers", "opcode", "operator", "optparse", "os", "ossaudiodev",
    "pathlib", "pdb", "pickle", "pickletools", "pipes", "pkgutil", "platform", "plistlib", "poplib",
    "posix", "posixpath", "pprint", "profile", "pstats", "pty", "pwd", "py_compile", "pyclbr",
    "pydoc", "pydoc_data", "pyexpat", "queue", "quopri", "random", "re", "readline", "reprlib",
    "resource", "rlcompleter", "runpy", "sched", "secrets", "select", "selectors", "shelve",
    "shlex", "shutil", "signal", "site", "smtpd", "smtplib", "sndhdr", "socket", "socketserver",
    "spwd", "sqlite3", "sre_compile", "sre_constants", "sre_parse", "ssl", "stat", "statistics",
    "string", "stringprep", "struct", "subprocess", "sunau", "symtable", "sys", "sysconfig",
    "syslog", "tabnanny", "tarfile", "telnetlib", "tempfile", "termios", "textwrap", "this",
    "threading", "time", "timeit", "tkinter", "token", "tokenize", "tomllib", "trace", "traceback",
    "tracemalloc", "tty", "turtle", "turtledemo", "types", "typing", "unicodedata", "unittest",
    "urllib", "uu", "uuid", "venv", "warnings", "wave", "weakref", "webbrowser", "winreg",
    "winsound", "wsgiref", "xdrlib", "xml", "xmlrpc", "zipapp", "zipfile", "zipimport", "zlib",
    "zoneinfo",
};
// clang-format on

bool isOpaqueModule(llvm::StringRef path) {
  static const llvm::StringSet<> names(llvm::from_range, installedModules);
  return names.contains(path.split('.').first);
}

Value known(llvm::StringRef path) {
  auto object = std::make_shared<ModuleObject>();
  object->path = path.str();
  return {ValueKind::Module, object};
}

std::optional<Value> mathConstant(llvm::StringRef name) {
  if (name == "pi")
    return Value::real(M_PI);
  if (name == "e")
    return Value::real(M_E);
  if (name == "tau")
    return Value::real(2 * M_PI);
  if (name == "inf")
    return Value::real(INFINITY);
  if (name == "nan")
    return Value::real(NAN);
  return std::nullopt;
}

/// torch.version and friends: what a kernel's module may ask of the installation.
std::optional<Value> installationAnswer(llvm::StringRef path, const TargetAnswers &target) {
  if (path == "torch.version.hip" || path == "torch.version.cuda") {
    bool present = target.backend == path.drop_front(sizeof("torch.version.") - 1);
    return present ? Value::string(path.ends_with("hip") ? "6.4" : "12.8") : Value::none();
  }
  if (path == "torch.__version__")
    return Value::string("2.8.0");
  if (path == "typing.TYPE_CHECKING")
    return Value::boolean(false);
  if (path == "os.name")
    return Value::string("posix");
  if (path == "sys.platform")
    return Value::string("linux");
  if (path == "sys.version_info")
    return Value::tuple({Value::integer(3), Value::integer(12), Value::integer(0)});
  return std::nullopt;
}

} // namespace

std::optional<Value> ModuleScope::knownModule(llvm::StringRef path) const {
  if (isNamespace(path))
    return known(path);
  if (path == "sys")
    return known(path);
  if (path.starts_with("triton.") || isOpaqueModule(path)) {
    // A path below a known module may be a name of it rather than a module.
    auto [parent, name] = path.rsplit('.');
    if (!name.empty() && isNamespace(parent))
      return knownAttribute(parent, name);
    return Value::opaque(path);
  }
  return std::nullopt;
}

bool ModuleScope::isOfOtherVendor(llvm::StringRef path) {
  static constexpr llvm::StringLiteral names[] = {"npu", "musa", "mlu", "corex", "gcu", "hpu"};
  return path.consume_front("torch.") && llvm::is_contained(names, path);
}

std::vector<llvm::StringRef> ModuleScope::knownNames(llvm::StringRef module) const {
  if (std::optional<Library> library = libraryOf(module))
    return builtins.getNames(*library);
  return {};
}

std::optional<Value> ModuleScope::knownAttribute(llvm::StringRef module,
                                                 llvm::StringRef name) const {
  std::string path = (module + "." + name).str();
  if (path == "triton.language.math" || isNamespace(path))
    return known(path);
  if (std::optional<Value> answer = installationAnswer(path, target))
    return answer;
  if (const BuiltinInfo *info = builtins.find(Library::Other, path))
    return Value::builtin(*info);
  if (module == "math")
    if (std::optional<Value> constant = mathConstant(name))
      return constant;
  if (path == "triton.__version__")
    return Value::string("3.8.0");
  if (module == "triton" && name == "Autotuner")
    return Value::opaque(path);
  if (module == "triton.runtime.jit" || module == "triton.runtime.autotuner" ||
      module == "triton.runtime" || module == "triton.compiler") {
    if (const BuiltinInfo *info = builtins.find(Library::Triton, name))
      return Value::builtin(*info);
    return Value::opaque(path);
  }
  if (module == "triton.language.PropagateNan")
    return Value::string(name == "ALL" ? "all" : "none");
  std::optional<Library> library = libraryOf(module);
  if (!library) {
    // typing.X, os.X, torch.X …: exist, but are not evaluated.
    return Value::opaque(path);
  }
  if (*library == Library::Language) {
    // Decorators that change nothing that is evaluated.
    if (name == "_aggregate" || name == "must_use_result")
      return Value::opaque(path);
    if (name == "PropagateNan")
      return known("triton.language.PropagateNan");
    if (std::optional<DType> type = parseDType(name);
        type && llvm::is_contained(getDTypeNames(), name))
      return Value::type(*type);
    if (name == "pi32_t")
      return Value::type(DType(Scalar::Int32, 1));
    if (name == "bool")
      return Value::type(DType(Scalar::Int1));
  }
  if (const BuiltinInfo *info = builtins.find(*library, name))
    return Value::builtin(*info);
  if (module == "triton" || module.starts_with("triton.runtime"))
    return Value::opaque(path);
  if (name == "jit" || name == "constexpr_function")
    return Value::builtin(*builtins.find(Library::Triton, name));
  if (name == "target_info")
    return known("triton.language.target_info");
  return std::nullopt;
}

} // namespace kiln::sema

//! Compiles the kernels, the generated C and Kiln's runtime into one static library. Nothing is
//! downloaded, and no other crate is needed.
//!
//! KILN is the command (`kiln` on the PATH), KILN_ROOT the folder that has `runtime/`: a checkout, or
//! share/kiln of a package. CC and AR are the C compiler and archiver.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

fn setting(name: &str, default: &str) -> String {
    println!("cargo:rerun-if-env-changed={}", name);
    env::var(name).unwrap_or_else(|_| default.to_string())
}

fn run(command: &mut Command) {
    match command.status() {
        Ok(status) if status.success() => {}
        Ok(status) => panic!("{:?}: {}", command, status),
        Err(error) => panic!("{:?}: {}", command, error),
    }
}

fn c_sources(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder)
        .unwrap_or_else(|error| panic!("{}: {}: set KILN_ROOT to the folder that has runtime/", folder.display(), error));
    let mut found: Vec<PathBuf> = entries
        .map(|entry| entry.expect("a folder's entry").path())
        .filter(|path| path.extension().map_or(false, |extension| extension == "c"))
        .collect();
    found.sort();
    found
}

fn main() {
    let out = PathBuf::from(env::var("OUT_DIR").expect("OUT_DIR, which cargo sets"));
    let kiln = setting("KILN", "kiln");
    let root = PathBuf::from(setting("KILN_ROOT", "../.."));
    let runtime = root.join("runtime");
    let compiler = setting("CC", "cc");
    for file in ["vectors.json", "vectors.py", "build.rs"] {
        println!("cargo:rerun-if-changed={}", file);
    }
    println!("cargo:rerun-if-changed={}", runtime.display());

    run(Command::new(kiln).args(["build", "vectors.json", "-o"]).arg(&out));

    let mut objects = Vec::new();
    for source in c_sources(&runtime).into_iter().chain([out.join("vectors.c")]) {
        let object = out.join(source.file_name().expect("a file")).with_extension("o");
        run(Command::new(&compiler)
            .args(["-std=gnu11", "-O2", "-fPIC", "-fvisibility=hidden", "-I"])
            .arg(&out)
            .arg("-I")
            .arg(&runtime)
            .arg("-I")
            .arg(&root)
            .arg("-c")
            .arg(source)
            .arg("-o")
            .arg(&object));
        objects.push(object);
    }
    let archive = out.join("libvectors_dispatch.a");
    let _ = std::fs::remove_file(&archive);
    run(Command::new(setting("AR", "ar")).arg("crs").arg(&archive).args(&objects));
    println!("cargo:rustc-link-search=native={}", out.display());
    println!("cargo:rustc-link-lib=static=vectors_dispatch"); // refers to the next, so it comes first
    println!("cargo:rustc-link-lib=static=vectors");
    println!("cargo:rustc-link-lib=dylib=m");
}

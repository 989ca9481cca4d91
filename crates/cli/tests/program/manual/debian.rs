//! The Debian package: built once, inspected, and installed below a scratch directory.

use std::process::Command;

use crate::common::{Scratch, require, run};
use crate::manual::lint::written_pages;
use crate::manual::top;

/// Builds the package from the binary of these tests.
fn package(scratch: &Scratch) -> String {
    let mut build = Command::new(top().join("packaging/debian/build"));
    build.arg(scratch.path("")).env("FATHOM_BINARY", env!("CARGO_BIN_EXE_fathom"));
    // Compression, and symbols, which take a minute, are those of the tools.
    build.env("DEB_BUILD_OPTIONS", "nocheck nostrip").env("DPKG_DEB_COMPRESSOR_TYPE", "none");
    let built = run(&mut build).expect_code(0);
    built.stdout.trim().to_owned()
}

/// Checks program, manual, completions, documents and dependencies.
#[track_caller]
fn expect_contents(package: &str) {
    let contents = run(Command::new("dpkg-deb").args(["--contents", package])).expect_clean().stdout;
    let has = |path: &str| contents.lines().any(|line| line.split_whitespace().any(|word| word == format!("./{path}")));
    for path in [
        "usr/bin/fathom",
        "usr/share/bash-completion/completions/fathom",
        "usr/share/zsh/vendor-completions/_fathom",
        "usr/share/fish/vendor_completions.d/fathom.fish",
        "usr/share/bash-completion/completions/fathom-fleet",
        "usr/share/doc/fathom/copyright",
        "usr/share/doc/fathom/README.md",
        "usr/share/doc/fathom/docs/plan.md",
        "usr/share/doc/fathom/examples/first-try.fio",
    ] {
        assert!(has(path), "{path} is missing from:\n{contents}");
    }
    for page in written_pages(&Scratch::new()) {
        assert!(has(&format!("usr/share/man/{page}.gz")), "{page} is missing from:\n{contents}");
    }
    let depends = run(Command::new("dpkg-deb").args(["--field", package, "Depends"])).expect_clean().stdout;
    assert!(depends.contains("libc6 (>= "), "{depends}");
}

#[test]
fn the_package_has_all_files_and_its_program_runs_once_installed() {
    require!(Debhelper, Root);
    let scratch = Scratch::new();
    let package = package(&scratch);
    expect_contents(&package);
    let root = scratch.path("root");
    std::fs::create_dir_all(root.join("var/lib/dpkg/info")).expect("the scratch directory can be written to");
    std::fs::create_dir_all(root.join("var/lib/dpkg/updates")).expect("the scratch directory can be written to");
    std::fs::write(root.join("var/lib/dpkg/status"), "").expect("the scratch directory can be written to");
    // Dependencies are not installed below that directory; `expect_contents` checks that they are named.
    let mut install = Command::new("dpkg");
    install.arg(format!("--root={}", root.display())).args(["--force-depends", "--install", &package]);
    run(&mut install).expect_code(0);
    let version = run(Command::new(root.join("usr/bin/fathom")).arg("--version")).expect_clean().stdout;
    assert!(version.starts_with("fathom "), "{version}");
}

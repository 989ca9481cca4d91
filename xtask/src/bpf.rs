//! The object of the programs that run in the kernel: compiled here and kept, so that neither building nor running
//! Fathom needs clang.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, ensure};

use crate::scratch::ScratchDir;

const SOURCE: &str = "crates/capture/bpf/requests.bpf.c";
const OBJECT: &str = "crates/capture/bpf/requests.bpf.o";
/// What the object was compiled from, because other versions of clang make other bytes.
const ORIGIN: &str = "crates/capture/bpf/requests.bpf.o.origin";

/// Compiles the object if its source has changed; with `check`, only looks. Returns its name if it is not up to date.
pub(crate) fn update(root: &Path, check: bool) -> Result<Option<String>> {
    let source = std::fs::read_to_string(root.join(SOURCE)).context(SOURCE)?;
    let object = std::fs::read(root.join(OBJECT)).unwrap_or_default();
    let known = std::fs::read_to_string(root.join(ORIGIN)).unwrap_or_default();
    if known.lines().next_back() == Some(&origin(&source, &object)) {
        return Ok(None);
    }
    if !check {
        let object = compile(root)?;
        std::fs::write(root.join(OBJECT), &object)?;
        let compiler = output(Command::new("clang").arg("--version"))?;
        let compiler = String::from_utf8_lossy(&compiler).lines().next().unwrap_or_default().to_owned();
        std::fs::write(root.join(ORIGIN), format!("{compiler}\n{}\n", origin(&source, &object)))?;
    }
    Ok(Some(OBJECT.to_owned()))
}

fn origin(source: &str, object: &[u8]) -> String {
    let object = object.iter().fold(0, |number, byte| units::random::mix(number, u64::from(*byte)));
    format!("source {:016x}, object {object:016x}", units::random::mix_text(0, source))
}

fn compile(root: &Path) -> Result<Vec<u8>> {
    let scratch = ScratchDir::new("bpf")?;
    let object = scratch.0.join("requests.bpf.o");
    let mut clang = Command::new("clang");
    // The processor decides only how arguments of calls are found in registers, which these programs have none of.
    clang.args([
        "-O2",
        "-g",
        "-mcpu=v3",
        "-target",
        "bpf",
        "-D__TARGET_ARCH_x86",
        "-I/usr/include/x86_64-linux-gnu",
        "-c",
    ]);
    output(clang.arg(root.join(SOURCE)).arg("-o").arg(&object)).context("clang and libbpf-dev are needed")?;
    output(Command::new("llvm-strip").arg("-g").arg(&object)).context("llvm is needed")?;
    Ok(std::fs::read(object)?)
}

fn output(command: &mut Command) -> Result<Vec<u8>> {
    let output = command.output().with_context(|| format!("starting {}", command.get_program().display()))?;
    ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Ok(output.stdout)
}

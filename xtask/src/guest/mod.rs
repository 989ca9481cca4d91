//! Tests in a virtual machine with devices that a host may lack: NVMe, zoned disks, SCSI, the kernel's NBD driver, LVM,
//! md, dm-crypt. One boot runs all of them, and none touches a device of this host.
//!
//! The tests are the shell functions `test_…` in `xtask/guest/cases`. `xtask/guest/lib.sh` has shared functions.

mod cases;
mod helpers;
mod initramfs;
mod kernel;
mod machine;
mod report;

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use anyhow::{Context, Result, ensure};

use cases::GuestCase;
pub(crate) use helpers::{digest, hold};
use initramfs::Archive;
use kernel::Kernel;
use machine::{GuestMachine, QEMU};
use report::Report;

use crate::scratch::ScratchDir;

/// Number of boots after which a guest without any test has failed.
const BOOTS: u32 = 3;

/// Programs of the host that tests use, with their Debian packages.
const PROGRAMS: &[(&str, &str)] = &[
    ("mkfs.ext4", "e2fsprogs"),
    ("sfdisk", "fdisk"),
    ("losetup", "mount"),
    ("mdadm", "mdadm"),
    ("lvm", "lvm2"),
    ("dmsetup", "dmsetup"),
    ("cryptsetup", "cryptsetup-bin"),
    ("blkzone", "util-linux"),
    ("fio", "fio"),
];

/// Runs `cargo xtask guest [WORD]...`: the tests whose names contain one of the words, or those that are short.
pub(crate) fn test(words: &[&str]) -> Result<ExitCode> {
    let root = crate::tidy::root()?;
    let cases = cases::read(&root.join("xtask/guest/cases"))?;
    let cases: Vec<GuestCase> = cases.into_iter().filter(|case| case.is_selected(words)).collect();
    ensure!(!cases.is_empty(), "no test has a name with {}", words.join(" or "));
    let mut report = Report::new(&cases);
    let prepared = match prepare(&root) {
        Ok(prepared) => prepared,
        // A missing guest is no failure.
        Err(Unavailable::Lacks(reason)) => return report.skip_all(&reason),
        Err(Unavailable::Failed(error)) => return Err(error),
    };
    let (mut hung, mut boots) = (None, 0);
    loop {
        let left: Vec<&GuestCase> = cases.iter().filter(|case| !report.has(case)).collect();
        let script: String = left.iter().map(|case| case.line()).collect();
        boots += 1;
        let state = match prepared.boot(&script, |line| report.line(line))? {
            BootEnd::Hung(state) => state,
            // On a busy host, the kernel may panic before any test has begun.
            BootEnd::Over if !report.has_lines() && boots < BOOTS => {
                eprintln!("guest: it ended before the first test, booting again:\n{}", prepared.console());
                continue;
            }
            BootEnd::Over if report.take_killed() => "a test was killed at its time limit".to_owned(),
            BootEnd::Over => "it ended before the test".to_owned(),
        };
        // The emulator or its kernel sometimes hangs when a driver is loaded again, so the remaining tests get another
        // boot, unless the same test hangs again. A test that hangs the guest with probability p passes after a hang
        // with probability p (1 - p); each hang is printed.
        let Some(case) = cases.iter().find(|case| !report.has(case)) else { break };
        let case = case.name();
        eprintln!("guest: it hung in {case}\n{state}\n{}", prepared.console());
        let hung_before = hung.replace(case);
        if hung_before == hung {
            break;
        }
        eprintln!("guest: booted again");
    }
    report.finish(&prepared.console())
}

/// Runs `cargo xtask guest -- COMMAND`, a shell command in the guest, and returns its exit code.
pub(crate) fn command(words: &[&str]) -> Result<ExitCode> {
    let prepared = match prepare(&crate::tidy::root()?) {
        Ok(prepared) => prepared,
        Err(Unavailable::Lacks(reason)) => anyhow::bail!("{reason}"),
        Err(Unavailable::Failed(error)) => return Err(error),
    };
    let mut code = None;
    prepared.boot(&format!("command {}\n", words.join(" ")), |line| {
        match line.strip_prefix("@end command ").and_then(|rest| rest.split(' ').next()) {
            Some(number) => code = number.parse::<u8>().ok(),
            None if line.starts_with('@') => {}
            None => println!("{line}"),
        }
    })?;
    let console = prepared.console();
    code.map(ExitCode::from).with_context(|| format!("the guest did not reach the end of the command:\n{console}"))
}

/// The reason why no guest can be started.
enum Unavailable {
    /// A program or the kernel package is missing.
    Lacks(String),
    Failed(anyhow::Error),
}

impl From<anyhow::Error> for Unavailable {
    fn from(error: anyhow::Error) -> Self {
        Self::Failed(error)
    }
}

/// How a boot ended.
enum BootEnd {
    /// The guest has powered off.
    Over,
    /// No line for longer than a test may take; with the emulator's state of the processors.
    Hung(String),
}

/// A kernel, and the sources of every initramfs.
struct GuestSetup {
    kernel: Kernel,
    root: PathBuf,
    folder: ScratchDir,
}

fn prepare(root: &Path) -> Result<GuestSetup, Unavailable> {
    let others = [(QEMU, "qemu-system-x86"), ("busybox", "busybox-static"), ("depmod", "kmod"), ("ldd", "libc-bin")];
    let missing = PROGRAMS.iter().chain(&others).filter(|(program, _)| find(program).is_none());
    let packages: Vec<&str> = missing.map(|(_, package)| *package).collect();
    if !packages.is_empty() {
        return Err(Unavailable::Lacks(format!("not installed: {}", packages.join(", "))));
    }
    let cache = cache(root);
    let kernel =
        Kernel::cached(&cache).map_err(|error| Unavailable::Lacks(format!("no kernel for the guest: {error:#}")))?;
    let folder = ScratchDir::new("guest")?;
    Ok(GuestSetup { kernel, root: root.to_path_buf(), folder })
}

impl GuestSetup {
    /// Boots the guest with a script, and passes each line of results on.
    fn boot(&self, script: &str, mut line: impl FnMut(&str)) -> Result<BootEnd> {
        let initramfs = self.folder.0.join("initramfs");
        std::fs::write(&initramfs, self.initramfs(script)?)?;
        let machine = GuestMachine::boot(&self.kernel, &initramfs, &self.folder.0)?;
        loop {
            match machine.next() {
                machine::NextLine::Line(text) => line(&text),
                machine::NextLine::End => return Ok(BootEnd::Over),
                machine::NextLine::Silent => {
                    let state = machine.interrupt().unwrap_or_else(|error| format!("no answer of {QEMU}: {error:#}"));
                    return Ok(BootEnd::Hung(state));
                }
            }
        }
    }

    fn initramfs(&self, script: &str) -> Result<Vec<u8>> {
        let mut archive = Archive::default();
        for folder in ["proc", "sys", "dev", "tmp", "run", "root", "etc", "mnt", "var"] {
            archive.directory(folder);
        }
        archive.link("sbin", "bin");
        archive.file("etc/passwd", 0o644, b"root:x:0:0:root:/root:/bin/sh\n");
        for (program, _) in PROGRAMS {
            archive.program(program, &find(program).with_context(|| format!("{program} is gone"))?)?;
        }
        archive
            .program("fathom", &stripped(&crate::scratch::debug_fathom(&self.root)?, &self.folder.0.join("fathom")))?;
        let own = std::env::current_exe()?;
        archive.program("xtask", &stripped(&own, &self.folder.0.join("xtask")))?;
        let busybox = find("busybox").context("busybox is gone")?;
        archive.program("busybox", &busybox)?;
        // Programs of the host take precedence: existing entries are kept.
        let applets = Command::new(&busybox).arg("--list").output()?;
        for applet in String::from_utf8_lossy(&applets.stdout).lines().filter(|applet| *applet != "busybox") {
            archive.link(&format!("bin/{applet}"), "busybox");
        }
        self.kernel.add_modules(&mut archive)?;
        let guest = self.root.join("xtask/guest");
        archive.copy("guest/lib.sh", &guest.join("lib.sh"))?;
        for path in cases::files(&guest.join("cases"))? {
            let name = path.file_name().context("a file has a name")?.to_string_lossy();
            archive.copy(&format!("guest/cases/{name}"), &path)?;
        }
        archive.file("guest/script", 0o644, script.as_bytes());
        archive.file("init", 0o755, &std::fs::read(guest.join("init.sh"))?);
        Ok(archive.finish())
    }

    /// Returns the last lines of the guest's console.
    fn console(&self) -> String {
        let bytes = std::fs::read(self.folder.0.join("console")).unwrap_or_default();
        let text = String::from_utf8_lossy(&bytes).replace('\r', "");
        let lines: Vec<&str> = text.lines().collect();
        lines[lines.len().saturating_sub(30)..].join("\n")
    }
}

/// Returns a copy without symbols, which boots sooner; the program itself without `strip`.
fn stripped(program: &Path, to: &Path) -> PathBuf {
    let status = Command::new("strip").arg("-o").arg(to).arg(program).status();
    if status.is_ok_and(|status| status.success()) { to.to_path_buf() } else { program.to_path_buf() }
}

/// Returns the directory that keeps the kernel between runs.
fn cache(root: &Path) -> PathBuf {
    let folder = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let home = || folder("HOME").map(|home| home.join(".cache"));
    let cache = folder("XDG_CACHE_HOME").or_else(home).map(|cache| cache.join("fathom/guest"));
    cache.unwrap_or_else(|| root.join("target/guest"))
}

/// Returns the path of a program, also in directories for root.
fn find(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::env::split_paths(&path).chain(["/usr/sbin".into(), "/sbin".into()]);
    folders.map(|folder| folder.join(program)).find(|path| path.is_file())
}

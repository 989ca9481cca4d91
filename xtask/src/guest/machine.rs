//! The virtual machine: QEMU without KVM, NVMe disks of several kinds, and a serial line for results.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};

use super::kernel::Kernel;

pub(super) const QEMU: &str = "qemu-system-x86_64";
const MEMORY_MIB: u32 = 1536;
const DISK_MIB: u64 = 64;

/// A guest that runs; it is killed when this goes out of scope.
pub(super) struct GuestMachine {
    child: Child,
    lines: Receiver<String>,
    deadline: Instant,
}

/// What comes next from a guest.
pub(super) enum NextLine {
    /// A line on its line for results.
    Line(String),
    /// It has powered off.
    End,
    /// The time is over.
    Late,
}

impl GuestMachine {
    /// Boots a kernel. What it prints itself goes to `console` in `folder`, where the disks are too.
    pub(super) fn boot(kernel: &Kernel, initramfs: &Path, folder: &Path, limit: Duration) -> Result<Self> {
        let mut command = Command::new(QEMU);
        command.args(["-machine", "q35", "-accel", "tcg,thread=multi", "-cpu", "max", "-smp", "2"]);
        command.args(["-m", &MEMORY_MIB.to_string(), "-display", "none", "-monitor", "none", "-no-reboot"]);
        command.args(["-nic", "none", "-serial", &format!("file:{}", folder.join("console").display())]);
        command.args(["-serial", "stdio"]).arg("-kernel").arg(&kernel.image).arg("-initrd").arg(initramfs);
        command.args(["-append", "console=ttyS0 quiet panic=1 mitigations=off"]);
        for (name, devices) in DISKS {
            let path = folder.join(name);
            std::fs::File::create(&path)?.set_len(DISK_MIB << 20)?;
            command.args(["-drive", &format!("file={},if=none,id={name},format=raw", path.display())]);
            for device in *devices {
                command.args(["-device", device]);
            }
        }
        let mut child =
            command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().with_context(|| format!("starting {QEMU}"))?;
        let output = child.stdout.take().context("its output is piped")?;
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            for line in BufReader::new(output).split(b'\n').map_while(Result::ok) {
                let text = String::from_utf8_lossy(&line);
                if sender.send(text.trim_end_matches('\r').to_owned()).is_err() {
                    return;
                }
            }
        });
        Ok(Self { child, lines, deadline: Instant::now() + limit })
    }

    /// Waits for the next line.
    pub(super) fn next(&self) -> NextLine {
        match self.lines.recv_timeout(self.deadline.saturating_duration_since(Instant::now())) {
            Ok(line) => NextLine::Line(line),
            Err(RecvTimeoutError::Disconnected) => NextLine::End,
            Err(RecvTimeoutError::Timeout) => NextLine::Late,
        }
    }
}

impl Drop for GuestMachine {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Disks and the controllers they are behind. Tests find them by their serial numbers.
const DISKS: &[(&str, &[&str])] = &[
    ("plain", &["nvme,serial=plain,drive=plain"]),
    ("removable", &["nvme,serial=removable,drive=removable"]),
    (
        "zoned",
        &[
            "nvme,serial=zoned,id=zoned",
            "nvme-ns,drive=zoned,bus=zoned,zoned=true,zoned.zone_size=16M,zoned.zone_capacity=12M,zoned.max_open=8,\
             zoned.max_active=8",
        ],
    ),
    // One namespace behind two controllers of a subsystem.
    (
        "shared",
        &[
            "nvme-subsys,id=subsystem,nqn=shared",
            "nvme,serial=shared,id=first,subsys=subsystem",
            "nvme,serial=shared,id=second,subsys=subsystem",
            "nvme-ns,drive=shared,bus=first,shared=on",
        ],
    ),
];

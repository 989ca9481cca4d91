//! The virtual machine: QEMU without KVM, with several kinds of NVMe disks and a serial line for results.

use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use anyhow::{Context, Result};

use super::kernel::Kernel;

pub(super) const QEMU: &str = "qemu-system-x86_64";
const MEMORY_MIB: u32 = 1536;
const DISK_MIB: u64 = 64;

/// Longer than any test may take: `xtask/guest/init.sh` kills a test after 400 s, ten times what the longest needs.
const SILENCE: Duration = Duration::from_secs(500);

/// A running guest, killed on drop.
pub(super) struct GuestMachine {
    child: Child,
    lines: Receiver<String>,
    monitor: PathBuf,
}

/// The next event of a guest.
pub(super) enum NextLine {
    /// A line of results.
    Line(String),
    /// The guest has powered off.
    End,
    /// No line for longer than a test may take: the kernel or the emulator hangs.
    Silent,
}

impl GuestMachine {
    /// Boots a kernel. Its messages go to `console` in `folder`, which also holds the disks.
    pub(super) fn boot(kernel: &Kernel, initramfs: &Path, folder: &Path) -> Result<Self> {
        let mut command = Command::new(QEMU);
        // One thread emulates all processors: with a thread each, QEMU lets one run code that another is patching, and
        // the kernel panics once in some boots.
        command.args(["-machine", "q35", "-accel", "tcg,thread=single", "-cpu", "max", "-smp", "2"]);
        command.args(["-m", &MEMORY_MIB.to_string(), "-display", "none", "-no-reboot"]);
        let monitor = folder.join("monitor");
        command.args(["-monitor", &format!("unix:{},server=on,wait=off", monitor.display())]);
        command.args(["-nic", "none", "-serial", &format!("file:{}", folder.join("console").display())]);
        command.args(["-serial", "stdio"]).arg("-kernel").arg(&kernel.image).arg("-initrd").arg(initramfs);
        // On a busy host, timer interrupts may come too late for the kernel's check of the timer, which then panics.
        // The emulator sometimes loses the interrupt of an NVMe completion, which the kernel finds at its time limit.
        // The emulator translates a program again wherever it is mapped: at random addresses, a start takes three times as long.
        let options = "console=ttyS0 quiet panic=1 mitigations=off unknown_nmi_panic=1 no_timer_check norandmaps \
                       nvme_core.io_timeout=5";
        command.args(["-append", options]);
        for (name, devices) in DISKS {
            let path = folder.join(name);
            std::fs::File::create(&path)?.set_len(DISK_MIB << 20)?;
            command.args(["-drive", &format!("file={},if=none,id={name},format=raw,discard=unmap", path.display())]);
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
        Ok(Self { child, lines, monitor })
    }

    /// Waits for the next event.
    pub(super) fn next(&self) -> NextLine {
        match self.lines.recv_timeout(SILENCE) {
            Ok(line) => NextLine::Line(line),
            Err(RecvTimeoutError::Disconnected) => NextLine::End,
            Err(RecvTimeoutError::Timeout) => NextLine::Silent,
        }
    }

    /// Locates a hang: makes the kernel panic, which prints the stack to the console, and returns the emulator's state
    /// of the processors. An emulator that hangs does not answer.
    pub(super) fn interrupt(&self) -> Result<String> {
        let mut monitor = UnixStream::connect(&self.monitor)?;
        monitor.set_read_timeout(Some(Duration::from_secs(5)))?;
        monitor.write_all(b"info status\ninfo registers -a\nnmi\n")?;
        let mut answer = Vec::new();
        // The connection stays open, so the answer ends at the timeout.
        let _ = std::io::Read::read_to_end(&mut monitor, &mut answer);
        let answer = String::from_utf8_lossy(&answer).replace('\r', "");
        let relevant = |line: &&str| ["VM status", "CPU#", "RIP="].iter().any(|word| line.contains(word));
        Ok(answer.lines().filter(relevant).collect::<Vec<_>>().join("\n"))
    }
}

impl Drop for GuestMachine {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Disks and their controllers. Tests find them by serial number.
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
    // Protection information: beside the data, behind the data of each block, and with checksums of 64 bits.
    ("separate", &["nvme,serial=separate,id=separate", "nvme-ns,drive=separate,bus=separate,ms=8,pi=1"]),
    ("extended", &["nvme,serial=extended,id=extended", "nvme-ns,drive=extended,bus=extended,ms=8,mset=1,pi=1"]),
    (
        "wide",
        &[
            "nvme,serial=wide,id=wide",
            "nvme-ns,drive=wide,bus=wide,ms=16,pi=1,pif=2,logical_block_size=4096,physical_block_size=4096",
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

//! Properties of a disk's queue in the block layer, and of its hardware. The files are those of the kernel's
//! `Documentation/ABI/stable/sysfs-block`.

use std::path::{Path, PathBuf};

use record::host::{BlockQueue, QueueInterrupt, Reading, UnreadCause};

use super::reading::{foreign, line, list, names, number, resolve, text, unread};

/// Returns the path of a block device in `/sys`, where `!` stands for `/`.
fn of(name: &str) -> String {
    format!("sys/class/block/{}", name.replace('/', "!"))
}

/// Reads the queue settings of a whole disk.
#[must_use]
pub fn queue(root: &Path, name: &str) -> BlockQueue {
    let home = of(name);
    let file = |name: &str| format!("{home}/queue/{name}");
    let figure = |name: &str| number::<u64>(root, &file(name));
    let switch = |name: &str| figure(name).map(|value| value != 0);
    BlockQueue {
        scheduler: scheduler(root, &file("scheduler")),
        nr_requests: figure("nr_requests"),
        device_depth: number(root, &format!("{home}/device/queue_depth")),
        logical_block_bytes: figure("logical_block_size"),
        physical_block_bytes: figure("physical_block_size"),
        optimal_io_bytes: figure("optimal_io_size"),
        alignment_offset_bytes: number(root, &format!("{home}/alignment_offset")),
        rotational: switch("rotational"),
        write_cache: line(root, &file("write_cache")),
        fua: switch("fua"),
        rq_affinity: figure("rq_affinity"),
        nomerges: figure("nomerges"),
        max_sectors_kb: figure("max_sectors_kb"),
        max_hw_sectors_kb: figure("max_hw_sectors_kb"),
        discard_max_bytes: figure("discard_max_bytes"),
        discard_max_hw_bytes: figure("discard_max_hw_bytes"),
        discard_granularity_bytes: figure("discard_granularity"),
        iostats: switch("iostats"),
        polls: switch("io_poll"),
        hardware_queues: hardware_queues(root, &home),
    }
}

/// Parses `none [mq-deadline] kyber`, or a single word if there is no choice.
fn scheduler(root: &Path, path: &str) -> Reading<(String, Vec<String>)> {
    let line = line(root, path)?;
    let all: Vec<String> = line.split_whitespace().map(|word| word.trim_matches(['[', ']']).to_owned()).collect();
    let chosen = line.split_whitespace().find_map(|word| word.strip_prefix('[')?.strip_suffix(']'));
    match (chosen, &all[..]) {
        (Some(chosen), _) => Ok((chosen.to_owned(), all)),
        (None, [only]) if only.chars().all(|c| c.is_ascii_alphanumeric() || c == '-') => Ok((only.clone(), all)),
        _ => Err(foreign(path, &line)),
    }
}

/// Maximum number of queues read; no device has more.
const MAX_QUEUES: usize = 1 << 16;

fn hardware_queues(root: &Path, home: &str) -> Reading<Vec<Vec<u32>>> {
    let path = format!("{home}/mq");
    let queues = names(root, &path)?;
    let numbered = queues.iter().filter(|name| name.parse::<u32>().is_ok()).take(MAX_QUEUES);
    let lists: Vec<Vec<u32>> =
        numbered.map(|name| list(root, &format!("{path}/{name}/cpu_list"))).collect::<Result<_, _>>()?;
    if lists.is_empty() { Err(unread(&path, UnreadCause::Empty)) } else { Ok(lists) }
}

/// Reads the readahead of a device, in KiB.
pub fn read_ahead_kb(root: &Path, name: &str) -> Reading<u64> {
    // Partitions have no value of their own; that of their disk applies.
    let own = number(root, &format!("{}/queue/read_ahead_kb", of(name)));
    own.or_else(|unread| number(root, &format!("{}/../queue/read_ahead_kb", of(name))).map_err(|_| unread))
}

/// Reads the first sector of a partition, in units of 512 bytes.
pub fn first_sector(root: &Path, name: &str) -> Reading<u64> {
    number(root, &format!("{}/start", of(name)))
}

/// Reads whether a loop device bypasses the page cache of its file.
pub fn loop_direct(root: &Path, name: &str) -> Reading<bool> {
    number::<u64>(root, &format!("{}/loop/dio", of(name))).map(|value| value != 0)
}

/// Reads the offset of a loop device in its file, in bytes.
pub fn loop_offset_bytes(root: &Path, name: &str) -> Reading<u64> {
    number(root, &format!("{}/loop/offset", of(name)))
}

/// Reads the level of a RAID (`raid5`) and the number of its missing disks.
pub fn raid(root: &Path, name: &str) -> Reading<(String, u64)> {
    let home = of(name);
    Ok((line(root, &format!("{home}/md/level"))?, number(root, &format!("{home}/md/degraded")).unwrap_or(0)))
}

/// Reads the device mapper's name of a device, and the kind of its mapping (`LVM`, `CRYPT`, `mpath`).
pub fn mapping(root: &Path, name: &str) -> Reading<(String, String)> {
    let home = of(name);
    let kind = line(root, &format!("{home}/dm/uuid")).unwrap_or_default();
    let kind = kind.split('-').next().unwrap_or_default().to_owned();
    Ok((line(root, &format!("{home}/dm/name"))?, kind))
}

/// Returns the driver of a disk, such as `virtio_blk`; empty if there is none.
#[must_use]
pub fn driver(root: &Path, name: &str) -> String {
    let driver = |place: PathBuf| {
        let link = std::fs::read_link(place.join("driver")).ok()?;
        Some(link.file_name()?.to_string_lossy().into_owned())
    };
    parents(root, name).into_iter().find_map(driver).unwrap_or_default()
}

/// Serial number and firmware of a device.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DeviceIdentity {
    /// Serial number, or else the worldwide name or UUID; `None` if this user cannot read any.
    pub serial: Option<String>,
    /// Firmware version.
    pub firmware: Option<String>,
}

/// Reads the identity of a disk, a RAID or a mapping.
#[must_use]
pub fn identity(root: &Path, name: &str) -> DeviceIdentity {
    let home = of(name);
    let file = |name: &&str| line(root, &format!("{home}/{name}")).ok();
    // In this order: NVMe, virtio, SCSI after a header of four bytes, and identifiers that can replace a serial number.
    let plain = ["device/serial", "serial"].iter().find_map(file);
    let scsi = || {
        let page = text(root, &format!("{home}/device/vpd_pg80")).ok()?;
        let serial: String = page.chars().skip(4).filter(|c| !c.is_control()).collect();
        (!serial.trim().is_empty()).then(|| serial.trim().to_owned())
    };
    let other = || ["wwid", "device/wwid", "dm/uuid", "md/uuid"].iter().find_map(file);
    let firmware = ["device/firmware_rev", "device/rev"].iter().find_map(file);
    DeviceIdentity { serial: plain.or_else(scsi).or_else(other), firmware }
}

/// Reads the memory node that a disk is attached to; `None` if the host has no nodes.
pub fn node(root: &Path, name: &str) -> Reading<Option<u32>> {
    let number: i64 = number(root, &nearest(root, name, "numa_node")?)?;
    Ok(u32::try_from(number).ok())
}

/// Reads the interrupts of a disk's queues, without those for configuration or administration.
pub fn interrupts(root: &Path, name: &str) -> Reading<Vec<QueueInterrupt>> {
    let numbers = names(root, &nearest(root, name, "msi_irqs")?)?;
    let table = text(root, "proc/interrupts").unwrap_or_default();
    let mut interrupts = Vec::new();
    for number in numbers.iter().filter_map(|name| name.parse::<u32>().ok()) {
        let name = interrupt_name(&table, number);
        let administrates = name.ends_with("-config") || (name.starts_with("nvme") && name.ends_with("q0"));
        if administrates || name.ends_with("-event") || name.ends_with("-control") {
            continue;
        }
        let effective = list(root, &format!("proc/irq/{number}/effective_affinity_list"));
        let cpus = effective.or_else(|_| list(root, &format!("proc/irq/{number}/smp_affinity_list")));
        interrupts.push(QueueInterrupt { number, name, cpus: cpus? });
    }
    let none = || unread(&format!("{}/device/msi_irqs", of(name)), UnreadCause::Empty);
    if interrupts.is_empty() { Err(none()) } else { Ok(interrupts) }
}

/// Parses ` 36: 0 6225157 PCI-MSIX-0000:00:02.0 1-edge virtio1-req.0`.
fn interrupt_name(table: &str, number: u32) -> String {
    let line = table.lines().find_map(|line| line.trim_start().strip_prefix(&format!("{number}:")));
    line.and_then(|line| line.split_whitespace().last()).unwrap_or_default().to_owned()
}

/// Returns the device of a disk in `/sys` and all its ancestors, nearest first.
fn parents(root: &Path, name: &str) -> Vec<PathBuf> {
    let Ok(home) = root.canonicalize() else { return Vec::new() };
    let Ok(device) = resolve(root, &format!("{}/device", of(name))) else { return Vec::new() };
    device.ancestors().take_while(|place| **place != home).map(Path::to_path_buf).collect()
}

/// Returns the path below `root` of a file or directory of a disk's device, or of the nearest ancestor that has it.
fn nearest(root: &Path, name: &str, file: &str) -> Reading<String> {
    let found = parents(root, name).into_iter().map(|place| place.join(file)).find(|place| place.exists());
    let missing = || unread(&format!("{}/device/{file}", of(name)), UnreadCause::Missing);
    let found = found.ok_or_else(missing)?;
    let home = root.canonicalize().unwrap_or_else(|_| root.to_path_buf());
    Ok(found.strip_prefix(&home).unwrap_or(&found).to_string_lossy().into_owned())
}

//! Files and devices as stores.

use std::os::unix::fs::MetadataExt;
use std::path::Path;

use engine::disk::{Disk, DiskOptions};
use nbd::store::conformance::{TestedStore, check, perform, read};
use nbd::store::{Operation, Store, StoreProgress};
use nbd::wire::Errno;
use units::random::Random;

use crate::gate::gate_of_any_content;
use crate::loops::Loop;
use crate::scratch::Scratch;

const SIZE: u64 = 1 << 20;

/// Returns all modes of using a file: with and without the page cache, with and without a ring.
fn modes(path: &Path) -> [DiskOptions; 4] {
    [(false, true), (true, true), (false, false), (true, false)].map(|(direct, ring)| DiskOptions {
        direct,
        ring,
        ..DiskOptions::new(path)
    })
}

fn open(options: &DiskOptions) -> Disk {
    let disk = Disk::open(options, &gate_of_any_content()).unwrap();
    assert_eq!(disk.has_ring(), options.ring, "this host supports io_uring");
    disk
}

fn fill(path: &Path, random: &mut Random) -> Vec<u8> {
    let mut content = vec![0; SIZE as usize];
    random.fill(&mut content[..300_000]);
    std::fs::write(path, &content).unwrap();
    content
}

fn conforms(options: &DiskOptions) {
    let mut random = Random::new(7, 0);
    let content = fill(&options.path, &mut random);
    let subject = TestedStore { content, seeds: 0..6, ..TestedStore::default() };
    check(
        |_| {
            fill(&options.path, &mut Random::new(7, 0));
            Box::new(open(options))
        },
        &subject,
    );
}

#[test]
fn files_conform_with_and_without_the_page_cache() {
    let scratch = Scratch::new("disk-conforms");
    modes(&scratch.path("image")).iter().for_each(conforms);
}

#[test]
fn files_of_any_size_conform_through_the_page_cache() {
    let scratch = Scratch::new("disk-odd");
    let path = scratch.path("image");
    for size in [1, 5000, 300_001] {
        let make = |_| {
            std::fs::write(&path, vec![3; size]).unwrap();
            Box::new(open(&DiskOptions::new(&path))) as Box<dyn Store>
        };
        check(make, &TestedStore { content: vec![3; size], seeds: 0..3, ..TestedStore::default() });
    }
}

#[test]
fn files_in_memory_conform() {
    let path = Path::new("/dev/shm").join(format!("fathom-disk-{}", std::process::id()));
    conforms(&DiskOptions::new(&path));
    std::fs::remove_file(&path).unwrap();
}

#[test]
fn devices_conform_with_and_without_the_page_cache() {
    let scratch = Scratch::new("disk-device");
    let image = scratch.path("image");
    fill(&image, &mut Random::new(7, 0));
    let Some(device) = Loop::over(&image) else { return };
    modes(device.path()).iter().for_each(conforms);
}

#[test]
fn a_file_is_created_as_one_hole_of_the_requested_size() {
    let scratch = Scratch::new("disk-made");
    let path = scratch.path("image");
    let options = DiskOptions { bytes: Some(1 << 40), ..DiskOptions::new(&path) };
    let mut disk = open(&options);
    assert_eq!((disk.size(), std::fs::metadata(&path).unwrap().blocks()), (1 << 40, 0));
    let extents = disk.extents(0, 1 << 40, 10).unwrap();
    assert!(extents.len() == 1 && extents[0].zero && extents[0].hole, "{extents:?}");
    let write = Operation::Write { offset: 1 << 39, data: &[1; 4096][..], durable: false };
    perform(&mut disk, 0, write).unwrap();
    assert_eq!(disk.extents(0, 1 << 40, 10).unwrap().len(), 3);
    perform(&mut disk, 0, Operation::Trim { offset: 0, length: 1 << 40, durable: true }).unwrap();
    assert_eq!((read(&mut disk, 1 << 39, 10), disk.extents(0, 1 << 40, 10).unwrap().len()), (Ok(vec![0; 10]), 1));
    drop(disk);
    assert!(Disk::open(&options, &gate_of_any_content()).is_ok(), "it exists with this size");
    let other = DiskOptions { bytes: Some(SIZE), ..options };
    let refused = Disk::open(&other, &gate_of_any_content()).err().unwrap().to_string();
    assert!(refused.contains("1099511627776 bytes (1 TiB), but 1048576 were requested"), "{refused}");
}

/// Revision 692e655 checked by name whether the file was empty and resized the file that the gate had admitted: its
/// content was truncated.
#[test]
fn a_renamed_path_truncated_the_admitted_file() {
    let scratch = Scratch::new("disk-moved");
    let path = scratch.path("image");
    std::fs::write(&path, b"precious").unwrap();
    let gate = gate_of_any_content();
    gate.admit(&path).unwrap();
    std::fs::rename(&path, scratch.path("moved")).unwrap();
    std::fs::write(&path, b"").unwrap();
    let refused =
        Disk::open(&DiskOptions { bytes: Some(4), ..DiskOptions::new(&path) }, &gate).err().unwrap().to_string();
    assert!(refused.contains("8 bytes") && refused.contains("4 were requested"), "{refused}");
    assert_eq!(std::fs::read(scratch.path("moved")).unwrap(), b"precious");
    assert_eq!(std::fs::read(&path).unwrap(), b"");
}

/// A device that is read-only until this is dropped: loop devices stay read-only after they are detached.
struct ReadOnly<'a>(&'a Path);

impl<'a> ReadOnly<'a> {
    fn new(device: &'a Path) -> Self {
        set(device, "--setro");
        Self(device)
    }
}

impl Drop for ReadOnly<'_> {
    fn drop(&mut self) {
        set(self.0, "--setrw");
    }
}

fn set(device: &Path, option: &str) {
    assert!(std::process::Command::new("blockdev").arg(option).arg(device).status().unwrap().success());
}

/// Revision 692e655 checked by name whether the device was writable and served the device that the gate had admitted.
#[test]
fn a_renamed_path_hid_that_the_admitted_device_is_read_only() {
    let scratch = Scratch::new("disk-read-only-device");
    let (link, other) = (scratch.path("link"), scratch.path("other"));
    let Some(device) = Loop::over(&scratch.file("image", SIZE)) else { return };
    let _read_only = ReadOnly::new(device.path());
    std::os::unix::fs::symlink(device.path(), &link).unwrap();
    let gate = gate_of_any_content();
    gate.admit(&link).unwrap();
    std::os::unix::fs::symlink(scratch.file("file", SIZE), &other).unwrap();
    std::fs::rename(&other, &link).unwrap();
    let refused = Disk::open(&DiskOptions::new(&link), &gate).err().unwrap().to_string();
    assert!(refused.contains("read-only") && refused.contains("setrw"), "{refused}");
}

#[test]
fn unusable_files_are_refused_with_a_remedy() {
    let scratch = Scratch::new("disk-refused");
    let odd = scratch.file("odd", 1000);
    let refused = |options: DiskOptions| Disk::open(&options, &gate_of_any_content()).err().unwrap().to_string();
    let direct = refused(DiskOptions { direct: true, ..DiskOptions::new(&odd) });
    assert!(direct.contains("1000 bytes is not a multiple") && direct.contains("truncate"), "{direct}");
    let empty = refused(DiskOptions::new(scratch.file("empty", 0)));
    assert!(empty.contains("empty") && empty.contains("size"), "{empty}");
    assert!(refused(DiskOptions::new("/dev/null")).contains("character device"));
    assert!(refused(DiskOptions::new(scratch.path("none"))).contains("none"));
}

#[test]
fn a_read_only_store_is_neither_created_nor_changed() {
    let scratch = Scratch::new("disk-read-only");
    let path = scratch.path("image");
    let options = DiskOptions { read_only: true, bytes: Some(SIZE), ..DiskOptions::new(&path) };
    assert!(Disk::open(&options, &gate_of_any_content()).is_err() && !path.exists());
    fill(&path, &mut Random::new(7, 0));
    let mut disk = open(&options);
    assert!(!disk.abilities().write);
    let write = Operation::Write { offset: 0, data: &[1][..], durable: false };
    assert_eq!(disk.start(0, write), StoreProgress::Ended(Err(Errno::NotPermitted)));
}

#[test]
fn a_busy_slot_rejects_operations() {
    let scratch = Scratch::new("disk-busy");
    let mut disk = open(&DiskOptions::new(scratch.file("image", SIZE)));
    assert_eq!(disk.start(0, Operation::Read { offset: 0, length: 4096 }), StoreProgress::Pending);
    assert_eq!(
        disk.start(0, Operation::Read { offset: 0, length: 1 << 20 }),
        StoreProgress::Ended(Err(Errno::Invalid))
    );
    let mut room = [std::io::IoSlice::new(&[]); 4];
    let mut pieces = nbd::store::Pieces::new(&mut room);
    disk.lend(0, 0, 4096, 0, &mut pieces);
    assert_eq!(pieces.bytes(), 0, "unread bytes are not lent");
}

#[test]
fn more_operations_than_ring_entries_all_complete() {
    let scratch = Scratch::new("disk-many");
    let mut disk = open(&DiskOptions::new(scratch.file("image", SIZE)));
    for slot in 0..2000 {
        let offset = u64::from(slot) * 512;
        assert_eq!(disk.start(slot, Operation::Read { offset, length: 512 }), StoreProgress::Pending);
    }
    let mut ended = Vec::new();
    while ended.len() < 2000 {
        disk.submit();
        disk.collect(&mut ended);
    }
    assert!(ended.iter().all(|end| end.result.is_ok()));
}

/// Returns the flushes that a device has completed: the 16th field of its `stat`
/// (<https://docs.kernel.org/admin-guide/iostats.html>).
fn flushes(device: &Path) -> u64 {
    let name = device.file_name().unwrap().to_str().unwrap();
    let text = std::fs::read_to_string(format!("/sys/block/{name}/stat")).unwrap();
    text.split_whitespace().nth(15).unwrap().parse().unwrap()
}

#[test]
fn flushes_and_durable_changes_reach_the_device() {
    let scratch = Scratch::new("disk-flush");
    let Some(device) = Loop::over(&scratch.file("image", SIZE)) else { return };
    for options in modes(device.path()) {
        let mut disk = open(&options);
        let mut flushed = |operation| {
            let before = flushes(device.path());
            perform(&mut disk, 0, operation).unwrap();
            flushes(device.path()) > before
        };
        let write = |durable| Operation::Write { offset: 0, data: &[1; 4096][..], durable };
        let zero = |durable| Operation::Zero { offset: 0, length: 8192, durable, allocated: false, fast: false };
        let trim = |durable| Operation::Trim { offset: 0, length: 8192, durable };
        for operation in [write(false), zero(false), trim(false)] {
            assert!(!flushed(operation), "{options:?}: {operation:?} need not be durable");
        }
        for operation in [write(true), zero(true), trim(true), write(false), Operation::Flush] {
            let wanted = operation != write(false);
            assert_eq!(flushed(operation), wanted, "{options:?}: {operation:?}");
        }
    }
}

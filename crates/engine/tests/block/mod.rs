//! Disks behind FUSE mounts: as files, as loop devices, under a filesystem, and after their server has died.

mod server;

use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use engine::block::{
    BlockDriver, KernelNbd, Lease, LoopSetup, MountSetup, abandoned, attach_loop, available_driver, detach_loop,
    loop_devices, mount_file, unmount,
};
use nbd::fuse::MOST_BYTES;
use rustix::fs::{FallocateFlags, SeekFrom, fallocate, ftruncate, seek, statvfs};
use rustix::io::Errno;
use rustix::thread::{CapabilitySet, capabilities, set_capabilities};

use crate::loops::{Loop, skip};
use crate::scratch::Scratch;
use server::FuseServer;

const SIZE: usize = 64 << 20;
const DEPTH: usize = 32;
const LOOP: LoopSetup = LoopSetup { block_bytes: 512, size: 0, read_only: false, direct: true };

fn setup() -> MountSetup {
    MountSetup { source: "a, b".to_owned(), read_only: false, others: false, most_bytes: MOST_BYTES }
}

/// A disk that is mounted as a file and served by a thread.
struct MountedDisk {
    lease: Lease,
    server: JoinHandle<usize>,
}

impl MountedDisk {
    /// Returns `None` if this host or user does not support FUSE mounts.
    fn new(directory: &Path, hold: Duration) -> Option<Self> {
        let lease = Lease::new(directory).unwrap();
        match mount_file(&lease.mount_point(), &setup()) {
            Ok(fuse) => Some(Self { lease, server: FuseServer::new(fuse, SIZE, hold).start() }),
            Err(error) => {
                lease.tear_down().unwrap();
                skip(&error.to_string())
            }
        }
    }

    fn file(&self) -> File {
        OpenOptions::new().read(true).write(true).open(self.lease.mount_point()).unwrap()
    }

    fn attach(&self) -> Option<PathBuf> {
        attach_loop(&self.lease.mount_point(), &LOOP).map_or_else(|error| skip(&error.to_string()), Some)
    }

    /// Returns the maximum number of operations in flight.
    fn close(self) -> usize {
        self.lease.tear_down().unwrap();
        assert!(!self.lease.is_mounted() && self.lease.loop_devices().is_empty());
        assert!(!self.lease.mount_point().exists());
        self.server.join().unwrap()
    }
}

fn run(program: &str, arguments: &[&str]) {
    let output = Command::new(program).args(arguments).output().unwrap_or_else(|error| panic!("{program}: {error}"));
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{program} {arguments:?}: {out}{err}");
}

#[test]
fn a_mounted_file_reads_what_was_written() {
    let scratch = Scratch::new("fuse-file");
    let Some(disk) = MountedDisk::new(&scratch.path("run"), Duration::ZERO) else { return };
    let file = disk.file();
    assert_eq!(file.metadata().unwrap().len(), SIZE as u64);
    let text = vec![0xa5; 3 << 20];
    file.write_all_at(&text, 8192).unwrap();
    file.sync_all().unwrap();
    let mut back = vec![0; text.len() + 1];
    file.read_exact_at(&mut back, 8191).unwrap();
    assert_eq!((back[0], &back[1..]), (0, &text[..]));

    let end = SIZE as u64;
    assert_eq!(file.read_at(&mut back, end - 5).unwrap(), 5);
    assert_eq!(file.write_at(&[1; 10], end - 5).unwrap(), 5, "a write across the end is shortened, as on a disk");
    assert_eq!(file.write_at(&[1], end).unwrap_err().raw_os_error(), Some(libc::ENOSPC));
    drop(file);
    disk.close();
}

#[test]
fn a_mounted_file_has_holes_and_keeps_its_size() {
    let scratch = Scratch::new("fuse-holes");
    let Some(disk) = MountedDisk::new(&scratch.path("run"), Duration::ZERO) else { return };
    let file = disk.file();
    file.write_all_at(&[1; 16384], 0).unwrap();
    fallocate(&file, FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE, 4096, 4096).unwrap();
    fallocate(&file, FallocateFlags::ZERO_RANGE, 12288, 4096).unwrap();
    let mut back = [2; 16384];
    file.read_exact_at(&mut back, 0).unwrap();
    let blocks: Vec<u8> = back.chunks(4096).map(|block| block[0]).collect();
    assert_eq!(blocks, [1, 0, 1, 0]);
    assert_eq!(seek(&file, SeekFrom::Hole(0)), Ok(4096));
    assert_eq!(seek(&file, SeekFrom::Data(4096)), Ok(8192));
    assert_eq!(seek(&file, SeekFrom::Data(12288)), Err(Errno::NXIO));
    assert_eq!(ftruncate(&file, 0), Err(Errno::PERM));
    assert_eq!(ftruncate(&file, SIZE as u64), Ok(()));
    let facts = statvfs(disk.lease.mount_point()).unwrap();
    assert_eq!((facts.f_bsize, facts.f_blocks), (4096, SIZE as u64 / 4096));
    drop(file);
    disk.close();
}

#[test]
fn a_read_only_mount_rejects_writes_and_a_mount_in_use_unmounts_lazily() {
    let scratch = Scratch::new("fuse-lazy");
    let lease = Lease::new(&scratch.path("run")).unwrap();
    let at = lease.mount_point();
    let fuse = match mount_file(&at, &MountSetup { read_only: true, ..setup() }) {
        Ok(fuse) => fuse,
        Err(error) => return skip(&error.to_string()).unwrap_or(()),
    };
    let server = FuseServer::new(fuse, SIZE, Duration::ZERO).start();
    let refused = OpenOptions::new().write(true).open(&at).unwrap_err();
    assert_eq!(refused.raw_os_error(), Some(libc::EROFS));
    let file = File::open(&at).unwrap();
    let error = unmount(&at, false).unwrap_err();
    assert_eq!(error.errno, Some(libc::EBUSY), "{error}");
    unmount(&at, true).unwrap();
    assert!(!lease.is_mounted());
    assert_eq!(file.read_at(&mut [0; 10], 0).unwrap(), 10, "an open file remains usable");
    drop(file);
    server.join().unwrap();
    let error = unmount(&at, false).unwrap_err();
    assert!(error.to_string().contains("nothing is mounted there"), "{error}");
    lease.tear_down().unwrap();
}

#[test]
fn an_unprivileged_user_mounts_through_the_helper() {
    let scratch = Scratch::new("fuse-helper");
    let unprivileged = std::thread::spawn(move || {
        // Applies only to this thread; the helper has the capability.
        let mut sets = capabilities(None).unwrap();
        sets.effective.remove(CapabilitySet::SYS_ADMIN);
        set_capabilities(None, sets).unwrap();
        let Some(disk) = MountedDisk::new(&scratch.path("run"), Duration::ZERO) else { return };
        assert_eq!(disk.file().read_at(&mut [0; 10], 4090).unwrap(), 10);
        disk.close();
    });
    unprivileged.join().unwrap();
}

#[test]
fn ext4_on_a_loop_device_over_a_mount_is_clean() {
    let scratch = Scratch::new("fuse-ext4");
    let Some(disk) = MountedDisk::new(&scratch.path("run"), Duration::ZERO) else { return };
    let Some(device) = disk.attach() else { return };
    let found = loop_devices(Path::new("/")).into_iter().find(|found| found.path == device).unwrap();
    assert!(found.direct && found.backing == disk.lease.mount_point(), "{found:?}");

    let (device, at) = (device.to_str().unwrap(), scratch.path("mnt"));
    std::fs::create_dir(&at).unwrap();
    run("mkfs.ext4", &["-q", device]);
    run("mount", &["-t", "ext4", device, at.to_str().unwrap()]);
    for number in 0..20 {
        std::fs::write(at.join(format!("file{number}")), vec![number; 500_000]).unwrap();
    }
    run("umount", &[at.to_str().unwrap()]);
    run("e2fsck", &["-f", "-n", device]);
    run("mount", &["-t", "ext4", "-o", "ro", device, at.to_str().unwrap()]);
    assert!((0..20).all(|number| std::fs::read(at.join(format!("file{number}"))).unwrap() == vec![number; 500_000]));
    run("umount", &[at.to_str().unwrap()]);
    run("blkdiscard", &[device]);
    disk.close();
}

/// Without the right settings the kernel keeps at most twelve requests in flight, and writes one at a time.
#[test]
fn the_file_and_its_loop_device_keep_many_requests_in_flight() {
    // Replies wait for this long for another request. A busy host may need longer to start all threads.
    const HOLDS_MS: [u64; 3] = [100, 1_000, 10_000];
    let scratch = Scratch::new("fuse-depth");
    for (through_loop, write) in [(false, false), (false, true), (true, false), (true, true)] {
        let mut found = Vec::new();
        for hold_ms in HOLDS_MS {
            let hold = Duration::from_millis(hold_ms);
            let Some(most) = most_in_flight(&scratch.path("run"), hold, through_loop, write) else { return };
            found.push(most);
            if most >= DEPTH * 3 / 4 {
                break;
            }
        }
        let is_enough = found.last().is_some_and(|most| *most >= DEPTH * 3 / 4);
        assert!(is_enough, "{found:?} in flight, through a loop device: {through_loop}, writes: {write}");
    }
}

/// Returns the maximum of requests in flight while each of many threads reads or writes a block.
fn most_in_flight(directory: &Path, hold: Duration, through_loop: bool, write: bool) -> Option<usize> {
    let disk = MountedDisk::new(directory, hold)?;
    let path = if through_loop { disk.attach()? } else { disk.lease.mount_point() };
    // Until a program queries the size, the kernel treats each write as one that extends the file.
    assert_eq!(disk.file().metadata().unwrap().len(), SIZE as u64);
    std::thread::scope(|scope| {
        for number in 0..DEPTH as u64 {
            let path = &path;
            scope.spawn(move || one_block(path, number << 20, write));
        }
    });
    Some(disk.close())
}

fn one_block(path: &Path, offset: u64, write: bool) {
    #[repr(align(4096))]
    struct Block([u8; 4096]);
    let file = OpenOptions::new().read(true).write(write).custom_flags(libc::O_DIRECT).open(path).unwrap();
    let mut block = Block([1; 4096]);
    if write {
        file.write_all_at(&block.0, offset).unwrap();
    } else {
        file.read_exact_at(&mut block.0, offset).unwrap();
        assert_eq!(block.0, [0; 4096]);
    }
}

/// If this variable is set, the process is the server to be killed.
const CHILD: &str = "FATHOM_TEST_DISK_IN";

#[test]
fn devices_of_a_killed_server_are_found_and_removed() {
    if let Some(directory) = std::env::var_os(CHILD) {
        return serve_until_killed(Path::new(&directory));
    }
    let scratch = Scratch::new("fuse-killed");
    let directory = scratch.path("run");
    let Some(mut child) = killable(&directory) else { return };
    let (none, errors) = abandoned(&directory);
    assert!(none.is_empty() && errors.is_empty(), "its process is alive: {none:?} {errors:?}");
    child.kill().unwrap();
    child.wait().unwrap();

    let (left, errors) = abandoned(&directory);
    assert!(left.len() == 1 && errors.is_empty(), "{left:?} {errors:?}");
    let lease = &left[0];
    assert_eq!(lease.pid(), child.id());
    assert!(lease.is_mounted());
    let devices = lease.loop_devices();
    assert_eq!(devices.len(), 1);
    assert!(abandoned(&directory).0.is_empty(), "this process holds the lease");
    let user = File::open(&devices[0]).unwrap();
    let errors = lease.tear_down().unwrap_err();
    assert!(errors.len() == 1 && errors[0].to_string().contains("it is in use"), "{errors:?}");
    assert!(lease.is_mounted() && lease.loop_devices() == devices, "a later cleanup must find it");
    drop(user);
    lease.tear_down().unwrap();
    assert!(!lease.is_mounted() && lease.loop_devices().is_empty());
    assert!(!loop_devices(Path::new("/")).iter().any(|found| found.path == devices[0] && is_in(found, &directory)));
    assert_eq!(std::fs::read_dir(&directory).unwrap().count(), 0);
}

fn is_in(device: &engine::block::LoopDevice, directory: &Path) -> bool {
    device.backing.starts_with(directory)
}

/// Runs this test as another process that serves a disk; `None` if it cannot have one.
fn killable(directory: &Path) -> Option<Child> {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "block::devices_of_a_killed_server_are_found_and_removed", "--nocapture"])
        .env(CHILD, directory)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
    if lines.any(|line| line.contains("is attached")) {
        return Some(child);
    }
    child.wait().unwrap();
    skip("the other process has no disk")
}

fn serve_until_killed(directory: &Path) {
    let Some(disk) = MountedDisk::new(directory, Duration::ZERO) else { return };
    let Some(_device) = disk.attach() else { return };
    println!("it is attached");
    std::io::stdout().flush().unwrap();
    disk.server.join().unwrap();
}

#[test]
fn damaged_records_are_reported_and_left_alone() {
    let scratch = Scratch::new("leases-damaged");
    let directory = scratch.path("run");
    assert!(abandoned(&directory).0.is_empty(), "the directory is missing");
    let alive = Lease::new(&directory).unwrap();
    assert_ne!(alive.mount_point(), Lease::new(&directory).unwrap().mount_point());
    for (name, text) in
        [("1-0", ""), ("1-1", "fathom device 1\npid "), ("1-2", "\u{0}\u{1}"), ("1-3", "fathom device 9\npid 4")]
    {
        std::fs::write(directory.join(format!("fathom-{name}.device")), text).unwrap();
    }
    std::fs::create_dir(directory.join("fathom-1-4.device")).unwrap();
    std::os::unix::fs::symlink("fathom-1-0.device", directory.join("fathom-1-5.device")).unwrap();
    std::fs::write(directory.join("other.device"), "").unwrap();

    let (left, errors) = abandoned(&directory);
    assert_eq!(left.len(), 1, "only the lease that was dropped above: {left:?}");
    let messages: Vec<String> = errors.iter().map(ToString::to_string).collect();
    assert_eq!(messages.len(), 6, "{messages:?}");
    assert!((0..6).all(|number| messages[number].contains(&format!("fathom-1-{number}.device"))), "{messages:?}");
    left[0].tear_down().unwrap();
    assert!(alive.mount_point().exists() && directory.join("fathom-1-0.device").exists());
    alive.tear_down().unwrap();
}

#[test]
fn a_loop_device_over_another_file_is_not_detached() {
    let scratch = Scratch::new("leases-foreign");
    let Some(foreign) = Loop::over(&scratch.file("other", 1 << 20)) else { return };
    let lease = Lease::new(&scratch.path("run")).unwrap();
    assert!(lease.loop_devices().is_empty());
    lease.tear_down().unwrap();
    assert!(loop_devices(Path::new("/")).iter().any(|found| found.path == foreign.path()));
}

#[test]
fn a_loop_device_in_use_is_reported_and_detached_after_its_last_user() {
    let scratch = Scratch::new("loop-in-use");
    let file = scratch.file("backing", 1 << 20);
    let device = match attach_loop(&file, &LoopSetup { block_bytes: 4096, size: 512 << 10, ..LOOP }) {
        Ok(device) => device,
        Err(error) => return skip(&error.to_string()).unwrap_or(()),
    };
    let name = device.file_name().unwrap().to_str().unwrap();
    let sectors = std::fs::read_to_string(format!("/sys/block/{name}/size")).unwrap();
    assert_eq!(sectors.trim(), "1024");
    let user = File::open(&device).unwrap();
    assert_ne!(user.metadata().unwrap().rdev(), 0);
    let error = detach_loop(&device).unwrap_err();
    assert!(error.to_string().contains("it is in use"), "{error}");
    drop(user);
    let ours = file.canonicalize().unwrap();
    // Another program may have it open for a moment, such as one that looks at all devices.
    let is_attached = || loop_devices(Path::new("/")).iter().any(|found| found.backing == ours);
    let patience = Instant::now() + Duration::from_secs(30);
    while is_attached() {
        assert!(Instant::now() < patience, "{} is still attached", device.display());
        std::thread::sleep(Duration::from_millis(10));
    }
    detach_loop(&device).unwrap();
}

/// If the driver is loaded, this opens a device without using it.
#[test]
fn a_missing_nbd_driver_is_reported_with_a_remedy() {
    match (available_driver(Path::new("/")), KernelNbd::open()) {
        (BlockDriver::KernelNbd, Ok(device)) => assert!(device.path().starts_with("/dev") && !device.is_ready()),
        (BlockDriver::KernelNbd, Err(error)) => assert!(error.problem.help.is_some(), "{error}"),
        (BlockDriver::FuseLoop, opened) => assert!(opened.unwrap_err().to_string().contains("modprobe nbd")),
    }
}

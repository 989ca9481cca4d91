//! The engine `e4defrag` exchanges extents as fio's does, keeps the data of files, and destroys those of a donor only
//! with permission.

use std::fs;

use crate::common::devices::{LoopDevice, Mount, tool};
use crate::common::json::Json;
use crate::common::{Outcome, Scratch, fathom, fio, require, run, words};

const MIB: usize = 1 << 20;

/// A mounted ext4 filesystem of 64 MiB. Fields are dropped in order.
struct Ext4 {
    mount: Mount,
    _device: LoopDevice,
    _scratch: Scratch,
}

impl Ext4 {
    fn new() -> Self {
        let scratch = Scratch::new();
        let image = scratch.sparse("image", 64 << 20);
        tool("mkfs.ext4", &["-q", "-b", "4096", &image]);
        let device = LoopDevice::over(image.as_ref());
        let mount = Mount::new(&device.path, scratch.path("mount"));
        Self { mount, _device: device, _scratch: scratch }
    }

    fn write(&self, name: &str, byte: u8) {
        fs::write(self.mount.at.join(name), vec![byte; MIB]).unwrap();
        self.sync();
    }

    fn sync(&self) {
        tool("sync", &["--file-system", &self.mount.at.to_string_lossy()]);
        let _ = fs::write("/proc/sys/vm/drop_caches", "1");
    }

    fn read(&self, name: &str) -> Vec<u8> {
        fs::read(self.mount.at.join(name)).unwrap()
    }

    /// Returns the physical extents of a file.
    fn extents(&self, name: &str) -> Vec<String> {
        let table = tool("filefrag", &["-v", &self.mount.at.join(name).to_string_lossy()]);
        let rows = table.lines().filter(|line| line.contains(".."));
        rows.map(|line| line.split(':').nth(2).unwrap_or_default().trim().to_owned()).collect()
    }

    fn fathom(&self, command: &str, line: &str) -> Outcome {
        run(fathom(words(&format!("{command} --name=a --ioengine=e4defrag {line}"))).current_dir(&self.mount.at))
    }

    fn fio(&self, line: &str) -> Outcome {
        run(fio(words(&format!("--name=a --ioengine=e4defrag {line}"))).current_dir(&self.mount.at))
    }

    fn names(&self) -> Vec<(String, u64)> {
        let entries = fs::read_dir(&self.mount.at).unwrap().flatten();
        let size =
            |entry: fs::DirEntry| (entry.file_name().to_string_lossy().into_owned(), entry.metadata().unwrap().len());
        let mut names: Vec<_> = entries.map(size).filter(|(name, _)| name != "lost+found").collect();
        names.sort();
        names
    }
}

fn counts(outcome: &Outcome) -> [u64; 4] {
    let json = Json::read_after_notes(&outcome.stdout);
    let fields = ["write/total_ios", "write/io_bytes", "write/clat_ns/N", "error"];
    fields.map(|field| json.whole(&format!("jobs/0/{field}")))
}

#[test]
fn exchanges_are_those_of_fio() {
    require!(Root, Fio);
    let base = "--output-format=json --filename=f --filesize=1m --size=1m --donorname=d --rw=write";
    for (options, has_data) in [
        ("--bs=64k --inplace=0", false),
        ("--bs=64k --inplace=1", false),
        ("--bs=64k --inplace=0", true),
        ("--bs=64k --inplace=1 --rw=randwrite", true),
        ("--bs=512 --inplace=0", true),
        ("--bs=12k --inplace=1", true),
        ("--bs=64k --inplace=0 --number_ios=3", true),
    ] {
        let line = format!("{base} {options}");
        let [ours, theirs] = [true, false].map(|is_ours| {
            let disk = Ext4::new();
            if has_data {
                disk.write("f", 7);
            }
            let before = if has_data { disk.extents("f") } else { Vec::new() };
            let outcome = if is_ours { disk.fathom("fio", &line) } else { disk.fio(&line) };
            assert_eq!(outcome.code(), Some(0), "{line}\n{}", outcome.stderr);
            let found = counts(&outcome);
            disk.sync();
            if has_data {
                assert!(disk.read("f") == vec![7; MIB], "{line}");
                // Eight exchanges of the same block of the filesystem undo each other.
                assert_eq!(disk.extents("f") == before, options.contains("bs=512"), "{line}");
            }
            (found, disk.names())
        });
        assert_eq!(ours, theirs, "{line}");
        assert!(ours.0[0] > 0 && ours.0[3] == 0, "{line}: {ours:?}");
    }
}

/// A hole has no extent to exchange. fio fails with the same error.
#[test]
fn holes_and_other_directions_fail_as_in_fio() {
    require!(Root, Fio);
    for (options, errno) in [("--rw=write", 61), ("--rw=read", 22), ("--rw=trim", 22), ("--rw=write --donorname=f", 22)]
    {
        let line = format!(
            "--output-format=json --filename=f --filesize=1m --size=1m --bs=64k --donorname=d --inplace=0 {options}"
        );
        let errors = [true, false].map(|is_ours| {
            let disk = Ext4::new();
            fs::File::create(disk.mount.at.join("f")).unwrap().set_len(MIB as u64).unwrap();
            let outcome = if is_ours { disk.fathom("fio", &line) } else { disk.fio(&line) };
            assert_ne!(outcome.code(), Some(0), "{line}");
            Json::read_after_notes(&outcome.stdout).whole("jobs/0/error")
        });
        // A donor that is a file of the job is refused before the first operation, without a system call.
        let is_own_donor = options.ends_with("donorname=f");
        assert_eq!(errors[1], errno, "{line}");
        assert!(errors[0] == errno || is_own_donor, "{line}: {errors:?}");
    }
}

/// A filesystem of the host that is not ext4.
#[test]
fn another_filesystem_is_refused_with_the_reason() {
    let scratch = Scratch::new();
    let directory = std::path::Path::new("/dev/shm").join(format!("fathom-defragment-{}", std::process::id()));
    fs::create_dir(&directory).unwrap();
    let line = format!(
        "run --name=a --ioengine=e4defrag --directory={} --size=64k --donorname=d --rw=write",
        directory.display()
    );
    let outcome = run(fathom(words(&line)).current_dir(&scratch));
    fs::remove_dir_all(&directory).unwrap();
    assert_ne!(outcome.code(), Some(0));
    assert!(outcome.stderr.contains("it is not on ext4"), "{}", outcome.stderr);
}

/// The exchange leaves the donor without its data, so it is a target of writes like any other.
#[test]
fn a_donor_with_data_needs_permission() {
    require!(Root);
    let disk = Ext4::new();
    disk.write("d", 5);
    let before = disk.extents("d");
    let line = "--filename=f --filesize=1m --size=1m --bs=64k --donorname=d --rw=write";
    let outcome = disk.fathom("run", line);
    assert!(outcome.stderr.contains("d would be overwritten"), "{}", outcome.stderr);
    assert_ne!(outcome.code(), Some(0));
    let dry = disk.fathom("run", &format!("{line} --dry-run"));
    assert!(dry.stdout.contains("EXCHANGES EXTENTS of f with d, whose data is lost"), "{}", dry.stdout);
    disk.sync();
    assert!(disk.read("d") == vec![5; MIB]);
    assert_eq!(disk.extents("d"), before);
    let outcome = disk.fathom("run", &format!("{line} --allow-overwrite=d"));
    assert_eq!(outcome.code(), Some(0), "{}", outcome.stderr);
    // Files that Fathom has made may be used again.
    for _ in 0..2 {
        let outcome = disk.fathom("run", &line.replace("--donorname=d", "--donorname=new"));
        assert_eq!(outcome.code(), Some(0), "{}", outcome.stderr);
    }
}

/// Users of the donor count, not its name: it is a swap file, or the image of a mounted filesystem.
#[test]
fn a_donor_in_use_is_refused_by_fio_mode_too() {
    require!(Root);
    let disk = Ext4::new();
    disk.write("d", 5);
    let device = LoopDevice::over(&disk.mount.at.join("d"));
    fs::hard_link(disk.mount.at.join("d"), disk.mount.at.join("link")).unwrap();
    for donor in ["d", "link"] {
        let line = format!("--filename=f --filesize=1m --size=1m --donorname={donor} --rw=write");
        let outcome = disk.fathom("fio", &line);
        assert_ne!(outcome.code(), Some(0), "{donor}");
        assert!(outcome.stderr.contains("would be overwritten"), "{donor}: {}", outcome.stderr);
    }
    drop(device);
    disk.sync();
    assert!(disk.read("d") == vec![5; MIB]);
}

#[test]
fn a_donor_must_be_named_and_the_direction_be_a_write() {
    for (options, words_of_error) in [
        ("--rw=write", "`e4defrag` needs a donor file"),
        ("--rw=read --donorname=d", "the engine `e4defrag` supports writes only"),
    ] {
        let line = format!("run --name=a --ioengine=e4defrag --size=64k {options}");
        let outcome = run(&mut fathom(words(&line)));
        assert!(outcome.stderr.contains(words_of_error), "{}", outcome.stderr);
    }
}

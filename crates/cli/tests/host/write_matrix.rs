//! All commands, engines, kinds of targets and options that decide the direction: a target changes only if a dry run
//! announces a write, and only if no rule forbids it.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::common::cases::at_night;
use crate::common::devices::{LoopDevice, Mount, SwapArea, tool};
use crate::common::{Outcome, Running, Scratch, at_once, fathom, require, run, words};

const IMAGE_BYTES: u64 = 4 << 20;

const ENGINES: [&str; 10] =
    ["psync", "sync", "vsync", "pvsync", "pvsync2", "libaio", "io_uring", "posixaio", "mmap", "null"];

const DIRECTIONS: [&str; 9] =
    ["read", "write", "rw", "randread", "randwrite", "randrw", "trim", "randtrim", "trimwrite"];

/// Options that may decide whether a job writes.
const OPTIONS: [&str; 13] = [
    "",
    "--verify=crc32c",
    "--verify_only=1",
    "--verify=md5 --verify_only=1",
    "--verify=crc32c --do_verify=0",
    "--verify_only=1 --do_verify=0 --rwmixread=50",
    "--rwmixread=100",
    "--rwmixread=0 --verify_only=1",
    "--overwrite=1 --file_append=0",
    "--create_on_open=1 --verify_only=1",
    "--loops=2 --verify=crc32c --verify_only=1",
    "--openfiles=1 --end_fsync=1",
    "--time_based --runtime=20ms --verify_only=1",
];

/// A target with data that must stay unchanged.
struct Target {
    kind: &'static str,
    /// Options that name the target.
    named: String,
    /// File with the bytes of the target.
    image: PathBuf,
    /// Expected start of the content; all of it except for swap.
    before: Vec<u8>,
    /// Whether it is in use, so that `fathom fio` also protects it.
    in_use: bool,
    /// Whether it is a regular file, which a server may write unless it is in use.
    is_file: bool,
}

impl Target {
    fn new(kind: &'static str, path: &str, image: PathBuf, in_use: bool) -> Self {
        let before = fs::read(&image).expect("it can be read");
        let is_file = fs::metadata(path).expect("the target exists").is_file();
        Self { kind, named: format!("--filename={path}"), image, before, in_use, is_file }
    }

    fn path(&self) -> &str {
        self.named.strip_prefix("--filename=").expect("it has a path")
    }

    fn is_unchanged(&self) -> bool {
        // In parts: memory for whole images costs more than the comparison.
        let (image, mut part) = (fs::File::open(&self.image).expect("it can be read"), [0; 64 << 10]);
        self.before.chunks(part.len()).enumerate().all(|(number, before)| {
            let part = &mut part[..before.len()];
            image.read_exact_at(part, (number * (64 << 10)) as u64).is_ok() && part == before
        })
    }

    fn restore(&self) {
        // In place, because a loop device may use the file.
        let file = fs::File::options().write(true).open(&self.image).expect("it can be written");
        file.write_all_at(&self.before, 0).expect("it can be written");
    }
}

/// Keeps targets in use until the end.
#[derive(Default)]
struct InUse {
    mounts: Vec<Mount>,
    swaps: Vec<SwapArea>,
    devices: Vec<LoopDevice>,
    servers: Vec<Running>,
}

impl Drop for InUse {
    fn drop(&mut self) {
        // In this order, because mounted devices cannot be detached.
        self.mounts.clear();
        self.swaps.clear();
        self.servers.clear();
        while self.devices.pop().is_some() {}
    }
}

fn image(scratch: &Scratch, name: &str) -> PathBuf {
    scratch.sparse(name, IMAGE_BYTES);
    tool("mkfs.ext4", &["-q", "-F", &scratch.text(name)]);
    scratch.path(name)
}

fn mounted(device: &str, at: PathBuf) -> Mount {
    fs::create_dir(&at).expect("the scratch directory can be written to");
    // Read-only, so that the kernel itself writes nothing.
    tool("mount", &["-o", "ro,noload", device, &at.to_string_lossy()]);
    Mount { at }
}

fn targets(scratch: &Scratch, in_use: &mut InUse) -> Vec<Target> {
    let mut targets = Vec::new();
    let file = scratch.path("file");
    fs::write(&file, vec![0x5a; IMAGE_BYTES as usize]).expect("it can be written");
    targets.push(Target::new("file", &scratch.text("file"), file.clone(), false));
    std::os::unix::fs::symlink(&file, scratch.path("soft")).expect("it can be linked");
    targets.push(Target::new("link", &scratch.text("soft"), file.clone(), false));
    fs::hard_link(&file, scratch.path("hard")).expect("it can be linked");
    targets.push(Target::new("hard link", &scratch.text("hard"), file.clone(), false));
    scratch.write("bound", "");
    tool("mount", &["--bind", &file.to_string_lossy(), &scratch.text("bound")]);
    in_use.mounts.push(Mount { at: scratch.path("bound") });
    targets.push(Target::new("bind mount", &scratch.text("bound"), file, false));

    let plain = image(scratch, "plain");
    let device = LoopDevice::over(&plain);
    in_use.mounts.push(mounted(&device.path, scratch.path("at-plain")));
    targets.push(Target::new("mounted device", &device.path, plain.clone(), true));
    targets.push(Target::new("file of a device", &scratch.text("plain"), plain, true));
    in_use.devices.push(device);

    let below = image(scratch, "below");
    let lower = LoopDevice::over(&below);
    let upper = LoopDevice::over(Path::new(&lower.path));
    in_use.mounts.push(mounted(&upper.path, scratch.path("at-upper")));
    targets.push(Target::new("lower of two devices", &lower.path, below, true));
    in_use.devices.extend([lower, upper]);

    let device = LoopDevice::over(&image(scratch, "idle"));
    std::os::unix::fs::symlink(&device.path, scratch.path("to-idle")).expect("it can be linked");
    // Read through the device: writes reach its file only when the kernel closes the device.
    let through = PathBuf::from(&device.path);
    targets.push(Target::new("device", &device.path, through.clone(), false));
    targets.push(Target::new("link to a device", &scratch.text("to-idle"), through, false));
    in_use.devices.push(device);

    let swap = image(scratch, "swap");
    let device = LoopDevice::over(&swap);
    in_use.swaps.push(SwapArea::on(&device.path));
    let mut swap = Target::new("swap", &device.path, swap, true);
    // The kernel changes the content behind the header.
    swap.before.truncate(4096);
    targets.push(swap);
    in_use.devices.push(device);
    targets
}

fn export(scratch: &Scratch, in_use: &mut InUse) -> Target {
    let image = image(scratch, "export");
    let socket = scratch.text("export.sock");
    let line = format!("serve --backing file:{} --socket {socket}", image.display());
    in_use.servers.push(Running::serve(fathom(words(&line)).env("FATHOM_HOME", scratch.path("home")), &socket));
    let before = fs::read(&image).expect("it can be read");
    let named = format!("--uri=nbd+unix:///?socket={socket}");
    Target { kind: "export", named, image, before, in_use: false, is_file: false }
}

/// One row of the matrix.
struct Row<'a> {
    engine: &'a str,
    direction: &'a str,
    options: &'a str,
    target: &'a Target,
}

impl Row<'_> {
    fn job(&self) -> String {
        let Self { engine, direction, options, target } = self;
        format!("--ioengine={engine} --rw={direction} --bs=4k --size=64k {} {options}", target.named)
    }

    fn call(&self, scratch: &Scratch, line: &str) -> Outcome {
        let mut command: Command = fathom(words(line));
        run(command.current_dir(scratch).env("FATHOM_HOME", scratch.path("home")))
    }

    #[track_caller]
    fn expect_unchanged(&self, line: &str) {
        assert!(self.target.is_unchanged(), "the {} was changed by: {line}", self.target.kind);
    }

    /// Checks one row. Returns whether `fathom fio` changed the target, which it may if the target is not in use.
    fn check(&self, scratch: &Scratch) -> bool {
        let job = self.job();
        let dry = self.call(scratch, &format!("run --name=a {job} --dry-run"));
        self.expect_unchanged("a dry run");
        let writes = dry.stdout.contains("WRITES");
        let permitted = dry.code() == Some(0);
        assert!(!(writes && permitted && self.engine != "null"), "a dry run permits it: {job}: {}", dry.stdout);
        let line = format!("run --name=a {job}");
        let outcome = self.call(scratch, &line);
        self.expect_unchanged(&line);
        assert!(!writes || self.engine == "null" || outcome.code() == Some(2), "{line}: {outcome:#?}");
        let line = format!("fio --name=a {job}");
        self.call(scratch, &line);
        let changed = !self.target.is_unchanged();
        assert!(!changed || (writes && !self.target.in_use), "the {} was changed by: {line}", self.target.kind);
        if changed {
            self.target.restore();
        }
        let line = format!("fio --name=a {job} --readonly");
        self.call(scratch, &line);
        self.expect_unchanged(&line);
        changed
    }
}

#[test]
fn a_target_changes_only_as_a_dry_run_announces() {
    require!(Root, Swap);
    let scratch = Scratch::new();
    let mut in_use = InUse::default();
    let targets = targets(&scratch, &mut in_use);
    let export = export(&scratch, &mut in_use);
    // By day every engine with every direction and option, and most targets with each.
    let apart = if at_night() { 3 } else { 11 };
    let mut rows: BTreeMap<&Path, Vec<Row<'_>>> = BTreeMap::new();
    for (number, direction) in DIRECTIONS.iter().enumerate() {
        for (of_options, options) in OPTIONS.iter().enumerate() {
            for (of_engine, engine) in ENGINES.iter().enumerate() {
                if (number + of_options + of_engine) % apart == 0 {
                    let target = &targets[(number * 5 + of_options * 9 + of_engine) % targets.len()];
                    rows.entry(&target.image).or_default().push(Row { engine, direction, options, target });
                }
            }
            if at_night() || (number + of_options) % 3 == 0 {
                let row = Row { engine: "nbd", direction, options, target: &export };
                rows.entry(&export.image).or_default().push(row);
            }
        }
    }
    // Those with the same bytes one after the other.
    let rows: Vec<_> = rows.into_values().collect();
    let changed: usize = at_once(&rows, |rows| rows.iter().filter(|row| row.check(&scratch)).count()).iter().sum();
    let rows: usize = rows.iter().map(Vec::len).sum();
    println!("{rows} rows, {changed} changes");
    // Too few changes would prove nothing.
    let (rows_min, changes_min) = if at_night() { (400, 20) } else { (130, 7) };
    assert!(rows > rows_min && changed > changes_min, "{rows} rows, {changed} changes");
}

#[test]
fn sweeps_change_nothing_in_use() {
    require!(Root, Swap);
    let scratch = Scratch::new();
    let mut in_use = InUse::default();
    let mut targets = targets(&scratch, &mut in_use);
    targets.push(export(&scratch, &mut in_use));
    for (of_target, target) in targets.iter().enumerate() {
        for (number, direction) in ["randwrite", "randrw", "randtrim", "write"].into_iter().enumerate() {
            for (of_options, options) in ["", "--verify_only=1", "--verify=crc32c"].into_iter().enumerate() {
                // By day each direction with each option, both with each target, and what is swept on all targets.
                if !at_night() && number != of_options && (number + of_options + of_target) % 3 != 0 {
                    continue;
                }
                let engine = if target.kind == "export" { "nbd" } else { "io_uring" };
                let row = Row { engine, direction, options, target };
                let line = format!("sweep {} --time-limit=300ms --dry-run", row.job());
                let dry = row.call(&scratch, &line);
                row.expect_unchanged(&line);
                assert!(!(dry.stdout.contains("WRITES") && dry.code() == Some(0)), "{line}: {}", dry.stdout);
                let line = format!("sweep {} --time-limit=300ms", row.job());
                if dry.code() != Some(0) {
                    row.call(&scratch, &line).expect_code(2);
                    row.expect_unchanged(&line);
                } else if number == of_options {
                    // Jobs that only read according to the dry run, once per option, because each takes a while.
                    row.call(&scratch, &line);
                    row.expect_unchanged(&line);
                }
            }
        }
    }
}

#[test]
fn suites_and_servers_change_nothing_without_permission() {
    require!(Root, Swap);
    let scratch = Scratch::new();
    let mut in_use = InUse::default();
    for target in &targets(&scratch, &mut in_use) {
        let row = Row { engine: "", direction: "", options: "", target };
        let suite = format!("suite run gcp-pd --target {} --scale 0.0001 --size 4m", target.path());
        for line in [format!("{suite} --dry-run"), suite] {
            let mut command = fathom(words(&line));
            let outcome = run(command.current_dir(&scratch).env("XDG_STATE_HOME", scratch.as_ref())).expect_code(2);
            assert!(outcome.stderr.contains("would be overwritten"), "{line}: {}", outcome.stderr);
            row.expect_unchanged(&line);
        }
        let line = format!("serve --backing file:{} --run true", target.path());
        row.call(&scratch, &line).expect_code(if target.is_file && !target.in_use { 0 } else { 2 });
        row.expect_unchanged(&line);
    }
}

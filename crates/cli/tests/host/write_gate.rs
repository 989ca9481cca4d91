//! The write gate: data in use and data of other programs stay unchanged, under all names that reach them.
//!
//! Each case was tried on f52613e; comments state its wrong behaviour.

use std::fs;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use crate::common::devices::{LoopDevice, Mount, SwapArea, tool};
use crate::common::{
    Outcome, Running, Scratch, counter, fathom, require, run, wait_for, with_more_time, words, workers,
};

const MIB: u64 = 1 << 20;
const O_EXCL: i32 = 0o200;

/// Runs a command in the scratch directory, which also stores Fathom's notes about devices.
fn call(scratch: &Scratch, line: &str) -> Outcome {
    run(&mut command(scratch, line))
}

fn command(scratch: &Scratch, line: &str) -> Command {
    let mut command = fathom(words(line));
    command.current_dir(scratch).env("FATHOM_HOME", scratch.path("home"));
    command
}

/// Returns a job that writes the first mebibyte.
fn job(face: &str, path: &str) -> String {
    format!("{face} --name=a --rw=write --size=1m --ioengine=psync --filename={path}")
}

/// Checks that every writing command refuses to write to `path` for a reason, and that `data` is unchanged.
#[track_caller]
fn expect_refused(scratch: &Scratch, path: &str, reason: &str, data: &Path) {
    let before = fs::read(data).expect("it can be read");
    let server = format!("serve --backing file:{path} --run true");
    let sweep = format!("sweep --rw=randwrite --bs=4k --size=1m --ioengine=psync --filename={path}");
    for (line, code) in [(job("run", path), 2), (job("fio", path), 1), (server, 2), (sweep, 2)] {
        let outcome = call(scratch, &line).expect_code(code);
        assert!(outcome.stderr.contains(reason), "{line}: `{reason}` is missing from {}", outcome.stderr);
    }
    assert!(fs::read(data).expect("it can be read") == before, "{path} was written to");
}

/// Creates a loop device over a file of the scratch directory.
fn device(scratch: &Scratch, name: &str, mib: u64) -> LoopDevice {
    scratch.sparse(name, mib * MIB);
    LoopDevice::over(&scratch.path(name))
}

fn name_of(device: &LoopDevice) -> &str {
    device.path.trim_start_matches("/dev/")
}

/// f52613e overwrote the mounted filesystem.
#[test]
fn a_device_under_a_loop_device_at_an_offset_was_overwritten() {
    require!(Root);
    let scratch = Scratch::new();
    let lower = device(&scratch, "image", 64);
    let upper = tool("losetup", &["--find", "--show", "--offset", "1048576", &lower.path]);
    let upper = LoopDevice { path: upper.trim().to_owned() };
    tool("mkfs.ext4", &["-q", &upper.path]);
    let mount = Mount::new(&upper.path, scratch.path("mounted"));
    let reason = format!("it backs the loop device {}", name_of(&upper));
    expect_refused(&scratch, &lower.path, &reason, &scratch.path("image"));
    expect_refused(&scratch, &scratch.text("image"), "it backs the loop device", &scratch.path("image"));
    drop(mount);
}

/// f52613e wrote through the upper device, because the loop driver does not claim the lower one.
#[test]
fn a_loop_device_over_a_mounted_device_was_overwritten() {
    require!(Root);
    let scratch = Scratch::new();
    let lower = device(&scratch, "image", 64);
    tool("mkfs.ext4", &["-q", &lower.path]);
    let upper = LoopDevice::over(Path::new(&lower.path));
    let mount = Mount::new(&lower.path, scratch.path("mounted"));
    expect_refused(&scratch, &upper.path, "is mounted at", &scratch.path("image"));
    drop(mount);
}

/// f52613e recognized backing files by name only, and overwrote a mounted one through other names.
#[test]
fn the_backing_file_of_a_loop_device_had_other_names() {
    require!(Root);
    let scratch = Scratch::new();
    let below = device(&scratch, "image", 64);
    tool("mkfs.ext4", &["-q", &below.path]);
    let mount = Mount::new(&below.path, scratch.path("mounted"));
    fs::hard_link(scratch.path("image"), scratch.path("hard")).expect("it can be linked");
    std::os::unix::fs::symlink("image", scratch.path("soft")).expect("it can be linked");
    scratch.write("bound", "");
    tool("mount", &["--bind", &scratch.text("image"), &scratch.text("bound")]);
    let bound = Mount { at: scratch.path("bound") };
    for name in ["image", "hard", "soft", "bound", "./mounted/../image"] {
        expect_refused(&scratch, &scratch.text(name), "it backs the loop device", &scratch.path("image"));
    }
    drop((bound, mount));
}

/// f52613e checked the target of the link at the start, and wrote to its later target.
#[test]
fn a_link_was_changed_during_an_earlier_stage() {
    require!(Root);
    with_more_time(|factor| {
        let scratch = Scratch::new();
        let target = device(&scratch, "image", 64);
        tool("mkfs.ext4", &["-q", &target.path]);
        let before = fs::read(scratch.path("image")).expect("it can be read");
        scratch.write("first", "");
        std::os::unix::fs::symlink("first", scratch.path("link")).expect("it can be linked");
        let line = format!(
            "run --ioengine=psync --size=1m --name=wait --filename=other --rw=read --time_based --runtime={} \
             --name=late --stonewall --filename=link --rw=write",
            2 * factor
        );
        let mut running = Running::start(&mut command(&scratch, &line));
        wait_for("the first stage", || running.has_worker("wait") || running.has_ended());
        std::os::unix::fs::symlink(&target.path, scratch.path("moved")).expect("it can be linked");
        fs::rename(scratch.path("moved"), scratch.path("link")).expect("it can be renamed");
        let is_early = running.has_worker("wait");
        let outcome = running.end().expect_one_of(&[0, 4]);
        assert!(fs::read(scratch.path("image")).expect("it can be read") == before, "the device was overwritten");
        let written = fs::metadata(scratch.path("first")).expect("the file exists").len();
        assert_eq!(written, MIB, "the checked file is written");
        if is_early { Ok(()) } else { Err(format!("the link was not changed during the first stage: {outcome:#?}")) }
    });
}

/// f52613e overwrote a device that was formatted and mounted while it waited.
#[test]
fn a_device_was_formatted_and_mounted_during_startdelay() {
    require!(Root);
    with_more_time(|factor| {
        let scratch = Scratch::new();
        let target = device(&scratch, "image", 64);
        let line = format!("{} --startdelay={}", job("run", &target.path), 3 * factor);
        let mut running = Running::start(&mut command(&scratch, &line));
        wait_for("a worker", || running.has_worker("a") || running.has_ended());
        let made = Command::new("mkfs.ext4").args(["-q", "-F", &target.path]).output().expect("it runs");
        if running.has_ended() {
            running.end().expect_one_of(&[0, 4]);
            return Err("the run ended before the device was formatted".to_owned());
        }
        assert!(!made.status.success(), "the device is held");
        assert!(String::from_utf8_lossy(&made.stderr).contains("in use"), "{made:?}");
        running.end().expect_one_of(&[0, 4]);
        tool("mkfs.ext4", &["-q", "-F", &target.path]);
        Ok(())
    });
}

/// f52613e truncated and overwrote the targets of these links.
#[test]
fn results_were_written_onto_devices() {
    require!(Root);
    let scratch = Scratch::new();
    let target = device(&scratch, "image", 8);
    tool("mkfs.ext4", &["-q", &target.path]);
    let before = fs::read(scratch.path("image")).expect("it can be read");
    for name in ["x.json", "x_lat.1.log", "x_slat.1.log", "x_clat.1.log", "agg-read_bw.log", "x_bw.1.log"] {
        std::os::unix::fs::symlink(&target.path, scratch.path(name)).expect("it can be linked");
    }
    let read = "--name=a --rw=read --size=4k --ioengine=null";
    for (line, code) in [
        (format!("run {read} --events {}", target.path), 2),
        (format!("run {read} -o x.json"), 2),
        (format!("sim {read} --on custom,iops=1000,latency=1ms -o x.json"), 2),
        (format!("fio {read} --output={}", target.path), 1),
        (format!("fio {read} --bandwidth-log"), 1),
        (format!("run {read} --write_lat_log=x"), 3),
        (format!("run {read} --write_bw_log=x"), 3),
        ("catalog --format json -o x.json".to_owned(), 2),
    ] {
        let outcome = call(&scratch, &line);
        assert_ne!(outcome.code(), Some(0), "{line}: {outcome:#?}");
        assert!(outcome.code() == Some(code) || line.starts_with("catalog"), "{line}: {outcome:#?}");
        assert!(fs::read(scratch.path("image")).expect("it can be read") == before, "{line} wrote onto the device");
    }
    let kernel = call(&scratch, &format!("run {read} --events /proc/sys/vm/swappiness")).expect_code(2);
    assert!(kernel.stderr.contains("proc filesystem"), "{}", kernel.stderr);
}

/// 692e655 also opened pipes for reading, so it did not wait for readers, and its output was lost with exit code 0.
#[test]
fn results_in_a_pipe_were_lost() {
    let scratch = Scratch::new();
    let pipe = scratch.text("pipe");
    tool("mkfifo", &[&pipe]);
    let read = "--name=a --rw=read --size=4k --ioengine=null";
    for line in [format!("run {read} --events pipe"), format!("fio {read} --output=pipe")] {
        let writer = Running::start(&mut command(&scratch, &line));
        // Its reader comes later.
        std::thread::sleep(Duration::from_millis(500));
        let text = tool("cat", &[&pipe]);
        writer.end().expect_code(0);
        assert!(text.ends_with('\n') && text.len() > 100, "{line}: {text}");
    }
    let outcome = call(&scratch, &format!("run {read} --events pipe")).expect_code(2);
    assert!(outcome.stderr.contains("no program opened this pipe for reading"), "{}", outcome.stderr);
}

/// f52613e wrote results over the measured data.
#[test]
fn results_were_written_into_the_measured_file() {
    let scratch = Scratch::new();
    call(&scratch, "run --name=a --rw=write --size=1m --ioengine=psync --filename=own.json").expect_one_of(&[0, 4]);
    let before = fs::read(scratch.path("own.json")).expect("it was created");
    let line = "run --name=a --rw=write --size=1m --ioengine=psync --filename=own.json -o own.json";
    let outcome = call(&scratch, line).expect_code(2);
    assert!(outcome.stderr.contains("--output own.json writes to it"), "{}", outcome.stderr);
    let outcome = call(&scratch, &line.replace("rw=write", "rw=read")).expect_code(2);
    assert!(outcome.stderr.contains("--output own.json writes to it"), "{}", outcome.stderr);
    assert!(fs::read(scratch.path("own.json")).expect("the file exists") == before);
    // A file that the job would create is not replaced either.
    let line = "run --name=a --rw=write --size=1m --ioengine=psync --filename=new.json -o new.json";
    let outcome = call(&scratch, line).expect_code(2);
    assert!(outcome.stderr.contains("--output new.json writes to it"), "{}", outcome.stderr);
    assert!(!scratch.path("new.json").exists());
}

/// f52613e took the size of the device for 0, found no data and overwrote the filesystem.
#[test]
fn without_sys_nothing_was_checked() {
    require!(Root);
    let scratch = Scratch::new();
    let target = device(&scratch, "image", 16);
    tool("mkfs.ext4", &["-q", &target.path]);
    let before = fs::read(scratch.path("image")).expect("it can be read");
    for line in
        [format!("serve --backing file:{} --run true", target.path), job("run", &target.path), job("fio", &target.path)]
    {
        expect_refused_without_sys(&scratch, &line);
        assert!(fs::read(scratch.path("image")).expect("it can be read") == before, "{line} overwrote it");
    }
}

/// Runs a command without `/sys`, which must fail for that reason.
#[track_caller]
fn expect_refused_without_sys(scratch: &Scratch, line: &str) {
    let mut hidden = Command::new("unshare");
    hidden.args(["--mount", "sh", "-c", "umount -l /sys && exec \"$@\"", "sh", env!("CARGO_BIN_EXE_fathom")]);
    hidden.args(words(line)).current_dir(scratch).env("FATHOM_NO_RECORD", "1");
    let outcome = run(&mut hidden);
    assert!(matches!(outcome.code(), Some(1 | 2)), "{line}: {outcome:#?}");
    assert!(outcome.stderr.contains("/sys"), "{line}: {}", outcome.stderr);
}

/// 692e655 took the backing file for unused, and checked its content with none of these commands.
#[test]
fn without_sys_the_file_of_a_mounted_loop_device_was_overwritten() {
    require!(Root);
    let scratch = Scratch::new();
    let target = device(&scratch, "image", 16);
    tool("mkfs.ext4", &["-q", &target.path]);
    let mount = Mount::new(&target.path, scratch.path("mounted"));
    tool("sync", &["--file-system", &scratch.text("mounted")]);
    let before = fs::read(scratch.path("image")).expect("it can be read");
    let image = scratch.text("image");
    for line in [
        format!("serve --backing file:{image} --run true"),
        job("fio", &image),
        job("run", &image),
        format!("{} --allow-overwrite={image}", job("run", &image)),
        format!("run --name=a --rw=read --size=4k --ioengine=null --events {image}"),
    ] {
        expect_refused_without_sys(&scratch, &line);
        assert!(fs::read(scratch.path("image")).expect("it can be read") == before, "{line} overwrote it");
    }
    drop(mount);
}

/// f52613e wrote to a device that another program had opened exclusively.
#[test]
fn a_device_that_is_held_exclusively_was_written_to() {
    require!(Root);
    let scratch = Scratch::new();
    let target = device(&scratch, "image", 8);
    let holder = fs::File::options().read(true).custom_flags(O_EXCL).open(&target.path).expect("it is free");
    expect_refused(&scratch, &target.path, "another program has it open exclusively", &scratch.path("image"));
    drop(holder);
    call(&scratch, &job("run", &target.path)).expect_one_of(&[0, 4]);
}

/// f52613e wrote into images that virtual machines had open, and did not lock its own targets.
#[test]
fn a_locked_image_was_written_to() {
    require!(Root, NbdTools, Qemu);
    let scratch = Scratch::new();
    scratch.sparse("disk.raw", 8 * MIB);
    let socket = scratch.text("qsd.sock");
    let mut daemon = Command::new("qemu-storage-daemon");
    daemon.args(["--blockdev", &format!("driver=file,node-name=d,filename={}", scratch.text("disk.raw"))]);
    daemon.args(["--nbd-server", &format!("addr.type=unix,addr.path={socket}")]);
    daemon.args(["--export", "type=nbd,id=e,node-name=d,writable=on"]);
    let held = Running::start(&mut daemon);
    // The socket exists before the export, which locks the image.
    let nbdinfo = || Command::new("nbdinfo").args(["--size", &format!("nbd+unix:///d?socket={socket}")]).output();
    wait_for("the export", || nbdinfo().is_ok_and(|output| output.status.success()));
    expect_refused(&scratch, &scratch.text("disk.raw"), "has locked it", &scratch.path("disk.raw"));
    drop(held);
    let line = format!("{} --time_based --runtime=3000", job("run", "disk.raw"));
    let mut writing = Running::start(&mut command(&scratch, &line));
    wait_for("a worker", || writing.has_worker("a") || writing.has_ended());
    let other = Command::new("qemu-io").args(["-f", "raw", "-c", "write 0 4k", &scratch.text("disk.raw")]).output();
    let other = other.expect("it runs");
    assert!(!other.status.success() && String::from_utf8_lossy(&other.stderr).contains("lock"), "{other:?}");
    writing.signal("INT");
    writing.end().expect_code(130);
}

/// f52613e permitted two servers to write to one file.
#[test]
fn two_servers_wrote_to_one_file() {
    let scratch = Scratch::new();
    let line = "serve --size 8MiB --backing file:disk.img --socket first.sock --run";
    let mut first = command(&scratch, line);
    let until_done = "until test -e done || test ! -e first.sock; do sleep 0.05; done";
    let first = Running::serve(first.arg(until_done), scratch.path("first.sock"));
    for second in [
        "serve --size 8MiB --backing file:disk.img --socket second.sock --run true",
        "serve --size 8MiB --backing file:disk.img --read-only --socket second.sock --run true",
        "run --name=a --rw=write --size=1m --ioengine=psync --filename=disk.img",
    ] {
        let outcome = call(&scratch, second);
        assert!(matches!(outcome.code(), Some(2 | 3)), "{outcome:#?}");
        assert!(outcome.stderr.contains("has locked it"), "{second}: {}", outcome.stderr);
    }
    scratch.write("done", "");
    first.end().expect_code(0);
    call(&scratch, "serve --size 8MiB --backing file:disk.img --socket second.sock --run true").expect_code(0);
}

/// f52613e created files in `/dev` and measured them as if they were devices.
#[test]
fn files_were_created_in_dev() {
    let scratch = Scratch::new();
    std::os::unix::fs::symlink("/dev/fathom-typo", scratch.path("link")).expect("it can be linked");
    std::os::unix::fs::symlink("/dev", scratch.path("devices")).expect("it can be linked");
    for path in
        ["/dev/fathom-typo", "/tmp/../dev/fathom-typo", "link", "devices/fathom-typo", "/dev/disk/by-id/fathom-typo"]
    {
        for (line, code) in [
            (job("run", path), 2),
            (job("fio", path), 1),
            (format!("run --name=a --rw=read --size=1m --ioengine=psync --filename={path}"), 2),
            (format!("serve --size 1MiB --backing file:{path} --run true"), 2),
            (format!("sweep --rw=randwrite --bs=4k --size=1m --ioengine=psync --filename={path}"), 2),
        ] {
            let outcome = call(&scratch, &line).expect_code(code);
            assert!(outcome.stderr.contains("no such device"), "{line}: {}", outcome.stderr);
        }
    }
    let mut in_dev = command(&scratch, &job("run", "fathom-typo"));
    run(in_dev.current_dir("/dev")).expect_code(2);
    for path in ["/dev/fathom-typo", "/dev/disk/by-id/fathom-typo"] {
        assert!(!Path::new(path).exists(), "{path} was created");
    }
}

/// f52613e overwrote any existing file.
#[test]
fn files_of_other_programs_were_overwritten() {
    let scratch = Scratch::new();
    let files =
        [("notes.txt", b"precious".to_vec()), ("db.sqlite", [b"SQLite format 3\0".to_vec(), vec![7; 8192]].concat())];
    for (name, content) in files {
        scratch.write(name, &content);
        for line in [
            job("run", name),
            format!("run --name=a --rw=randtrim --bs=4k --size=4k --ioengine=psync --filename={name}"),
            format!("sweep --rw=randwrite --bs=4k --size=1m --ioengine=psync --filename={name}"),
        ] {
            let outcome = call(&scratch, &line).expect_code(2);
            assert!(outcome.stderr.contains("that Fathom did not write"), "{line}: {}", outcome.stderr);
            assert!(outcome.stderr.contains(&format!("--allow-overwrite={name}")), "{}", outcome.stderr);
            assert_eq!(fs::read(scratch.path(name)).expect("the file exists"), content, "{line}");
        }
        let permitted = format!("{} --allow-overwrite ./{name}", job("run", name));
        call(&scratch, &permitted).expect_one_of(&[0, 4]);
        assert_ne!(fs::read(scratch.path(name)).expect("the file exists")[..8], content[..8]);
        // The file does not become Fathom's own.
        call(&scratch, &job("run", name)).expect_code(2);
        call(&scratch, &job("fio", name)).expect_code(0);
    }
}

#[test]
fn own_files_and_files_without_data_are_overwritten() {
    let scratch = Scratch::new();
    scratch.write("empty", "");
    scratch.sparse("hole", 4 * MIB);
    for name in ["made", "empty", "hole"] {
        for _ in 0..2 {
            call(&scratch, &job("run", name)).expect_one_of(&[0, 4]);
        }
    }
    // Under another name.
    fs::rename(scratch.path("made"), scratch.path("renamed")).expect("it can be renamed");
    call(&scratch, &job("run", "renamed")).expect_one_of(&[0, 4]);
    // Another program writes to it, a little or much later.
    for (name, later) in [("renamed", Duration::from_millis(4)), ("hole", Duration::from_secs(1))] {
        let file = fs::File::options().append(true).open(scratch.path(name)).expect("the file exists");
        let modified = file.metadata().and_then(|metadata| metadata.modified()).expect("it has times");
        file.set_modified(modified + later).expect("its times can be set");
        let outcome = call(&scratch, &job("run", name)).expect_code(2);
        assert!(outcome.stderr.contains("another program has changed"), "{}", outcome.stderr);
    }
}

/// 692e655 overwrote a file of its own that another program had rewritten within two seconds.
#[test]
fn a_file_rewritten_within_two_seconds_was_overwritten() {
    let scratch = Scratch::new();
    call(&scratch, &job("run", "made")).expect_one_of(&[0, 4]);
    fs::write(scratch.path("made"), b"precious").expect("it can be written");
    let outcome = call(&scratch, &job("run", "made")).expect_code(2);
    assert!(outcome.stderr.contains("another program has changed"), "{}", outcome.stderr);
    assert_eq!(fs::read(scratch.path("made")).expect("the file exists"), b"precious");
}

/// Kills a run of a job some time after the file `made` has been laid out or written.
fn kill(scratch: &Scratch, job: &str) {
    let mut running = Running::start(&mut command(scratch, &format!("{job} --time_based --runtime=3000")));
    let moved = |thread: &PathBuf| counter(thread.join("io"), "rchar") + counter(thread.join("io"), "wchar");
    wait_for("a run that repeats", || {
        assert!(!running.has_ended(), "{}", running.messages());
        workers(running.pid(), "a").iter().map(moved).sum::<u64>() > 4 * MIB
    });
    assert_eq!(fs::metadata(scratch.path("made")).map_or(0, |metadata| metadata.len()), MIB);
    running.signal("KILL");
    running.end();
}

#[test]
fn a_killed_reading_run_leaves_its_own_file() {
    let scratch = Scratch::new();
    kill(&scratch, "run --name=a --rw=read --size=1m --ioengine=psync --filename=made");
    call(&scratch, &job("run", "made")).expect_one_of(&[0, 4]);
    call(&scratch, &job("run", "made")).expect_one_of(&[0, 4]);
}

/// 692e655 took any content of a file for its own after a run that wrote to the file was killed.
#[test]
fn content_after_a_killed_run_was_overwritten() {
    let scratch = Scratch::new();
    kill(&scratch, &job("run", "made"));
    fs::write(scratch.path("made"), b"precious").expect("it can be written");
    let outcome = call(&scratch, &job("run", "made")).expect_code(2);
    assert!(outcome.stderr.contains("of a Fathom run that was killed"), "{}", outcome.stderr);
    assert!(outcome.stderr.contains("--allow-overwrite=made"), "{}", outcome.stderr);
    assert_eq!(fs::read(scratch.path("made")).expect("the file exists"), b"precious");
}

/// f52613e recognized data on a device by signatures only.
#[test]
fn data_without_a_signature_was_overwritten() {
    require!(Root);
    let scratch = Scratch::new();
    let target = device(&scratch, "image", 64);
    for _ in 0..2 {
        // Blank, then with data of Fathom.
        call(&scratch, &job("run", &target.path)).expect_one_of(&[0, 4]);
    }
    let mut file = fs::File::options().write(true).open(&target.path).expect("root can write");
    std::io::Write::write_all(&mut file, b"a database of its own").expect("it can be written");
    file.sync_all().expect("it can be written");
    drop(file);
    for line in [job("run", &target.path), format!("serve --backing file:{} --run true", target.path)] {
        let outcome = call(&scratch, &line).expect_code(2);
        assert!(outcome.stderr.contains("that Fathom did not write (at byte 0)"), "{}", outcome.stderr);
    }
    assert!(fs::read(scratch.path("image")).expect("the file exists").starts_with(b"a database of its own"));
    let permitted = format!("{} --allow-destroy={}", job("run", &target.path), target.path);
    call(&scratch, &permitted).expect_one_of(&[0, 4]);
    // A zeroed device holds no data.
    fs::write(&target.path, vec![0; 64 * MIB as usize]).expect("root can write");
    for _ in 0..2 {
        call(&scratch, &job("run", &target.path)).expect_one_of(&[0, 4]);
    }
}

/// 692e655 recorded the whole content of a device as its own after writing 4 KiB with permission.
#[test]
fn a_small_permitted_write_made_the_whole_device_its_own() {
    require!(Root);
    let scratch = Scratch::new();
    let target = device(&scratch, "image", 16);
    fs::write(&target.path, vec![0x5a; 16 * MIB as usize]).expect("root can write");
    let small = format!("--name=a --rw=write --bs=4k --size=4k --ioengine=psync --filename={}", target.path);
    call(&scratch, &format!("run {small} --allow-destroy={}", target.path)).expect_one_of(&[0, 4]);
    call(&scratch, &format!("fio {small}")).expect_code(0);
    let outcome = call(&scratch, &format!("run {small}")).expect_code(2);
    assert!(outcome.stderr.contains("that Fathom did not write"), "{}", outcome.stderr);
}

/// 692e655 recorded writes of a server's clients as its own, and overwrote them without permission.
#[test]
fn writes_of_a_servers_clients_were_taken_for_its_own() {
    require!(Root, NbdTools);
    let scratch = Scratch::new();
    let target = device(&scratch, "image", 8);
    // These are Fathom's own by now.
    call(&scratch, &job("run", &target.path)).expect_one_of(&[0, 4]);
    call(&scratch, &job("run", "own.img")).expect_one_of(&[0, 4]);
    for (path, size) in [(target.path.as_str(), ""), ("served.img", "--size 8MiB"), ("own.img", "")] {
        let mut server = command(&scratch, &format!("serve {size} --backing file:{path} --run"));
        run(server.arg("qemu-io -f raw -c 'write -P 0x5a 0 1M' \"$uri\"")).expect_code(0);
        let outcome = call(&scratch, &job("run", path)).expect_code(2);
        let reasons = ["that Fathom did not write", "that another program has changed"];
        assert!(reasons.iter().any(|reason| outcome.stderr.contains(reason)), "{path}: {}", outcome.stderr);
    }
}

/// 692e655 recorded data of `fathom fio` on any device and in any new file as its own.
#[test]
fn writes_of_fathom_fio_were_taken_for_its_own() {
    require!(Root);
    let scratch = Scratch::new();
    let target = device(&scratch, "image", 8);
    fs::write(&target.path, vec![0x5a; 8 * MIB as usize]).expect("root can write");
    for path in [target.path.as_str(), "made"] {
        call(&scratch, &job("fio", path)).expect_code(0);
        call(&scratch, &job("run", path)).expect_code(2);
        call(&scratch, &job("fio", path)).expect_code(0);
    }
}

#[test]
fn swap_is_not_written_to() {
    require!(Root, Swap);
    let scratch = Scratch::new();
    let target = device(&scratch, "image", 16);
    let swap = SwapArea::on(&target.path);
    expect_refused(&scratch, &target.path, "is in use as swap", &scratch.path("image"));
    expect_refused(&scratch, &scratch.text("image"), "it backs the loop device", &scratch.path("image"));
    drop(swap);
}

/// A server of an image with a filesystem.
struct Served {
    uri: String,
    image: PathBuf,
    _server: Running,
}

impl Served {
    fn start(scratch: &Scratch) -> Self {
        let image = scratch.path("export.img");
        scratch.sparse("export.img", 16 * MIB);
        tool("mkfs.ext4", &["-q", "-F", &image.to_string_lossy()]);
        let socket = scratch.path("export.sock");
        let line = format!("serve --backing file:{} --socket {}", image.display(), socket.display());
        let server = Running::serve(&mut command(scratch, &line), &socket);
        Self { uri: format!("nbd+unix:///?socket={}", socket.display()), image, _server: server }
    }
}

/// f52613e printed "reads" in a dry run, and overwrote the export.
#[test]
fn verify_only_without_verify_overwrote_an_export() {
    require!(Root);
    let scratch = Scratch::new();
    let served = Served::start(&scratch);
    let before = fs::read(&served.image).expect("it can be read");
    for rw in ["write", "randwrite", "rw", "randrw", "trim", "trimwrite", "randtrim"] {
        for rest in ["--verify_only=1", "--verify_only=1 --verify=crc32c", "--verify_only=1 --do_verify=0"] {
            let job = format!("--name=a --ioengine=nbd --uri={} --rw={rw} --bs=4k --size=64k {rest}", served.uri);
            let dry = call(&scratch, &format!("run {job} --dry-run"));
            assert!(!dry.stdout.contains("WRITES"), "{rw} {rest}: {}", dry.stdout);
            call(&scratch, &format!("run {job}"));
            call(&scratch, &format!("fio {job}"));
            assert!(fs::read(&served.image).expect("it can be read") == before, "{rw} {rest} wrote");
        }
        let sweep =
            format!("sweep --ioengine=nbd --uri={} --rw={rw} --bs=4k --time-limit=2s --verify_only=1", served.uri);
        call(&scratch, &sweep);
        assert!(fs::read(&served.image).expect("it can be read") == before, "{rw}: the sweep wrote");
        let plain = format!("run --name=a --ioengine=nbd --uri={} --rw={rw} --bs=4k --size=64k", served.uri);
        let outcome = call(&scratch, &plain).expect_code(2);
        assert!(outcome.stderr.contains("ext"), "{}", outcome.stderr);
    }
    assert!(fs::read(&served.image).expect("it can be read") == before);
}

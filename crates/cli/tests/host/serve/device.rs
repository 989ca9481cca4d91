//! Exports as block devices: use and removal.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use super::place::{Place, noise, stopped};
use crate::common::devices::tool;
use crate::common::{Outcome, Running, Scratch, require, run, wait_for, words};

const FAST: &str = "custom,size=64MiB,iops=100000,latency=50us";
const OTHER_USER: u32 = 65_534;

/// Reports whether devices use the kernel's NBD driver, of which a killed server leaves nothing.
fn by_driver() -> bool {
    Path::new("/sys/block/nbd0").exists()
}

impl Place {
    /// Returns the loop devices of servers in this directory.
    fn loops(&self) -> Vec<String> {
        let table = tool("losetup", &["--list", "--noheadings", "--output", "NAME,BACK-FILE"]);
        let ours = table.lines().filter(|line| line.contains(&self.text("fathom")));
        ours.filter_map(|line| line.split_whitespace().next()).map(str::to_owned).collect()
    }

    /// Returns mounts and files of servers in this directory, without sockets.
    fn mounts_and_files(&self) -> Vec<String> {
        let mounts = std::fs::read_to_string("/proc/self/mounts").expect("there is /proc");
        let mut found: Vec<String> =
            mounts.lines().filter(|line| line.contains(&self.text(""))).map(str::to_owned).collect();
        let files = std::fs::read_dir(self.path("fathom")).into_iter().flatten().flatten();
        let names = files.map(|file| file.file_name().into_string().expect("our names are text"));
        found.extend(names.filter(|name| name.ends_with(".disk") || name.ends_with(".device")));
        found
    }

    #[track_caller]
    fn expect_nothing_left(&self) {
        assert_eq!((self.loops(), self.mounts_and_files()), (vec![], vec![]));
    }

    fn cleanup(&self) -> Outcome {
        run(&mut self.command("--cleanup"))
    }

    /// Starts a server with devices, and waits until there are `count` of them.
    #[track_caller]
    fn serve_devices(&self, line: &str, count: usize) -> (Running, Vec<String>) {
        let server = Running::start(self.command(line).arg("--device"));
        wait_for("its devices", || self.loops().len() == count);
        (server, self.loops())
    }
}

#[test]
fn a_filesystem_on_a_device_is_intact() {
    require!(Root, Fuse);
    let (place, scratch) = (Place::new(), Scratch::new());
    noise(&place.path("in"), 8 << 20);
    let store = format!("{FAST} --device --backing file:{}", scratch.text("disk"));
    let script = format!(
        "set -e; cd {at}; mkdir m; mkfs.ext4 -q $device; mount $device m
         cp in m/large; for n in $(seq 200); do echo content of $n > m/$n; done; rm m/17
         umount m; e2fsck -f -n $device; mount -o ro $device m; cmp in m/large; test ! -e m/17; cat m/200; umount m",
        at = place.text("")
    );
    let outcome = place.serve_while(&store, &script).expect_code(0);
    assert!(outcome.stdout.contains("Pass 5") && outcome.stdout.ends_with("content of 200\n"), "{}", outcome.stdout);
    place.expect_nothing_left();
    // Another server finds the filesystem in the file.
    let script = format!("set -e; cd {}; mount -o ro,noload $device m; cmp in m/large; umount m", place.text(""));
    place.serve_while(&format!("{store} --read-only"), &script).expect_code(0);
    place.expect_nothing_left();
}

#[test]
fn a_read_only_device_takes_no_writes() {
    require!(Root, Fuse);
    let place = Place::new();
    let script = "blockdev --getro --getsize64 $device; dd if=$device bs=64k count=4 status=none | cksum
                  dd if=/dev/zero of=$device bs=4k count=1 oflag=direct status=none; mkfs.ext4 -q $device";
    for line in ["custom,size=64MiB --backing pattern", "custom,size=64MiB --read-only"] {
        let outcome = place.serve_while(&format!("{line} --device"), script).expect_code(1);
        assert!(outcome.stdout.starts_with("1\n67108864\n"), "{}", outcome.stdout);
        assert!(outcome.stderr.contains("Operation not permitted"), "{}", outcome.stderr);
        assert!(!outcome.stderr.contains("  write "), "{}", outcome.stderr);
        place.expect_nothing_left();
    }
}

#[test]
fn each_export_has_its_device() {
    require!(Root, Fuse);
    if by_driver() {
        return;
    }
    let place = Place::new();
    let (server, devices) =
        place.serve_devices("--export a=custom,size=64MiB --export b=custom,size=32MiB --backing b=pattern", 2);
    let mut sizes: Vec<String> = devices.iter().map(|device| tool("blockdev", &["--getsize64", device])).collect();
    sizes.sort();
    assert_eq!(sizes, ["33554432\n", "67108864\n"]);
    let end = stopped(server).expect_code(0);
    for device in &devices {
        assert!(end.stderr.contains(&format!("  device      {device}\n")), "{device} in {}", end.stderr);
    }
    place.expect_nothing_left();
}

#[test]
fn nothing_is_left_when_the_command_fails() {
    require!(Root, Fuse);
    let place = Place::new();
    place.serve_while("custom,size=64MiB --device", "test -b $device && exit 7").expect_code(7);
    place.expect_nothing_left();
    place.serve_while("custom,size=64MiB --device", "kill -KILL $$").expect_code(128 + 9);
    place.expect_nothing_left();
}

#[test]
fn a_device_that_is_still_mounted_is_reported_and_cleaned_up_later() {
    require!(Root, Fuse);
    if by_driver() {
        return;
    }
    let place = Place::new();
    let at = place.text("m");
    let script = format!("mkfs.ext4 -q $device && mkdir {at} && mount $device {at}");
    // The server fails although its command succeeded.
    let outcome = place.serve_while("custom,size=64MiB --device", &script).expect_code(3);
    let (device, error) = (place.loops(), outcome.stderr);
    assert!(error.contains(&format!("cannot detach {}: it is in use\n |\n = help: unmount it", device[0])), "{error}");
    let refused = place.cleanup().expect_code(3);
    assert!(
        refused.stdout.is_empty() && refused.stderr.contains("it is in use\n |\n = help: unmount it"),
        "{refused:?}"
    );
    tool("umount", &[&at]);
    wait_for("the kernel to release the device", || place.loops().is_empty());
    assert!(place.cleanup().expect_clean().stdout.starts_with("removed the fuse.fathom mount at "));
    place.expect_nothing_left();
}

#[test]
fn leftovers_of_a_killed_server_are_cleaned_up_once() {
    require!(Root, Fuse);
    if by_driver() {
        return;
    }
    let place = Place::new();
    let (killed, devices) = place.serve_devices("--export a=custom,size=64MiB --export b=custom,size=32MiB", 2);
    killed.signal("KILL");
    killed.end();
    let (running, others) = place.serve_devices("custom,size=16MiB", 3);
    let cleaned = place.cleanup().expect_clean().stdout;
    for device in &devices {
        assert!(cleaned.contains(&format!("removed {device}, the fuse.fathom mount at ")), "{cleaned}");
    }
    assert_eq!(cleaned.lines().count(), 2, "{cleaned}");
    // The device of the running server stays.
    let kept: Vec<String> = others.into_iter().filter(|device| !devices.contains(device)).collect();
    assert_eq!(place.loops(), kept);
    tool("dd", &["if=/dev/zero", &format!("of={}", kept[0]), "bs=1M", "count=1", "oflag=direct"]);
    stopped(running).expect_code(0);
    assert_eq!(place.cleanup().expect_clean().stdout, "no devices left by killed servers\n");
    place.expect_nothing_left();
}

#[test]
fn without_privileges_the_missing_one_is_named() {
    require!(Root, Fuse);
    if by_driver() {
        return;
    }
    let place = Place::new();
    let program = place.path("program");
    // Other users cannot read the build directory.
    std::fs::copy(env!("CARGO_BIN_EXE_fathom"), &program).expect("there is room for it");
    let home = place.path("home");
    std::fs::create_dir(&home).unwrap();
    std::fs::set_permissions(place.path(""), std::fs::Permissions::from_mode(0o755)).unwrap();
    std::os::unix::fs::chown(&home, Some(OTHER_USER), Some(OTHER_USER)).unwrap();
    let mut command = Command::new("setpriv");
    command.args(words(&format!("--reuid={OTHER_USER} --regid={OTHER_USER} --clear-groups"))).arg(program);
    command.args(words("serve custom,size=16MiB --device --run true")).env("XDG_RUNTIME_DIR", &home);
    let error = run(&mut command).expect_code(3).stderr;
    assert!(error.contains("--device: cannot ") && error.contains("run as root"), "{error}");
    place.expect_nothing_left();
    assert_eq!(std::fs::read_dir(home.join("fathom")).unwrap().count(), 0, "files are left");
}

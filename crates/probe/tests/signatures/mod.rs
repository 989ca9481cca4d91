//! Compares signatures with those that `blkid` and `wipefs` find in the same images.

mod image;
mod tools;
mod written;

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use probe::Signature;

use crate::loops::skip;
use crate::scratch::Scratch;

/// Output of `wipefs` for an image: kinds with their offsets.
type Found = BTreeSet<(String, u64)>;

/// The type and partition table that `blkid -p` prints; `None` if it is not installed.
fn blkid(path: &Path) -> Option<Vec<String>> {
    let output = Command::new("blkid").args(["-p", "-o", "export"]).arg(path).output().ok()?;
    let text = String::from_utf8(output.stdout).unwrap();
    let kind = |line: &str| {
        let (key, value) = line.split_once('=')?;
        ["TYPE", "PTTYPE"].contains(&key).then(|| value.to_owned())
    };
    Some(text.lines().filter_map(kind).collect())
}

/// Every signature that `wipefs` would erase; `None` if it is not installed.
fn wipefs(path: &Path) -> Option<Found> {
    let output = Command::new("wipefs").args(["-n", "--parsable"]).arg(path).output().ok()?;
    assert!(output.status.success(), "wipefs {}: {}", path.display(), String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    // # offset,uuid,label,type
    let row = |line: &str| {
        let offset = line.split(',').next().unwrap().trim_start_matches("0x");
        (line.rsplit(',').next().unwrap().to_owned(), u64::from_str_radix(offset, 16).unwrap())
    };
    Some(text.lines().filter(|line| !line.starts_with('#')).map(row).collect())
}

fn fathom(path: &Path) -> Vec<Signature> {
    let mut file = std::fs::File::open(path).unwrap();
    let bytes = file.metadata().unwrap().len();
    probe::examine(&mut file, bytes).unwrap().signatures
}

/// Returns whether `blkid` finds `kind`. It does not print BSD labels, so `partx` has to read those.
fn is_confirmed(path: &Path, kind: &str, blkid: &[String]) -> bool {
    let lists = |path| {
        let output = Command::new("partx").args(["-g", "-s", "-t", "bsd"]).arg(path).output();
        output.is_ok_and(|output| !output.stdout.is_empty())
    };
    blkid.iter().any(|found| found == kind) || kind == "bsd" && lists(path)
}

/// Differences between the programs for one image, which `blkid` has to recognize as `kind`.
fn differences(path: &Path, kind: &str) -> Option<Vec<String>> {
    let (blkid, wipefs, fathom) = (blkid(path)?, wipefs(path)?, fathom(path));
    let mut differences = Vec::new();
    if !is_confirmed(path, kind, &blkid) {
        differences.push(format!("blkid finds {blkid:?}, not {kind}: the image is wrong"));
    }
    // A protective MBR is part of a GPT.
    let theirs = wipefs.iter().map(|(kind, at)| (if kind == "PMBR" { "gpt" } else { kind }, Some(*at)));
    let theirs: Vec<_> = theirs.chain(blkid.iter().map(|kind| (kind.as_str(), None))).collect();
    let unseen = theirs.iter().filter(|(kind, _)| !fathom.iter().any(|signature| signature.kind == *kind));
    differences.extend(unseen.map(|(kind, at)| format!("Fathom does not find {kind} at {at:x?}")));
    let offsets: Vec<u64> = wipefs.iter().filter(|(found, _)| found == kind).map(|(_, at)| *at).collect();
    match fathom.iter().find(|signature| signature.kind == kind) {
        None => differences.push(format!("Fathom finds {fathom:?}, not {kind}")),
        Some(ours) if kind != "bsd" && !offsets.iter().any(|at| same_place(kind, *at, ours.offset)) => {
            differences.push(format!("Fathom finds {kind} at {:#x}, wipefs at {offsets:x?}", ours.offset));
        }
        Some(_) => {}
    }
    Some(differences)
}

/// `wipefs` prints the fourth uberblock of a ZFS label, Fathom the first.
fn same_place(kind: &str, theirs: u64, ours: u64) -> bool {
    theirs == ours || kind == "zfs_member" && theirs >> 17 == ours >> 17
}

/// Results of all images of a test.
#[derive(Default)]
struct Comparison {
    images: usize,
    kinds: BTreeSet<&'static str>,
    differences: Vec<String>,
}

impl Comparison {
    fn add(&mut self, path: &Path, name: &str, kind: &'static str) -> Option<()> {
        self.images += 1;
        self.kinds.insert(kind);
        let differences = differences(path, kind).or_else(|| skip("blkid and wipefs are not installed"))?;
        self.differences.extend(differences.into_iter().map(|difference| format!("{name}: {difference}")));
        Some(())
    }

    #[track_caller]
    fn finish(&self, least: usize) {
        println!("{} images of {} kinds: {:?}", self.images, self.kinds.len(), self.kinds);
        assert!(self.differences.is_empty(), "{}", self.differences.join("\n"));
        assert!(self.kinds.len() >= least, "only {} kinds", self.kinds.len());
    }
}

/// f52613e overwrote 83 of these 106 images on loop devices: firmware RAID, DRBD, ZFS labels at the end, UFS, VDO,
/// Stratis, UBI, BSD and Atari labels, hibernation images and more.
#[test]
fn blkid_and_fathom_agree_on_written_images() {
    let scratch = Scratch::new("written-images");
    let path = scratch.path("image");
    let mut comparison = Comparison::default();
    for written in written::WRITTEN {
        let mut image = image::Image::new(written::BYTES);
        (written.write)(&mut image);
        image.write(&path);
        if comparison.add(&path, written.name, written.kind).is_none() {
            return;
        }
    }
    comparison.finish(50);
}

/// f52613e overwrote images of minix, cramfs, bfs, romfs, UFS, HFS, UBIFS, UDF with 4 KiB blocks, swap with 16 KiB
/// pages, and Apple, Sun and empty MBR partition tables.
#[test]
fn blkid_and_fathom_agree_on_images_of_each_formats_own_program() {
    let scratch = Scratch::new("made-images");
    let path = scratch.path("image");
    let mut comparison = Comparison::default();
    for made in tools::MADE {
        match made.run(&path) {
            Ok(()) => {
                if comparison.add(&path, made.command, made.kind).is_none() {
                    return;
                }
            }
            Err(missing) => {
                skip::<()>(&missing);
            }
        }
    }
    comparison.finish(if std::env::var_os("FATHOM_NO_SKIP").is_some() { 38 } else { 0 });
}

/// Kinds of libblkid versions after 2.38 that Fathom recognizes already.
const NEWER: [&str; 4] = ["bcachefs", "cs_fvault2", "scoutfs_meta", "scoutfs_data"];

#[test]
fn every_kind_that_libblkid_knows_is_compared() {
    let Ok(output) = Command::new("blkid").arg("-k").output() else {
        skip::<()>("blkid is not installed");
        return;
    };
    let compared: BTreeSet<&str> = written::WRITTEN.iter().map(|written| written.kind).collect();
    let compared: BTreeSet<&str> = compared.into_iter().chain(tools::MADE.iter().map(|made| made.kind)).collect();
    let known = String::from_utf8(output.stdout).unwrap();
    let missing: Vec<&str> = known.lines().filter(|kind| !compared.contains(kind) && !NEWER.contains(kind)).collect();
    assert_eq!(missing, [""; 0], "kinds of this libblkid that no image has");
    assert!(known.lines().count() > 70 && compared.len() > 80, "{} of {}", compared.len(), known.lines().count());
}

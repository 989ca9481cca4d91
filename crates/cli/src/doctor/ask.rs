//! Resolves the devices and files to check.

use std::collections::BTreeSet;
use std::path::Path;

use engine::describe;
use job::{Diagnostic, Place};
use probe::{DeviceStack, NoSuch};

/// Whether anything at all can be learned of the host at `root`.
pub(super) fn readable(root: &Path) -> Result<(), String> {
    let shown = root.display();
    if let Err(error) = std::fs::metadata(root).and_then(|_| std::fs::read_dir(root)) {
        return Err(format!("--root {shown}: {}", describe(&error)));
    }
    if ["sys", "proc"].iter().all(|name| std::fs::read_dir(root.join(name)).is_err()) {
        return Err(format!(
            "{shown}: neither sys nor proc can be read there\nhelp: mount them, or copy both \
             below --root"
        ));
    }
    Ok(())
}

/// Returns one mount point of each filesystem that is on a device.
///
/// # Errors
///
/// That no disk is in use, or that it is not known.
pub(super) fn in_use(root: &Path) -> Result<Vec<String>, String> {
    // Images of programs and of installation media, which hold no data of anyone's.
    const OF_IMAGES: [&str; 4] = ["squashfs", "iso9660", "erofs", "udf"];
    let mut mounts = probe::mounts(root);
    mounts.retain(|mount| mount.source.starts_with("/dev/") && !OF_IMAGES.contains(&mount.filesystem.as_str()));
    mounts.sort_by_key(|mount| mount.at.as_os_str().len());
    let mut known = BTreeSet::new();
    mounts.retain(|mount| known.insert(mount.source.clone()));
    let places: Vec<String> = mounts.into_iter().filter_map(|mount| mount.at.to_str().map(str::to_owned)).collect();
    // A place that a container has from its host, and names of another root, may not be there.
    let there: Vec<String> = places.into_iter().filter(|place| probe::stack(root, place).is_ok()).collect();
    if there.is_empty() {
        let devices = probe::device_names(root);
        let usual: Vec<&str> = devices.iter().map(String::as_str).filter(|name| is_usual(name)).take(SHOWN).collect();
        let such_as = if usual.is_empty() { String::new() } else { format!(", such as {}", usual.join(", ")) };
        return Err(format!(
            "no mounted filesystem is on a disk of this host\nhelp: name a file, a directory or a block device{such_as}"
        ));
    }
    Ok(there)
}

/// Loop and memory devices that nothing uses are there by the dozen.
fn is_usual(name: &str) -> bool {
    !name.starts_with("loop") && !name.starts_with("ram") && !name.contains('/')
}

/// Resolves the storage stack under each name.
///
/// # Errors
///
/// All names that stand for nothing, each with its place and the nearest names that are there.
pub(super) fn stacks(root: &Path, things: &[String]) -> Result<Vec<DeviceStack>, Vec<Diagnostic>> {
    let mut problems = Vec::new();
    let mut stacks = Vec::new();
    for (index, asked) in things.iter().enumerate() {
        match probe::stack(root, asked) {
            Ok(stack) => stacks.push(stack),
            Err(problem) => problems.push(diagnostic(things, index, &problem)),
        }
    }
    if problems.is_empty() { Ok(stacks) } else { Err(problems) }
}

/// Whether an address of an NBD server is meant.
fn is_export(asked: &str) -> bool {
    asked.split_once("://").is_some_and(|(scheme, _)| scheme.starts_with("nbd"))
}

/// Names that are shown where none is near.
const SHOWN: usize = 8;

fn diagnostic(things: &[String], index: usize, problem: &NoSuch) -> Diagnostic {
    let asked = &things[index];
    let shown: Vec<String> =
        things.iter().map(|thing| thing.chars().map(|c| if c.is_control() { '?' } else { c }).collect()).collect();
    let before: usize = shown[..index].iter().map(|thing| thing.chars().count() + 1).sum();
    let lead = "fathom doctor ";
    let place = Place {
        source: "command line".into(),
        line: 1,
        column: lead.len() + before + 1,
        length: shown[index].chars().count(),
        text: format!("{lead}{}", shown.join(" ")).into(),
    };
    if is_export(asked) {
        return Diagnostic::error("no-such-device", "an export has nothing on this host that could be examined")
            .at(place)
            .remedy("run `fathom doctor` on the host of the NBD server, with what it serves");
    }
    let diagnostic = Diagnostic::error("no-such-device", format!("`{}`: {}", shown[index], problem.reason)).at(place);
    let bare = asked.strip_prefix("/dev/").unwrap_or(asked);
    let near = units::closest(bare, problem.known.iter().map(String::as_str));
    let near = near.or_else(|| units::closest(asked, problem.known.iter().map(String::as_str)));
    // What is there and of no use is not meant again.
    let near = near.filter(|near| *near != bare);
    let usual: Vec<&str> = problem.known.iter().map(String::as_str).filter(|name| is_usual(name)).take(SHOWN).collect();
    match near {
        Some(near) => diagnostic.remedy(format!("did you mean `{near}`?")),
        None if usual.is_empty() => diagnostic.remedy("name a file, a directory or a block device that is there"),
        None => diagnostic.remedy(format!("name a file, a directory or a block device: {}", usual.join(", "))),
    }
}

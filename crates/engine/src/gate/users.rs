//! Finds the users of a device or file by device number and inode.

use std::collections::BTreeSet;
use std::fs::{File, Metadata};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::ROOT;
use super::filesystem::kernel_filesystem;
use super::identity::FileIdentity;
use super::loops::{Loop, loops};
use super::objection::Objection;
use probe::{Number, Occupant, Relations};
use units::Problem;

/// Objections to writing a regular file, regardless of its content.
#[derive(Debug)]
pub(super) struct Uses {
    pub(super) certain: Vec<Objection>,
    /// Objections that apply only if the file has data to lose.
    pub(super) possible: Vec<Objection>,
}

impl Uses {
    /// Returns the objections for the file that `seen` has open, with its metadata.
    pub(super) fn of(seen: &File, metadata: &Metadata, users: &mut RecentFileUsers) -> Self {
        if let Some(filesystem) = kernel_filesystem(seen) {
            return Self { certain: vec![Objection::Kernel(filesystem)], possible: Vec::new() };
        }
        let users = users.of(Path::new(ROOT), FileIdentity::of(metadata), metadata.len());
        let certain = users.found.into_iter().map(Objection::Occupied).collect();
        Self { certain, possible: users.unknown.into_iter().map(Objection::Unknown).collect() }
    }
}

/// What the kernel uses files for, as read a moment ago.
///
/// Reading it anew for each of many files would take most of the time of their check. A use that begins within that
/// moment remains unnoticed, as one that begins right after the check does: the kernel offers no way to prevent either.
#[derive(Debug, Default)]
pub(super) struct RecentFileUsers(Option<(Instant, FileUsers)>);

/// Age up to which a reading is used. With 26 loop devices, reading takes 0.15 ms. A job that writes 100,000 existing
/// files on tmpfs started after 16 s without this and `openfiles`, and after 1.9 s with both.
const MAX_AGE: Duration = Duration::from_millis(10);

impl RecentFileUsers {
    /// Returns the users of a regular file of `bytes` bytes. Reads them anew before it returns any, so that a user that
    /// has ended is not one of them.
    fn of(&mut self, root: &Path, identity: FileIdentity, bytes: u64) -> Users {
        if let Some((_, recent)) = self.0.as_ref().filter(|(read_at, _)| read_at.elapsed() < MAX_AGE) {
            let users = recent.of(identity, bytes);
            if users.found.is_empty() && users.unknown.is_empty() {
                return users;
            }
        }
        // The time before reading, so that the age is not underestimated.
        let read_at = Instant::now();
        self.0.insert((read_at, FileUsers::read(root))).1.of(identity, bytes)
    }
}

/// What the kernel uses files for: loop devices and swap. A list that cannot be read is the reason for that.
#[derive(Debug)]
struct FileUsers {
    loops: Result<Vec<Loop>, Problem>,
    swaps: Result<Vec<Swap>, Problem>,
}

impl FileUsers {
    fn read(root: &Path) -> Self {
        Self { loops: loops(root), swaps: swaps(root) }
    }

    /// Returns the users of a regular file of `bytes` bytes. A loop device whose backing file is unknown, because it
    /// has no node here or belongs to another user, may use any file of its size.
    fn of(&self, identity: FileIdentity, bytes: u64) -> Users {
        let mut users = Users::default();
        for one in users.known(&self.loops) {
            match one.backing {
                Some(backing) if backing == identity => users.add([Occupant::LoopBacking { device: one.name.clone() }]),
                _ if !one.is_certain && one.can_be_over(bytes) => users.unknown.push(format!(
                    "the loop device {} may be backed by this file: it has the same size, and its backing file is \
                     unknown",
                    one.name
                )),
                _ => {}
            }
        }
        users.add_swaps(&self.swaps, std::iter::once(&identity));
        users
    }
}

/// A swap device or file.
#[derive(Debug)]
struct Swap {
    identity: FileIdentity,
    path: String,
}

fn swaps(root: &Path) -> Result<Vec<Swap>, Problem> {
    let swap = |path: PathBuf| Some(Swap { identity: FileIdentity::at(&path)?, path: path.display().to_string() });
    Ok(probe::swap_paths(root)?.into_iter().filter_map(swap).collect())
}

/// Known users of a device or file, and what could not be determined.
#[derive(Debug, Default)]
pub(super) struct Users {
    pub(super) found: Vec<Occupant>,
    /// Why there may be further users, in words.
    pub(super) unknown: Vec<String>,
}

impl Users {
    fn add(&mut self, occupants: impl IntoIterator<Item = Occupant>) {
        for occupant in occupants {
            if !self.found.contains(&occupant) {
                self.found.push(occupant);
            }
        }
    }

    /// Returns a list, or none after recording why it could not be read.
    fn known<'a, T>(&mut self, list: &'a Result<Vec<T>, Problem>) -> &'a [T] {
        match list {
            Ok(list) => list,
            Err(problem) => {
                self.unknown.push(problem.what.clone());
                &[]
            }
        }
    }

    /// Adds those of `files` that are swap files. Swap devices are found with the other users of a device.
    fn add_swaps<'a>(&mut self, swaps: &Result<Vec<Swap>, Problem>, files: impl Iterator<Item = &'a FileIdentity>) {
        let swaps = self.known(swaps);
        let of = |file: &FileIdentity| swaps.iter().find(|swap| swap.identity == *file).map(|swap| swap.path.clone());
        self.add(files.filter_map(of).map(|device| Occupant::Swap { device }));
    }

    /// Returns the users of a block device: of the device itself, its partitions, the devices below it, those stacked
    /// on any of these, and other devices of the same medium.
    pub(super) fn of_block(root: &Path, number: Number) -> Self {
        let mut users = Self::default();
        let Some(device) = probe::relations(root, number) else {
            let (major, minor) = number;
            users.unknown.push(format!("cannot read /sys/dev/block/{major}:{minor}, so it may be in use"));
            return users;
        };
        users.add(probe::users(root, number));
        let loops = loops(root);
        let loops = users.known(&loops);
        let stack = UserStack::below(root, &device, loops);
        for one in loops {
            match one.backing {
                _ if stack.devices.contains(&one.number) => {}
                None => users.unknown.push(format!("the backing file of the loop device {} is unknown", one.name)),
                Some(backing) if stack.contains(backing) => {
                    users.add([Occupant::LoopBacking { device: one.name.clone() }]);
                }
                Some(_) => {}
            }
        }
        // The loop driver does not claim its backing device, which may be mounted as well.
        for lower in &stack.unclaimed {
            users.add(probe::users(root, *lower).into_iter().filter(is_use));
        }
        users.add_swaps(&swaps(root), stack.files.iter());
        for twin in same_medium(root, &device) {
            users.add(probe::users(root, twin).into_iter().filter(is_use));
        }
        users
    }
}

/// Reports whether an occupant is a use: partitions of another device are not.
fn is_use(occupant: &Occupant) -> bool {
    !matches!(occupant, Occupant::Partition(_))
}

/// The devices and files that share their bytes with a device.
#[derive(Debug, Default)]
struct UserStack {
    /// The device, the disk it is a partition of, and all devices below them.
    devices: BTreeSet<Number>,
    /// Partitions of the device.
    parts: BTreeSet<Number>,
    /// Those of `devices` that back a loop device.
    unclaimed: BTreeSet<Number>,
    /// Backing files of the loop devices among `devices`.
    files: BTreeSet<FileIdentity>,
}

impl UserStack {
    fn below(root: &Path, device: &Relations, loops: &[Loop]) -> Self {
        let parts = device.partitions.iter().filter_map(|name| probe::number_named(root, name)).collect();
        let mut stack = Self { parts, ..Self::default() };
        let mut left = vec![device.number];
        while let Some(number) = left.pop() {
            if !stack.devices.insert(number) {
                continue;
            }
            let Some(device) = probe::relations(root, number) else { continue };
            let named = device.disk.iter().chain(&device.slaves);
            left.extend(named.filter_map(|name| probe::number_named(root, name)));
            match loops.iter().find(|one| one.number == number).and_then(|one| one.backing) {
                Some(FileIdentity::Block(lower)) => {
                    stack.unclaimed.insert(lower);
                    left.push(lower);
                }
                Some(file) => drop(stack.files.insert(file)),
                None => {}
            }
        }
        stack
    }

    fn contains(&self, backing: FileIdentity) -> bool {
        match backing {
            FileIdentity::Block(number) => self.devices.contains(&number) || self.parts.contains(&number),
            file => self.files.contains(&file),
        }
    }
}

/// Returns other devices of the same medium, with the same worldwide identifier. An NVMe namespace with several
/// controllers and no multipath has such devices.
pub(super) fn same_medium(root: &Path, device: &Relations) -> Vec<Number> {
    let whole = device.disk.as_deref().unwrap_or(&device.name);
    let Some(own) = worldwide(root, whole) else { return Vec::new() };
    let names = probe::device_names(root).into_iter().filter(|name| name != whole);
    let equal = names.filter(|name| worldwide(root, name).as_ref() == Some(&own));
    equal.filter_map(|name| probe::number_named(root, &name)).collect()
}

fn worldwide(root: &Path, name: &str) -> Option<String> {
    let place = root.join("sys/block").join(name.replace('/', "!"));
    let told = ["wwid", "device/wwid"].iter().find_map(|file| std::fs::read_to_string(place.join(file)).ok())?;
    let told = told.trim();
    // Devices without an identifier report blanks or zeroes.
    let says_something = told.chars().any(|c| c.is_ascii_alphanumeric() && c != '0');
    says_something.then(|| told.to_owned())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    const FILE: FileIdentity = FileIdentity::File { device: 1, inode: 2 };

    /// Revision 692e655 considered a file unused if `/sys` was unreadable or a loop device did not report its file.
    #[test]
    fn possible_backing_files_of_loop_devices_counted_as_unused() {
        let root = std::env::temp_dir().join(format!("fathom-users-{}", std::process::id()));
        let unread = FileUsers::read(&root).of(FILE, 4096);
        assert!(unread.unknown.iter().any(|reason| reason.contains("/sys/block")), "{unread:?}");
        let device = root.join("sys/block/loop777");
        fs::create_dir_all(device.join("loop")).unwrap();
        for (name, text) in [("dev", "7:777\n"), ("size", "8\n"), ("loop/offset", "0\n"), ("loop/sizelimit", "0\n")] {
            fs::write(device.join(name), text).unwrap();
        }
        // The second path exists but may be another file than in the device's mount namespace.
        for name in ["/no/such/place/in/this/namespace\n", "/proc/version\n"] {
            fs::write(device.join("loop/backing_file"), name).unwrap();
            let users = FileUsers::read(&root);
            let of = |bytes| users.of(FILE, bytes).unknown.iter().any(|reason| reason.contains("loop777"));
            assert!(of(4096) && !of(8192), "{name}");
        }
        fs::remove_dir_all(root).unwrap();
    }

    #[test]
    fn recent_users_are_read_again_before_they_are_reported_and_after_a_moment() {
        let root = std::env::temp_dir().join(format!("fathom-recent-{}", std::process::id()));
        let swaps = |text: &str| fs::write(root.join("proc/swaps"), format!("Filename Type\n{text}")).unwrap();
        for directory in ["proc/self", "sys/block"] {
            fs::create_dir_all(root.join(directory)).unwrap();
        }
        let file = root.join("file");
        fs::write(&file, "").unwrap();
        let identity = FileIdentity::at(&file).unwrap();
        let used = format!("{} file\n", file.display());
        let mut recent = RecentFileUsers::default();
        swaps(&used);
        assert_eq!(recent.of(&root, identity, 0).found.len(), 1);
        swaps("");
        assert_eq!(recent.of(&root, identity, 0).found.len(), 0, "the use has ended");
        swaps(&used);
        std::thread::sleep(MAX_AGE);
        assert_eq!(recent.of(&root, identity, 0).found.len(), 1, "a use has begun");
        fs::remove_dir_all(root).unwrap();
    }
}

//! Hosts with invalid files: the doctor neither fails nor leaves its root.

use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use crate::common::flat;
use crate::doctor::tree::Tree;

/// Finds all files of a tree, without links.
fn files(directory: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(directory).unwrap().flatten() {
        let kind = entry.file_type().unwrap();
        if kind.is_dir() {
            files(&entry.path(), found);
        } else if kind.is_file() {
            found.push(entry.path());
        }
    }
}

/// Reports whether the device would be unknown without a file.
fn is_needed(path: &Path) -> bool {
    path.ends_with("dev") || path.ends_with("partition") || path.ends_with("proc/self/mountinfo")
}

const INVALID: [&[u8]; 9] = [
    b"",
    b"\n\n",
    b"\xff\xfe\x00\x01\x1b[31m",
    b"18446744073709551615",
    b"99999999999999999999999999999",
    b"-9223372036854775808",
    b"0-4294967295,x",
    b"[[][ ] 8:0 a=b = 259:0 riops=18446744073709551615 rbps=0",
    b"some avg60=nan avg60=inf nan inf MemTotal: 18446744073709551615 kB",
];

#[test]
fn no_file_content_breaks_the_doctor() {
    for invalid in INVALID {
        let tree = Tree::healthy();
        let mut all = Vec::new();
        files(Path::new(&tree.root()), &mut all);
        for path in all.iter().filter(|path| !is_needed(path)) {
            std::fs::write(path, invalid).unwrap();
        }
        for words in ["/srv --all", "nvme0n1 --format md", "nvme0n1p1 --for iops --format json"] {
            let outcome = tree.ask(words).expect_code(0);
            assert_eq!(outcome.stderr, "");
            assert!(!outcome.stdout.contains('\u{1b}'), "{}", outcome.stdout);
        }
    }
}

#[test]
fn each_file_and_all_files_may_be_missing() {
    let tree = Tree::healthy();
    let mut all = Vec::new();
    files(Path::new(&tree.root()), &mut all);
    for path in all.iter().filter(|path| !is_needed(path)) {
        let text = std::fs::read(path).unwrap();
        std::fs::remove_file(path).unwrap();
        tree.ask("/srv").expect_code(0);
        std::fs::write(path, text).unwrap();
    }
    for path in all.iter().filter(|path| !is_needed(path)) {
        std::fs::remove_file(path).unwrap();
    }
    let outcome = tree.ask("/srv --details").expect_code(0);
    let text = flat(&outcome.stdout);
    let answer = "ANSWER Cannot tell: most settings of /srv and this host could not be read.";
    assert!(text.starts_with(answer), "{}", outcome.stdout);
    assert!(
        text.contains("/proc/sys/kernel/osrelease does not exist"),
        "unknown gives its reason:\n{}",
        outcome.stdout
    );
    assert!(text.contains("/sys/class/block/nvme0n1/queue/scheduler does not exist"), "{}", outcome.stdout);
}

#[test]
fn invalid_mounts() {
    let tree = Tree::healthy();
    for text in [
        &b""[..],
        b"\xff",
        b"1 2 259:1 / / rw - ext4\n",
        b"1 2 4294967296:1 / / rw - ext4 x rw\n",
        b"a b c d e f - g h i",
    ] {
        tree.put("proc/self/mountinfo", text);
        tree.ask("/srv").expect_code(0);
    }
    let name = "1 2 259:1 / /a\\033[31m\\012b rw,relatime - ext4 /dev/x rw\n";
    tree.put("proc/self/mountinfo", name);
    let outcome = tree.ask("nvme0n1p1").expect_code(0);
    assert!(!outcome.stdout.contains('\u{1b}') && outcome.stdout.contains("/a?[31m?b"), "{}", outcome.stdout);
}

#[test]
fn links_out_of_the_root_are_not_followed() {
    let (tree, outside) = (Tree::healthy(), Tree::healthy());
    outside.put("secret", "[stolen]");
    let root = PathBuf::from(tree.root());
    let file = root.join("sys/devices/pci0/nvme/nvme0/nvme0n1/queue/scheduler");
    std::fs::remove_file(&file).unwrap();
    symlink(Path::new(&outside.root()).join("secret"), &file).unwrap();
    let outcome = tree.ask("nvme0n1 --details").expect_code(0);
    assert!(
        outcome.stdout.contains("points outside --root") && !outcome.stdout.contains("stolen"),
        "{}",
        outcome.stdout
    );
    // Nor are links of device properties or of mounts.
    for file in ["sys/devices/pci0/nvme/nvme0/model", "proc/self/mountinfo"] {
        std::fs::remove_file(root.join(file)).unwrap();
        symlink(Path::new(&outside.root()).join(file), root.join(file)).unwrap();
    }
    let outcome = tree.ask("nvme0n1 --details").expect_code(0);
    assert!(!outcome.stdout.contains("Fast SSD") && !outcome.stdout.contains("/srv"), "{}", outcome.stdout);
    // Nor is a link to a device directory.
    symlink(Path::new(&outside.root()).join("sys/class/block/nvme0n1"), root.join("sys/class/block/away")).unwrap();
    tree.ask("away").expect_code(2);
}

#[test]
fn invalid_names_are_refused_without_failure() {
    let tree = Tree::healthy();
    for name in ["..", "../../etc", "/dev/", "/dev/../etc", "nvme0n1\u{1b}[31m", "ü", &"x".repeat(5000)] {
        let root = tree.root();
        let outcome = crate::common::run(&mut crate::common::fathom(["doctor", "--root", &root, name]));
        assert!(matches!(outcome.code(), Some(0 | 2)), "{name}: {outcome:?}");
        assert!(!outcome.stderr.contains("\u{1b}[31m"), "{}", outcome.stderr);
    }
}

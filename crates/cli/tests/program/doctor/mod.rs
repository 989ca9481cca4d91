//! `fathom doctor`: every rule on a host made of files, this host, and hosts with invalid files.

mod hostile;
mod rules;
mod stacks;
mod tree;

use crate::common::devices::{LoopDevice, Mount, tool};
use crate::common::json::Json;
use crate::common::{Scratch, fathom, flat, require, run, words};
use tree::Tree;

#[test]
fn a_healthy_host_raises_nothing() {
    let tree = Tree::healthy();
    let iops = Json::read(&tree.ask("/srv/data --for iops --format json").expect_code(0).stdout);
    for (place, unknown) in [("subjects/0", 1), ("host", 0)] {
        assert_eq!(iops.whole(&format!("{place}/tally/problem")), 0, "{iops:?}");
        assert_eq!(iops.whole(&format!("{place}/tally/could_be_better")), 0, "{iops:?}");
        // The fullness of a filesystem is unknown in a copy.
        assert_eq!(iops.whole(&format!("{place}/tally/unknown")), unknown, "{iops:?}");
    }
    tree.put("queue/read_ahead_kb", "4096");
    let throughput = tree.ask("/srv/data --for throughput").expect_code(0).stdout;
    let answer = "ANSWER    No setting of /srv/data costs throughput: 31 checks passed.\n";
    assert!(throughput.starts_with(answer) && !throughput.contains("could be better"), "{throughput}");
    assert!(throughput.contains("\n/srv/data: 24 good, 1 unknown\n"), "{throughput}");
}

#[test]
fn the_page_starts_with_the_answer_and_names_devices_in_commands() {
    let tree = Tree::healthy();
    tree.put("queue/scheduler", "none mq-deadline [bfq]");
    tree.put("queue/rotational", "1");
    let page = tree.ask("nvme0n1").expect_code(0).stdout;
    let settings = "I/O scheduler, rotational flag (IOPS only), read-ahead (throughput only).";
    let answer =
        format!("ANSWER 3 settings of nvme0n1 cost performance: {settings} DO I/O scheduler of nvme0n1: bfq; ");
    assert!(flat(&page).starts_with(&answer), "{page}");
    // A value that suits one purpose is not called bad for both.
    assert!(flat(&page).contains("128 KiB, 256 sectors; better at least 1 MiB for throughput."), "{page}");
    for part in [
        "echo none | sudo tee /sys/block/nvme0n1/queue/scheduler\n",
        "sudo blockdev --setra 16384 /dev/nvme0n1\n",
        "nvme0n1: 1 problem, 2 could be better, ",
        "  ext4 at /srv on nvme0n1 (Fast SSD 1000, nvme, 1 GiB)",
    ] {
        assert!(page.contains(part), "`{part}` is missing from:\n{page}");
    }
    let page = tree.ask("nvme0n1 --details").expect_code(0).stdout;
    let expected = [
        "nvme0n1: 1 problem, 2 could be better, ",
        "  ext4 at /srv on nvme0n1 (Fast SSD 1000, nvme, 1 GiB)",
        "I/O scheduler, nvme0n1: problem for IOPS, could be better for throughput",
        "  now     echo none | sudo tee /sys/block/nvme0n1/queue/scheduler\n",
        "ATTR{queue/scheduler}=\"none\"' | sudo tee /etc/udev/rules.d/60-nvme0n1-scheduler.rules\n",
        "  now     sudo blockdev --setra 16384 /dev/nvme0n1\n",
        "good, this host\n",
    ];
    for part in expected {
        assert!(page.contains(part), "`{part}` is missing from:\n{page}");
    }
    assert!(
        page.find("I/O scheduler, ").unwrap() < page.find("rotational flag, ").unwrap(),
        "the problem comes first:\n{page}"
    );
}

/// `fathom doctor` without arguments was a usage error.
#[test]
fn without_arguments_the_mounted_disks_are_checked() {
    let tree = Tree::healthy();
    let asked = |words: &str| {
        let document = Json::read(&tree.ask(&format!("{words} --format json")).expect_code(0).stdout);
        document.items("subjects").iter().map(|subject| subject.text("asked").to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(asked(""), ["/srv"]);
    tree.put("proc/self/mountinfo", "22 1 0:21 / /proc rw - proc proc rw\n");
    let nothing = tree.ask("").expect_code(2);
    assert!(nothing.stderr.contains("no filesystem on a local disk is mounted\n"), "{}", nothing.stderr);
    assert!(nothing.stderr.contains("nvme0n1"), "{}", nothing.stderr);
}

#[test]
fn the_page_fits_its_width_except_commands() {
    let tree = Tree::healthy();
    tree.put("queue/scheduler", "none mq-deadline [bfq]");
    for columns in ["80", "120"] {
        for all in [&[][..], &["--details"], &["--all"]] {
            let root = tree.root();
            let words = ["doctor", "--root", &root, "/srv"].into_iter().chain(all.iter().copied());
            let page = run(fathom(words).env("COLUMNS", columns)).expect_clean().stdout;
            let width: usize = columns.parse().unwrap();
            let commands = ["  now ", "  always ", "  or ", "            echo ", "            sudo "];
            let prose = page.lines().filter(|line| !commands.iter().any(|label| line.starts_with(label)));
            for line in prose {
                assert!(line.chars().count() <= width, "{columns} columns: {line}");
            }
        }
    }
}

#[test]
fn all_explains_good_findings() {
    let tree = Tree::healthy();
    let (some, all) = (tree.ask("/srv --details").stdout, tree.ask("/srv -v").stdout);
    assert!(!some.contains("write cache, nvme0n1: good") && some.contains("write cache "), "{some}");
    assert!(all.contains("write cache, nvme0n1: good\n  found   write back, FUA\n  why "), "{all}");
}

#[test]
fn documents_are_written_by_file_extension() {
    let (tree, scratch) = (Tree::healthy(), Scratch::new());
    let (json, md, txt) = (scratch.text("a.json"), scratch.text("a.md"), scratch.text("a.txt"));
    tree.ask(&format!("/srv --format md -o {json} -o {md} -o {txt}")).expect_clean();
    Json::read(&std::fs::read_to_string(json).unwrap());
    let answer = "1 setting of /srv costs performance: read-ahead (throughput only).";
    let md = std::fs::read_to_string(md).unwrap();
    assert!(md.starts_with(&format!("**{answer}**\n\n* Read-ahead")) && md.contains("\n## /srv\n"), "{md}");
    let txt = std::fs::read_to_string(txt).unwrap();
    assert!(txt.starts_with(&format!("ANSWER    {answer}\n")) && txt.contains("\n/srv: "), "{txt}");
    let refused = tree.ask(&format!("/srv -o {}", scratch.text("a.csv"))).expect_code(2);
    assert!(refused.stderr.contains(".json .md .txt"), "{}", refused.stderr);
    assert_eq!(scratch.names(), ["a.json", "a.md", "a.txt"]);
}

#[test]
fn unknown_names_are_reported_together_with_suggestions() {
    let tree = Tree::healthy();
    let outcome = tree.ask("nvme1n1 /srv /dev/sdz").expect_code(2);
    for part in ["command line:1:15", "command line:1:28", "did you mean `nvme0n1`?", "2 errors; nothing was touched"] {
        assert!(outcome.stderr.contains(part), "`{part}` is missing from:\n{}", outcome.stderr);
    }
    assert_eq!(outcome.stdout, "");
    let outcome = run(&mut fathom(words("doctor /dev/null ./no-such-file"))).expect_code(2);
    assert!(
        outcome.stderr.contains("character device") && outcome.stderr.contains("no such file"),
        "{}",
        outcome.stderr
    );
}

#[test]
fn an_unreadable_host_is_an_error() {
    let scratch = Scratch::new();
    for (root, part) in [(scratch.text("missing"), "No such file"), (scratch.text(""), "cannot read sys or proc")] {
        let outcome = run(&mut fathom(["doctor", "--root", &root, "sda"])).expect_code(3);
        assert!(outcome.stderr.contains(part), "{}", outcome.stderr);
    }
    run(&mut fathom(["doctor"])).expect_code(0);
}

#[test]
fn this_host_is_checked_in_all_formats() {
    for format in ["text", "json", "md"] {
        let outcome = run(&mut fathom(words(&format!("doctor / /proc --all --format {format}")))).expect_clean();
        assert!(outcome.stdout.contains("kernel"), "{}", outcome.stdout);
        assert!(!outcome.stdout.contains('\u{1b}'), "{}", outcome.stdout);
    }
    let coloured = run(fathom(words("doctor /")).env_remove("NO_COLOR").env("CLICOLOR_FORCE", "1")).expect_clean();
    assert!(coloured.stdout.contains("\u{1b}["), "{}", coloured.stdout);
}

#[test]
fn a_loop_device_is_followed_to_the_disk_of_its_file_and_left_unchanged() {
    require!(Root);
    let scratch = Scratch::new();
    let backing = scratch.sparse("backing", 64 << 20);
    let device = LoopDevice::over(&scratch.path("backing"));
    tool("mkfs.ext4", &["-q", "-E", "lazy_itable_init=0", &device.path]);
    let mount = Mount::new(&device.path, scratch.path("mounted"));
    let before = tool("losetup", &["--list", "--noheadings", "--output", "DIO,OFFSET,RO", &device.path]);
    let at = mount.at.to_string_lossy().into_owned();
    for name in [&device.path, &at] {
        let outcome = run(&mut fathom(["doctor", name, "--format", "json"])).expect_clean();
        let document = Json::read(&outcome.stdout);
        let stack = document.text("subjects/0/stack");
        assert!(stack.contains("ext4 at ") && stack.contains(&backing), "{stack}");
        let findings = document.items("subjects/0/findings");
        let direct = findings.iter().find(|finding| finding.text("check") == "loop-direct").expect("it is checked");
        assert_eq!(direct.text("commands/0/now"), format!("sudo losetup --direct-io=on {}", device.path));
        let full = findings.iter().find(|finding| finding.text("check") == "fullness").expect("it is checked");
        assert_eq!(full.text("state"), "good");
    }
    let after = tool("losetup", &["--list", "--noheadings", "--output", "DIO,OFFSET,RO", &device.path]);
    assert_eq!(before, after);
}

#[test]
fn every_check_has_an_entry_in_its_document() {
    let page = run(&mut fathom(["doctor", "--checks"])).expect_clean().stdout;
    assert!(page.matches("\nFrom: ").count() >= 35, "{page}");
    assert_eq!(page.matches("\n## ").count(), page.matches("In JSON: `").count());
}

//! Opening, laying out and invalidating files.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;
use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::gate::gate_of_any_content;
use crate::loops::Loop;
use crate::scratch::Scratch;
use engine::files::ZoneTrim;
use engine::files::{self, Access, FileKind, FileLayout, Laid, LayoutContent, LayoutProgress};
use engine::gate::{Permissions, Sharing, WriteGate};
use engine::{Error, ErrorKind, MonotonicClock, Opening, Visitor, with_target};
use target::Target;
use target::spec::{EngineKind, Fallocate, OpenSync, SyncRangeFlags};

const MIB: u64 = 1 << 20;

fn layout(path: PathBuf, bytes: u64, content: LayoutContent) -> FileLayout {
    FileLayout { path, bytes, content, writes: 0, fallocate: Fallocate::Native, fsync: true, seed: 1 }
}

fn lay(layout: &FileLayout) -> Result<Laid, Error> {
    files::lay_out(std::slice::from_ref(layout), &gate_of_any_content(), &AtomicBool::new(false), &mut |_| {})?
        .remove(0)
}

const READ: Access = Access {
    read: true,
    write: false,
    direct: false,
    sync: OpenSync::None,
    punch_holes: false,
    zone_trim: ZoneTrim::Discard,
    sync_range: SyncRangeFlags { wait_before: false, write: false, wait_after: false },
    shares_filesystem: false,
};

#[test]
fn a_missing_file_is_created_with_its_directories_and_filled() {
    let scratch = Scratch::new("made");
    let path = scratch.path("a/b/data");
    let mut seen = Vec::new();
    let layouts = [layout(path.clone(), 3 * MIB + 5, LayoutContent::Filled)];
    let mut progress = |step: LayoutProgress<'_>| seen.push((step.written, step.total));
    assert_eq!(
        files::lay_out(&layouts, &gate_of_any_content(), &AtomicBool::new(false), &mut progress).unwrap()[0]
            .as_ref()
            .unwrap(),
        &Laid::Created
    );
    let data = fs::read(&path).unwrap();
    assert_eq!(data.len() as u64, 3 * MIB + 5);
    assert!(data.chunks(4096).all(|block| block.iter().any(|&byte| byte != 0)), "a block of zeroes");
    let total = 3 * MIB + 5;
    assert_eq!(seen, [(MIB, total), (2 * MIB, total), (3 * MIB, total), (total, total)]);
    assert_eq!(lay(&layouts[0]).unwrap(), Laid::Found);
}

/// Lays files out as a rank of a run on many hosts, with a gate that lives on. Returns the bytes that it has written, too.
fn lay_as_rank(layouts: &[FileLayout], gate: &WriteGate) -> Result<(Vec<Laid>, u64), Error> {
    let mut written = 0;
    let mut progress = |step: LayoutProgress<'_>| written = step.written;
    let laid = files::lay_out(layouts, gate, &AtomicBool::new(false), &mut progress)?;
    Ok((laid.into_iter().collect::<Result<_, _>>()?, written))
}

fn gate_of_rank(run: u32) -> WriteGate {
    WriteGate::new(Permissions { sharing: Sharing::Ranks(run), marks_own: true, ..Permissions::default() }, None)
}

/// Each rank wrote the whole file, or failed because another one had made it.
#[test]
fn each_rank_laid_a_shared_file_out() {
    const RANKS: usize = 8;
    for round in 0..5 {
        let scratch = Scratch::new("shared");
        let layouts: Vec<FileLayout> =
            (0..3).map(|file| layout(scratch.path(&format!("{file}")), 24 * MIB, LayoutContent::Filled)).collect();
        let (before, between) = (Barrier::new(RANKS), Barrier::new(RANKS));
        let rank = || {
            let gate = gate_of_rank(7);
            before.wait();
            let first = lay_as_rank(&layouts, &gate);
            // Gates live until all ranks have ended. A panic before the barrier would leave the others waiting.
            between.wait();
            let is_missing = |index: usize| first.as_ref().is_ok_and(|(laid, _)| laid[index] == Laid::Elsewhere);
            let missing: Vec<FileLayout> =
                (0..layouts.len()).filter(|index| is_missing(*index)).map(|index| layouts[index].clone()).collect();
            let second = lay_as_rank(&missing, &gate);
            between.wait();
            (first, second)
        };
        let ranks: Vec<_> = std::thread::scope(|scope| {
            let ranks: Vec<_> = (0..RANKS).map(|_| scope.spawn(rank)).collect();
            ranks.into_iter().map(|rank| rank.join().unwrap()).collect()
        });
        let mut total = 0;
        for (first, second) in ranks {
            let ((_, written), (second, more)) = (first.unwrap(), second.unwrap());
            total += written;
            assert!(second.iter().all(|laid| *laid == Laid::Found) && more == 0, "{round}: {second:?}, {more}");
        }
        assert_eq!(total, 3 * 24 * MIB, "{round}");
        for layout in &layouts {
            let data = fs::read(&layout.path).unwrap();
            assert_eq!(data.len() as u64, 24 * MIB);
            assert!(data.chunks(4096).all(|block| block.iter().any(|&byte| byte != 0)), "a block of zeroes");
        }
    }
}

#[test]
fn many_files_are_reserved_whatever_exists() {
    const FILES: usize = 1200;
    let scratch = Scratch::new("reserved");
    let layouts: Vec<FileLayout> = (0..FILES)
        .map(|number| {
            let folder = if number % 2 == 0 { "even" } else { "odd" };
            layout(scratch.path(&format!("{folder}/{number}")), 4096, LayoutContent::Reserved)
        })
        .collect();
    fs::create_dir(scratch.path("even")).unwrap();
    let expected: Vec<Laid> = (0..FILES)
        .map(|number| match number % 4 {
            0 => {
                fs::write(&layouts[number].path, vec![1; 4096]).unwrap();
                Laid::Found
            }
            2 => {
                fs::write(&layouts[number].path, vec![1; 1000]).unwrap();
                Laid::Extended(1000)
            }
            _ => Laid::Created,
        })
        .collect();
    let gate = gate_of_any_content();
    let lay = |is_cancelled| files::lay_out(&layouts, &gate, &AtomicBool::new(is_cancelled), &mut |_| {});
    assert_eq!(lay(true).unwrap_err().kind, ErrorKind::Cancelled);
    assert!(!scratch.path("odd").exists());
    let laid: Vec<Laid> = lay(false).unwrap().into_iter().map(Result::unwrap).collect();
    assert_eq!(laid, expected);
    assert!(layouts.iter().all(|layout| layout.path.metadata().unwrap().len() == 4096));
}

#[test]
fn a_file_that_a_rank_fails_to_lay_out_is_left_to_another() {
    let scratch = Scratch::new("failed");
    let path = scratch.path("data");
    let wanted = [layout(path.clone(), 8 * MIB, LayoutContent::Filled)];
    let (first, second) = (gate_of_rank(7), gate_of_rank(7));
    let cancel = AtomicBool::new(false);
    let mut seen = None;
    // The second begins while the first writes, and the first is cancelled then.
    let mut progress = |_: LayoutProgress<'_>| {
        if seen.is_none() {
            seen = Some(lay_as_rank(&wanted, &second).unwrap().0);
            cancel.store(true, Ordering::Relaxed);
        }
    };
    let error = files::lay_out(&wanted, &first, &cancel, &mut progress).unwrap_err();
    assert_eq!((error.kind, seen), (ErrorKind::Cancelled, Some(vec![Laid::Elsewhere])));
    assert!(!path.exists(), "unfinished files were left unchanged");
    assert_eq!(lay_as_rank(&wanted, &second).unwrap(), (vec![Laid::Created], 8 * MIB));
    // A run of its own has no part in it.
    let other = gate_of_rank(8);
    let refused = files::lay_out(&[layout(path, 9 * MIB, LayoutContent::Filled)], &other, &cancel, &mut |_| {});
    assert!(refused.unwrap().remove(0).is_err());
}

#[test]
fn a_file_that_a_rank_created_and_another_failed_to_lay_out_is_removed() {
    for is_created_before in [true, false] {
        let scratch = Scratch::new("created");
        let before = layout(scratch.path("before"), MIB, LayoutContent::Filled);
        let shared = layout(scratch.path("shared"), 2 * MIB, LayoutContent::Filled);
        let (creator, other, cancel) = (gate_of_rank(7), gate_of_rank(7), AtomicBool::new(false));
        if is_created_before {
            creator.create(&shared.path).unwrap();
        }
        // The other rank is the first to lock it, and is cancelled while it writes.
        let mut progress = |step: LayoutProgress<'_>| {
            if step.path == before.path {
                creator.create(&shared.path).unwrap();
            } else {
                cancel.store(true, Ordering::Relaxed);
            }
        };
        let layouts = [before.clone(), shared.clone()];
        let error = files::lay_out(&layouts, &other, &cancel, &mut progress).unwrap_err();
        assert_eq!(error.kind, ErrorKind::Cancelled);
        assert!(!shared.path.exists(), "an empty file is left");
        assert_eq!(lay_as_rank(&[shared], &creator).unwrap(), (vec![Laid::Created], 2 * MIB));
    }
}

#[test]
fn a_rank_that_fails_to_extend_a_file_keeps_the_part_of_another() {
    let scratch = Scratch::new("part");
    let before = layout(scratch.path("before"), MIB, LayoutContent::Filled);
    let short = layout(scratch.path("shared"), 2 * MIB, LayoutContent::Filled);
    let long = FileLayout { bytes: 4 * MIB, ..short.clone() };
    let (first, second, cancel) = (gate_of_rank(7), gate_of_rank(7), AtomicBool::new(false));
    let mut progress = |step: LayoutProgress<'_>| {
        if step.path == before.path {
            assert_eq!(lay_as_rank(std::slice::from_ref(&short), &first).unwrap().0, [Laid::Created]);
        } else {
            cancel.store(true, Ordering::Relaxed);
        }
    };
    let error = files::lay_out(&[before.clone(), long], &second, &cancel, &mut progress).unwrap_err();
    assert_eq!((error.kind, fs::metadata(&short.path).unwrap().len()), (ErrorKind::Cancelled, 2 * MIB));
}

#[test]
fn a_file_that_another_rank_undid_after_its_size_was_read_is_not_found() {
    let scratch = Scratch::new("undone");
    let before = layout(scratch.path("before"), MIB, LayoutContent::Filled);
    let shared = layout(scratch.path("shared"), 2 * MIB, LayoutContent::Filled);
    for left in [None, Some(8)] {
        let _ = fs::remove_file(&before.path);
        fs::write(&shared.path, vec![1; 2 << 20]).unwrap();
        let mut progress = |step: LayoutProgress<'_>| {
            if step.path == before.path {
                match left {
                    None => fs::remove_file(&shared.path).unwrap(),
                    Some(bytes) => fs::write(&shared.path, vec![1; bytes]).unwrap(),
                }
            }
        };
        let layouts = [before.clone(), shared.clone()];
        let laid = files::lay_out(&layouts, &gate_of_rank(7), &AtomicBool::new(false), &mut progress).unwrap();
        assert_eq!(laid.into_iter().map(Result::unwrap).collect::<Vec<_>>(), [Laid::Created, Laid::Elsewhere]);
    }
}

#[test]
fn a_short_file_is_extended_and_keeps_its_content() {
    let scratch = Scratch::new("extended");
    let path = scratch.path("data");
    fs::write(&path, b"precious").unwrap();
    assert_eq!(lay(&layout(path.clone(), MIB, LayoutContent::Filled)).unwrap(), Laid::Extended(8));
    let data = fs::read(&path).unwrap();
    assert_eq!((&data[..8], data.len() as u64), (&b"precious"[..], MIB));
    assert_eq!(lay(&layout(path.clone(), 100, LayoutContent::Filled)).unwrap(), Laid::Found);
    assert_eq!(fs::metadata(&path).unwrap().len(), MIB);
}

#[test]
fn space_is_reserved_as_requested() {
    let scratch = Scratch::new("reserved");
    let cases = [
        (Fallocate::None, 0, false),
        (Fallocate::Native, MIB, true),
        (Fallocate::Posix, MIB, true),
        (Fallocate::Keep, 0, true),
        (Fallocate::Truncate, MIB, false),
    ];
    for (fallocate, bytes, allocated) in cases {
        let path = scratch.path(&format!("{fallocate:?}"));
        let wanted = FileLayout { fallocate, ..layout(path.clone(), MIB, LayoutContent::Reserved) };
        assert_eq!(lay(&wanted).unwrap(), Laid::Created);
        let metadata = fs::metadata(&path).unwrap();
        assert_eq!((metadata.len(), metadata.blocks() > 0), (bytes, allocated), "{fallocate:?}");
    }
}

#[test]
fn too_large_layouts_are_refused_before_anything_is_written() {
    let scratch = Scratch::new("full");
    let free = probe::free_bytes(&scratch.path("")).unwrap();
    // Each of the two would fit alone.
    let layouts = ["first", "second"].map(|name| FileLayout {
        writes: u64::MAX,
        ..layout(scratch.path(name), free / 3 * 2, LayoutContent::Reserved)
    });
    let error = files::lay_out(&layouts, &gate_of_any_content(), &AtomicBool::new(false), &mut |_| {}).unwrap_err();
    assert_eq!(error.kind, ErrorKind::NoSpace);
    assert!(error.to_string().contains(" free, "), "{error}");
    assert!(!scratch.path("first").exists() && !scratch.path("second").exists());
    // A sparse file is long enough, but there is no space to write it. Other programs may free some space meanwhile.
    let sparse = layout(scratch.path("sparse"), free * 2, LayoutContent::Filled);
    fs::File::create(&sparse.path).unwrap().set_len(sparse.bytes).unwrap();
    assert_eq!(lay(&sparse).unwrap(), Laid::Found);
    assert_eq!(lay(&FileLayout { writes: u64::MAX, ..sparse }).unwrap_err().kind, ErrorKind::NoSpace);
    let huge = layout(scratch.path("huge"), u64::MAX / 2, LayoutContent::Filled);
    assert_eq!(lay(&huge).unwrap_err().kind, ErrorKind::NoSpace);
}

#[test]
fn a_file_larger_than_its_filesystem_was_refused_though_little_of_it_is_written() {
    let scratch = Scratch::new("little");
    let free = probe::free_bytes(&scratch.path("")).unwrap();
    let large = FileLayout { writes: MIB, ..layout(scratch.path("large"), free * 2, LayoutContent::Reserved) };
    assert_eq!(lay(&large).unwrap(), Laid::Created);
    assert_eq!(fs::metadata(&large.path).unwrap().blocks(), 0, "more space was reserved than is free");
}

#[test]
fn a_cancelled_layout_restores_the_files() {
    let scratch = Scratch::new("cancelled");
    let (new, old, finished) = (scratch.path("new"), scratch.path("old"), scratch.path("finished"));
    fs::write(&old, b"precious").unwrap();
    for path in [&new, &old] {
        let cancel = AtomicBool::new(false);
        let layouts = [
            layout(finished.clone(), MIB, LayoutContent::Filled),
            layout(path.clone(), 64 * MIB, LayoutContent::Filled),
        ];
        let mut progress = |step: LayoutProgress<'_>| cancel.store(step.written > 8 * MIB, Ordering::Relaxed);
        let error = files::lay_out(&layouts, &gate_of_any_content(), &cancel, &mut progress).unwrap_err();
        assert_eq!(error.kind, ErrorKind::Cancelled);
    }
    assert!(!new.exists());
    assert_eq!(fs::read(&old).unwrap(), b"precious");
    assert_eq!(fs::metadata(&finished).unwrap().len(), MIB, "a finished file was undone");
}

/// Revision 692e655 took the size from the name and filled the file that the gate had admitted from that size on.
#[test]
fn a_renamed_path_overwrote_the_admitted_file() {
    let scratch = Scratch::new("moved");
    let path = scratch.path("data");
    fs::write(&path, b"precious").unwrap();
    let gate = gate_of_any_content();
    gate.admit(&path).unwrap();
    fs::rename(&path, scratch.path("first")).unwrap();
    fs::write(&path, b"").unwrap();
    let lay = |bytes| {
        let layouts = [layout(path.clone(), bytes, LayoutContent::Filled)];
        files::lay_out(&layouts, &gate, &AtomicBool::new(false), &mut |_| {}).unwrap().remove(0).unwrap()
    };
    assert_eq!(lay(4), Laid::Found);
    assert_eq!(fs::read(scratch.path("first")).unwrap(), b"precious");
    assert_eq!(lay(MIB), Laid::Extended(8));
    let data = fs::read(scratch.path("first")).unwrap();
    assert_eq!((&data[..8], data.len() as u64), (&b"precious"[..], MIB));
    assert_eq!(fs::read(&path).unwrap(), b"");
}

/// Revision 692e655 removed the file that had replaced the unfinished one under its name.
#[test]
fn a_cancelled_layout_removed_the_file_of_another_program() {
    let scratch = Scratch::new("replaced");
    let path = scratch.path("data");
    let cancel = AtomicBool::new(false);
    let mut progress = |step: LayoutProgress<'_>| {
        if step.written > 8 * MIB && !cancel.swap(true, Ordering::Relaxed) {
            fs::write(scratch.path("new"), b"precious").unwrap();
            fs::rename(scratch.path("new"), &path).unwrap();
        }
    };
    let layouts = [layout(path.clone(), 64 * MIB, LayoutContent::Filled)];
    let error = files::lay_out(&layouts, &gate_of_any_content(), &cancel, &mut progress).unwrap_err();
    assert_eq!(error.kind, ErrorKind::Cancelled);
    assert_eq!(fs::read(&path).unwrap(), b"precious");
}

/// Revision 692e655 removed the link through which it had created the file, and left the file.
#[test]
fn a_cancelled_layout_through_a_link_removes_the_file() {
    let scratch = Scratch::new("linked");
    std::os::unix::fs::symlink("data", scratch.path("link")).unwrap();
    let cancel = AtomicBool::new(false);
    let mut progress = |step: LayoutProgress<'_>| cancel.store(step.written > 8 * MIB, Ordering::Relaxed);
    let layouts = [layout(scratch.path("link"), 64 * MIB, LayoutContent::Filled)];
    files::lay_out(&layouts, &gate_of_any_content(), &cancel, &mut progress).unwrap_err();
    assert!(!scratch.path("data").exists() && scratch.path("link").is_symlink());
}

#[test]
fn kinds_and_sizes_are_detected() {
    let scratch = Scratch::new("known");
    let file = files::open(&scratch.file("data", 5000), READ).unwrap();
    assert_eq!((file.kind(), file.bytes()), (FileKind::Regular, 5000));
    let null = files::open("/dev/null".as_ref(), READ).unwrap();
    assert_eq!((null.kind(), null.bytes()), (FileKind::Character, 0));
    assert_eq!(files::look(&scratch.path("none")).unwrap(), None);
    let directory = files::look(&scratch.path("")).unwrap_err();
    assert!(directory.to_string().contains("neither a file nor a device"), "{directory}");
    let missing = files::open(&scratch.path("none"), READ).unwrap_err();
    assert_eq!((missing.kind, missing.errno), (ErrorKind::File, Some(2)));
    assert!(missing.to_string().contains("cannot open"), "{missing}");
}

#[test]
fn opening_for_writing_creates_missing_files() {
    let scratch = Scratch::new("opened");
    gate_of_any_content().open(&scratch.path("x/data"), READ).unwrap();
    assert!(scratch.path("x/data").exists());
    files::remove(&scratch.path("x/data")).unwrap();
    assert!(!scratch.path("x/data").exists());
    files::remove(&scratch.path("x/data")).unwrap();
    assert!(files::remove(&scratch.path("x")).unwrap_err().to_string().contains("cannot remove"));
}

#[test]
fn direct_operations_need_whole_blocks() {
    let scratch = Scratch::new("blocks");
    let Some(device) = Loop::over(&scratch.file("image", MIB)) else {
        return;
    };
    let file = files::open(device.path(), Access { direct: true, ..READ }).unwrap();
    assert_eq!((file.kind(), file.bytes()), (FileKind::Block, MIB));
    assert_eq!(files::look(device.path()).unwrap().unwrap().bytes, MIB);
    file.check_block(4096).unwrap();
    let error = file.check_block(1000).unwrap_err();
    assert_eq!(error.kind, ErrorKind::Direct);
    assert!(error.to_string().contains("use bs=512"), "{error}");
    files::open(device.path(), READ).unwrap().check_block(1000).unwrap();
}

#[test]
fn missing_direct_io_is_reported_with_a_remedy() {
    let path = PathBuf::from("/proc/self/status");
    let error = files::open(&path, Access { direct: true, ..READ }).unwrap_err();
    assert_eq!(error.kind, ErrorKind::Direct);
    assert!(error.to_string().contains("remove direct=1"), "{error}");
}

#[test]
fn an_invalidated_file_leaves_the_page_cache() {
    let scratch = Scratch::new("invalidated");
    let path = scratch.path("data");
    lay(&layout(path.clone(), MIB, LayoutContent::Filled)).unwrap();
    let file = files::open(&path, READ).unwrap();
    assert_eq!(files::resident_bytes(&file).unwrap(), MIB);
    files::invalidate(&file, 0, 0).unwrap();
    assert_eq!(files::resident_bytes(&file).unwrap(), 0);
    files::invalidate(&files::open("/dev/null".as_ref(), READ).unwrap(), 0, 0).unwrap();
}

/// Checks that an engine drops the requested region and nothing else.
#[test]
fn engines_drop_only_the_requested_region_from_the_page_cache() {
    struct Invalidate;
    impl Visitor for Invalidate {
        type Output = ();
        fn visit<T: Target>(self, mut target: T) {
            target.invalidate(0, 4 * MIB, 4 * MIB);
        }
    }
    let scratch = Scratch::new("forgotten");
    for engine in EngineKind::ON_FILES.into_iter().filter(|engine| *engine != EngineKind::Null) {
        let path = scratch.path(engine.name());
        // The cache may keep its pages in blocks of up to 2 MiB and drops only whole blocks.
        lay(&layout(path.clone(), 16 * MIB, LayoutContent::Filled)).unwrap();
        let open = || files::open(&path, READ).unwrap();
        with_target(&Opening::new(engine, 1, 4096, MonotonicClock::start()), vec![open()], Invalidate).unwrap();
        assert_eq!(files::resident_bytes(&open()).unwrap(), 12 * MIB, "{}", engine.name());
    }
}

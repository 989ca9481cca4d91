//! Files that are truncated under a mapping: revision f52613e died of `SIGBUS`.

use crate::gate::gate_of_any_content;
use crate::scratch::Scratch;
use engine::files::Access;
use engine::{MonotonicClock, Opening, Visitor, with_target};
use target::spec::EngineKind;
use target::{Completion, Op, Tag, Target};
use units::{Nanos, OpKind};

const EIO: i32 = 5;
const BLOCK: u32 = 64 << 10;

/// Executes operations one after the other and changes the file size between them.
struct TruncatedFile<'a>(&'a std::fs::File);

impl TruncatedFile<'_> {
    fn one<T: Target>(target: &mut T, kind: OpKind, offset: u64) -> i32 {
        let mut done: Vec<Completion> = Vec::new();
        target.submit(Op { tag: Tag(0), kind, file: 0, offset, length: BLOCK, skip: 0 });
        target.wait(1, Nanos::MAX, &mut done);
        done[0].result
    }
}

impl Visitor for TruncatedFile<'_> {
    type Output = ();

    fn visit<T: Target>(self, mut target: T) {
        let target = &mut target;
        assert_eq!(Self::one(target, OpKind::Read, 1 << 20), BLOCK as i32);
        self.0.set_len(4096).unwrap();
        for kind in [OpKind::Read, OpKind::Write] {
            assert_eq!(Self::one(target, kind, 1 << 20), -EIO, "{kind:?}");
            assert_eq!(Self::one(target, kind, 0), -EIO, "{kind:?}: only its first page is left");
        }
        self.0.set_len(2 << 20).unwrap();
        // Replaced pages map the file again: anonymous memory would never be written back.
        target.buffer(Tag(0)).unwrap().fill(7);
        assert_eq!(Self::one(target, OpKind::Write, 1 << 20), BLOCK as i32);
        let mut read = [0; 16];
        std::os::unix::fs::FileExt::read_exact_at(self.0, &mut read, (1 << 20) + 4096).unwrap();
        assert_eq!(read, [7; 16]);
    }
}

#[test]
fn operations_beyond_a_new_end_fail_and_the_mapping_recovers() {
    let scratch = Scratch::new("cut-short");
    let path = scratch.file("data", 2 << 20);
    let file = std::fs::File::options().read(true).write(true).open(&path).unwrap();
    let access = Access { read: true, write: true, ..Access::default() };
    let opened = gate_of_any_content().open(&path, access).unwrap();
    let setup = Opening::new(EngineKind::Mmap, 1, BLOCK, MonotonicClock::start());
    with_target(&setup, vec![opened], TruncatedFile(&file)).unwrap();
}

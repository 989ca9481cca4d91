//! How many operations are submitted at a time.

/// Decides the size of groups.
///
/// Small groups where operations take time: a device that begins on the first while the others are made is kept
/// busier than one that gets the whole queue at once and answers it at once, in lock step. The whole queue where
/// everything that was handed over is done by the next look, as in the page cache: nothing is won by looking sooner.
#[derive(Clone, Copy, Debug)]
pub(crate) struct GroupSizing {
    fixed: Option<u32>,
    depth: u32,
    size: u32,
}

impl GroupSizing {
    /// Always `fixed`, if that is given.
    pub(crate) fn new(fixed: Option<u32>, depth: u32) -> Self {
        let size = small(depth);
        Self { fixed, depth, size }
    }

    /// The size of the next group, with `in_flight` operations not yet done.
    #[inline]
    pub(crate) fn next(&mut self, in_flight: u32) -> u32 {
        if let Some(fixed) = self.fixed {
            return fixed.max(1);
        }
        self.size = if in_flight == 0 { (self.size * 2).min(self.depth) } else { small(self.depth) };
        self.size
    }
}

/// An eighth of the queue, up to eight: 4 of 32 keep a virtio disk as busy as one at a time does, with half the
/// processor time of the generator.
const fn small(depth: u32) -> u32 {
    let eighth = depth / 8;
    if eighth < 1 {
        1
    } else if eighth > 8 {
        8
    } else {
        eighth
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grows_to_the_whole_queue_while_all_is_done_at_once() {
        let mut group = GroupSizing::new(None, 32);
        assert_eq!([0; 5].map(|in_flight| group.next(in_flight)), [8, 16, 32, 32, 32]);
        assert_eq!(group.next(3), 4);
        assert_eq!(group.next(0), 8);
    }

    #[test]
    fn a_size_that_was_asked_for_is_kept() {
        let mut group = GroupSizing::new(Some(5), 32);
        assert_eq!([0, 9, 31, 0].map(|in_flight| group.next(in_flight)), [5, 5, 5, 5]);
    }
}

//! Readahead: windows that double for sequential readers.
//!
//! Follows the kernel's `Documentation/core-api/mm-api.rst` ("Readahead Overview"). A window is a range of pages; its
//! tail is the part that no read has requested yet. The first page of the tail is marked: a reader that reaches it
//! starts the next window, so that the pages are present when it arrives there.

/// Access pattern hints (`posix_fadvise`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AccessAdvice {
    /// Windows up to the device's `read_ahead_kb`.
    #[default]
    Normal,
    /// Sequential: windows twice as large (`posix_fadvise(2)`).
    Sequential,
    /// Random: only requested pages are read.
    Random,
}

/// Readahead state of one reader of one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadaheadStream {
    /// First page of the file.
    first: u64,
    /// Page after its last.
    end: u64,
    /// Pages of the largest window; zero without readahead.
    most: u64,
    start: u64,
    size: u64,
    tail: u64,
    /// Page at which the last read ended.
    previous: Option<u64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ReadaheadWindow {
    pub start: u64,
    pub end: u64,
    /// Page to mark.
    pub mark: Option<u64>,
}

impl ReadaheadStream {
    /// Creates a reader of the pages from `first` to `end`. `most` is the device's window in pages.
    #[must_use]
    pub fn new(first: u64, end: u64, most: u64, advice: AccessAdvice) -> Self {
        let most = match advice {
            AccessAdvice::Normal => most,
            AccessAdvice::Sequential => most * 2,
            AccessAdvice::Random => 0,
        };
        Self { first, end, most, start: first, size: 0, tail: 0, previous: None }
    }

    pub(super) fn end(&self) -> u64 {
        self.end
    }

    /// Records that a read ended before this page.
    pub(super) fn has_read(&mut self, end: u64) {
        self.previous = Some(end);
    }

    /// Returns the pages to read when `page` is missing and the `wanted` pages from it on are requested. `request_most`
    /// is the size of the largest request to the device in pages; `before(most)` counts the present pages directly
    /// before this one.
    pub(super) fn miss(
        &mut self,
        page: u64,
        wanted: u64,
        request_most: u64,
        before: impl FnOnce(u64) -> u64,
    ) -> ReadaheadWindow {
        let asked = ReadaheadWindow { start: page, end: (page + wanted).min(self.end), mark: None };
        if self.most == 0 {
            return asked;
        }
        let most = self.most_for(wanted, request_most);
        if page == self.start + self.size && self.size > 0 {
            return self.push(most);
        }
        let goes_on = self.previous.is_some_and(|previous| page.wrapping_sub(previous) <= 1);
        if page == self.first || wanted > most || goes_on {
            return self.begin(page, wanted, most);
        }
        // Another reader, or this one before a jump, has left a trail of pages.
        let trail = before(most);
        if trail <= wanted {
            return asked;
        }
        self.start = page;
        let trail = if page - trail == self.first { trail * 2 } else { trail };
        self.size = (trail + wanted).min(most);
        self.tail = 1;
        self.window(wanted, most)
    }

    /// Returns the pages to read when the marked `page` is reached; `hole` returns the first missing page after it.
    pub(super) fn reach(
        &mut self,
        page: u64,
        wanted: u64,
        request_most: u64,
        hole: impl FnOnce(u64) -> Option<u64>,
    ) -> Option<ReadaheadWindow> {
        let most = self.most_for(wanted, request_most);
        if most == 0 {
            return None;
        }
        if page == self.start + self.size - self.tail {
            return Some(self.push(most));
        }
        // Another reader has left the mark.
        let start = hole(most)?;
        self.size = scaled(start - page + wanted, most);
        self.start = start;
        self.tail = self.size;
        Some(self.window(wanted, most))
    }

    fn most_for(&self, wanted: u64, request_most: u64) -> u64 {
        if wanted > self.most && request_most > self.most { wanted.min(request_most) } else { self.most }
    }

    /// Returns the window after the last.
    fn push(&mut self, most: u64) -> ReadaheadWindow {
        self.start += self.size;
        self.size = scaled(self.size, most);
        self.tail = self.size;
        self.window(0, most)
    }

    fn begin(&mut self, page: u64, wanted: u64, most: u64) -> ReadaheadWindow {
        self.start = page;
        self.size = initial(wanted, most);
        self.tail = if self.size > wanted { self.size - wanted } else { self.size };
        self.window(wanted, most)
    }

    fn window(&mut self, wanted: u64, most: u64) -> ReadaheadWindow {
        // A read that would reach its own mark at once includes the next window.
        if wanted > 0 && self.tail == self.size {
            let next = scaled(self.size, most);
            if self.size + next <= most {
                self.tail = next;
                self.size += next;
            } else {
                self.size = most;
                self.tail = most / 2;
            }
        }
        let mark = (self.tail > 0).then(|| self.start + self.size - self.tail);
        ReadaheadWindow { start: self.start, end: (self.start + self.size).min(self.end), mark }
    }
}

fn initial(wanted: u64, most: u64) -> u64 {
    let wanted = wanted.next_power_of_two();
    match wanted {
        _ if wanted <= most / 32 => wanted * 4,
        _ if wanted <= most / 4 => wanted * 2,
        _ => most,
    }
}

/// Returns the size of the window after one of `size` pages.
fn scaled(size: u64, most: u64) -> u64 {
    match size {
        _ if size < most / 16 => size * 4,
        _ if size <= most / 2 => size * 2,
        _ => most,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn window(start: u64, end: u64, mark: u64) -> ReadaheadWindow {
        ReadaheadWindow { start, end, mark: Some(mark) }
    }

    #[test]
    fn windows_double_and_each_is_requested_at_the_start_of_the_previous_one() {
        let mut stream = ReadaheadStream::new(0, 1 << 20, 32, AccessAdvice::Normal);
        // A page of 4 KiB, 128 KiB at most: 4 pages, then 8, 16, 32, as `blktrace` shows on any idle disk.
        assert_eq!(stream.miss(0, 1, 320, |_| 0), window(0, 4, 1));
        assert_eq!(stream.reach(1, 1, 320, |_| None), Some(window(4, 12, 4)));
        assert_eq!(stream.reach(4, 1, 320, |_| None), Some(window(12, 28, 12)));
        assert_eq!(stream.reach(12, 1, 320, |_| None), Some(window(28, 60, 28)));
        assert_eq!(stream.reach(28, 1, 320, |_| None), Some(window(60, 92, 60)));
    }

    #[test]
    fn sequential_advice_doubles_the_window_and_random_advice_disables_it() {
        let mut stream = ReadaheadStream::new(0, 1 << 20, 32, AccessAdvice::Sequential);
        assert_eq!(stream.miss(0, 64, 320, |_| 0), window(0, 64, 32));
        let mut stream = ReadaheadStream::new(0, 1 << 20, 32, AccessAdvice::Random);
        assert_eq!(stream.miss(0, 64, 320, |_| 99), ReadaheadWindow { start: 0, end: 64, mark: None });
    }

    #[test]
    fn a_jump_reads_only_its_pages_unless_a_trail_reveals_a_stream() {
        let mut stream = ReadaheadStream::new(0, 1 << 20, 32, AccessAdvice::Normal);
        assert_eq!(stream.miss(5000, 1, 320, |_| 0), ReadaheadWindow { start: 5000, end: 5001, mark: None });
        assert_eq!(stream.miss(7000, 1, 320, |_| 20), window(7000, 7021, 7020));
    }

    #[test]
    fn a_read_larger_than_the_window_is_one_request_if_the_device_allows() {
        let mut stream = ReadaheadStream::new(0, 1 << 20, 32, AccessAdvice::Normal);
        assert_eq!(stream.miss(5000, 256, 320, |_| 0), ReadaheadWindow { start: 5000, end: 5256, mark: None });
        assert_eq!(stream.miss(100_000, 1000, 320, |_| 0), window(100_000, 100_320, 100_160));
    }

    #[test]
    fn nothing_is_read_beyond_the_end() {
        let mut stream = ReadaheadStream::new(0, 6, 32, AccessAdvice::Normal);
        assert_eq!(stream.miss(0, 1, 320, |_| 0).end, 4);
        assert_eq!(stream.reach(1, 1, 320, |_| None), Some(window(4, 6, 4)));
    }
}

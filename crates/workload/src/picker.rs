//! Choice of the file of the next operation.

use job::{Distribution, FileOrder, FileService};
use units::random::Random;

use crate::offsets::{Cursor, Draw};

/// Chooses among the files whose pass has not ended.
#[derive(Clone, Debug)]
pub(crate) struct Picker {
    order: PickOrder,
    switch_every: u32,
    current: usize,
    /// Operations left on the current file.
    left: u32,
    /// Number of files, at least 1.
    files: usize,
    /// Open files, if not all can be open at once.
    window: Option<PickWindow>,
}

/// The open files of a job with `openfiles`. A file is open from its first operation to the end of its pass.
#[derive(Clone, Debug)]
struct PickWindow {
    open: Vec<bool>,
    /// Number of files that can still be opened.
    room: u32,
    /// Files to close that are not yet reported.
    retired: Vec<u32>,
}

impl PickWindow {
    fn new(openfiles: Option<u32>, files: usize) -> Option<Self> {
        let room = openfiles.filter(|&most| (most as usize) < files)?.max(1);
        Some(Self { open: vec![false; files], room, retired: Vec::new() })
    }

    fn admits(&self, file: usize) -> bool {
        self.open[file] || self.room > 0
    }

    fn enter(&mut self, file: usize) {
        if !std::mem::replace(&mut self.open[file], true) {
            self.room -= 1;
        }
    }
}

#[derive(Clone, Debug)]
enum PickOrder {
    RoundRobin,
    Sequential,
    Drawn(Draw),
}

impl Picker {
    pub(crate) fn new(service: FileService, openfiles: Option<u32>, files: usize, key: u64) -> Self {
        let draw = |shape| PickOrder::Drawn(Draw::new(&shape, files as u64, 1, key));
        let order = match service.order {
            FileOrder::RoundRobin => PickOrder::RoundRobin,
            FileOrder::Sequential => PickOrder::Sequential,
            FileOrder::Random => draw(Distribution::Uniform),
            FileOrder::Zipf(theta) => draw(Distribution::Zipf { theta, center: None }),
            FileOrder::Pareto(h) => draw(Distribution::Pareto { h, center: None }),
            FileOrder::Normal(deviation) => draw(Distribution::Normal { deviation, center: None }),
        };
        // A single file never switches.
        let switch_every = if files == 1 { u32::MAX } else { service.switch_every.max(1) };
        let window = PickWindow::new(openfiles, files);
        let mut picker = Self { order, switch_every, current: 0, left: 0, files, window };
        picker.restart();
        picker
    }

    /// Starts again with the first file.
    pub(crate) fn restart(&mut self) {
        // As if the last file's turn had just ended, so that the first is next.
        self.current = if matches!(self.order, PickOrder::Sequential) { 0 } else { self.files - 1 };
        self.left = 0;
    }

    /// Returns the file of the next operation; `None` if the pass has ended in all files.
    #[inline(always)]
    pub(crate) fn next(&mut self, files: &[Cursor], random: &mut Random) -> Option<usize> {
        if self.left > 0 && !files[self.current].is_done() {
            self.left -= 1;
            return Some(self.current);
        }
        self.switch(files, random)
    }

    /// Returns the file of the next operation where the turn of the current one has ended.
    #[inline(never)]
    fn switch(&mut self, files: &[Cursor], random: &mut Random) -> Option<usize> {
        let wanted = match &mut self.order {
            PickOrder::RoundRobin if self.current + 1 == files.len() => 0,
            PickOrder::RoundRobin => self.current + 1,
            PickOrder::Sequential => self.current,
            PickOrder::Drawn(draw) => draw.draw(random) as usize,
        };
        self.current = match &mut self.window {
            None => first_of(files, wanted, |_| true)?,
            Some(window) => {
                let file = first_of(files, wanted, |file| window.admits(file))?;
                window.enter(file);
                file
            }
        };
        self.left = self.switch_every - 1;
        Some(self.current)
    }

    /// Reports whether not all files can be open at once.
    #[inline]
    pub(crate) const fn is_limited(&self) -> bool {
        self.window.is_some()
    }

    /// Closes a file at the end of its pass, or after a sync that opened it.
    pub(crate) fn retire(&mut self, file: u32) {
        if let Some(window) = &mut self.window {
            window.room += u32::from(std::mem::take(&mut window.open[file as usize]));
            window.retired.push(file);
        }
    }

    /// Returns a file to close.
    pub(crate) fn take_retired(&mut self) -> Option<u32> {
        self.window.as_mut()?.retired.pop()
    }

    /// Closes all files that `before` left open.
    pub(crate) fn take_over(&mut self, before: &Self) {
        if let (Some(window), Some(before)) = (&mut self.window, &before.window) {
            let open = before.open.iter().enumerate().filter(|(_, open)| **open).map(|(file, _)| file as u32);
            window.retired.extend(open.chain(before.retired.iter().copied()));
        }
    }
}

/// Returns the first file at or after `wanted`, cyclically, that is admitted and whose pass has not ended.
#[inline]
fn first_of(files: &[Cursor], wanted: usize, admits: impl Fn(usize) -> bool) -> Option<usize> {
    if files.get(wanted).is_some_and(|file| !file.is_done() && admits(wanted)) {
        return Some(wanted);
    }
    let count = files.len();
    (1..count).map(|step| (wanted + step) % count).find(|&index| !files[index].is_done() && admits(index))
}

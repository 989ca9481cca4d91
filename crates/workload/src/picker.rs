//! Which file comes next.

use job::{Distribution, FileOrder, FileService};
use units::random::Random;

use crate::offsets::{Cursor, Draw};

/// Chooses among the files that are not done.
#[derive(Clone, Debug)]
pub(crate) struct Picker {
    order: Order,
    switch_every: u32,
    current: usize,
    /// Operations left on the current file.
    left: u32,
    /// How many files there are, at least 1.
    files: usize,
}

#[derive(Clone, Debug)]
enum Order {
    RoundRobin,
    Sequential,
    Drawn(Draw),
}

impl Picker {
    pub(crate) fn new(service: FileService, files: usize, key: u64) -> Self {
        let draw = |shape| Order::Drawn(Draw::new(&shape, files as u64, 1, key));
        let order = match service.order {
            FileOrder::RoundRobin => Order::RoundRobin,
            FileOrder::Sequential => Order::Sequential,
            FileOrder::Random => draw(Distribution::Uniform),
            FileOrder::Zipf(theta) => draw(Distribution::Zipf { theta, center: None }),
            FileOrder::Pareto(h) => draw(Distribution::Pareto { h, center: None }),
            FileOrder::Normal(deviation) => draw(Distribution::Normal { deviation, center: None }),
        };
        // There is nothing to switch to from a file that is alone.
        let switch_every = if files == 1 { u32::MAX } else { service.switch_every.max(1) };
        let mut picker = Self { order, switch_every, current: 0, left: 0, files };
        picker.restart();
        picker
    }

    /// Begins with the first file again.
    pub(crate) fn restart(&mut self) {
        // As if a turn of the last file had just ended, so that the first is next.
        self.current = if matches!(self.order, Order::Sequential) { 0 } else { self.files - 1 };
        self.left = 0;
    }

    /// The file of the next operation; `None` when all are done.
    #[inline]
    pub(crate) fn next(&mut self, files: &[Cursor], random: &mut Random) -> Option<usize> {
        if self.left > 0 && !files[self.current].is_done() {
            self.left -= 1;
            return Some(self.current);
        }
        let wanted = match &self.order {
            Order::RoundRobin if self.current + 1 == files.len() => 0,
            Order::RoundRobin => self.current + 1,
            Order::Sequential => self.current,
            Order::Drawn(draw) => draw.draw(random) as usize,
        };
        self.current = not_done(files, wanted)?;
        self.left = self.switch_every - 1;
        Some(self.current)
    }
}

/// The first file at or behind `wanted` that is not done, going round.
#[inline]
fn not_done(files: &[Cursor], wanted: usize) -> Option<usize> {
    if files.get(wanted).is_some_and(|file| !file.is_done()) {
        return Some(wanted);
    }
    let count = files.len();
    (1..count).map(|step| (wanted + step) % count).find(|&index| !files[index].is_done())
}

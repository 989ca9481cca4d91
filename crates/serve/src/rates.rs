use nbd::server::Snapshot;

/// Operations and bytes per second in the last second, by export and kind, in the order of the counters.
#[derive(Clone, Debug, Default)]
pub struct RecentRates(Vec<[(f64, f64); 5]>);

impl RecentRates {
    /// Returns the rates of one kind of one export.
    pub(crate) fn of(&self, export: usize, kind: usize) -> (f64, f64) {
        self.0.get(export).map_or((0.0, 0.0), |kinds| kinds[kind])
    }

    /// Returns the total rates.
    #[must_use]
    pub fn total(&self) -> (f64, f64) {
        self.0.iter().flatten().fold((0.0, 0.0), |sum, rate| (sum.0 + rate.0, sum.1 + rate.1))
    }

    pub(crate) fn between(before: &Snapshot, after: &Snapshot) -> Self {
        let secs = after.age.since(before.age).secs_f64();
        if secs <= 0.0 {
            return Self::default();
        }
        let exports = before.exports.iter().zip(&after.exports);
        Self(
            exports
                .map(|((_, before), (_, after))| {
                    std::array::from_fn(|kind| {
                        let (before, after) = (&before.kinds[kind], &after.kinds[kind]);
                        let grown = |before: u64, after: u64| after.saturating_sub(before) as f64 / secs;
                        (grown(before.operations, after.operations), grown(before.bytes, after.bytes))
                    })
                })
                .collect(),
        )
    }
}

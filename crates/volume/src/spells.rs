//! Slow periods of a volume.

use units::{Nanos, random::Random};

use crate::spec::SlowPeriods;

/// Two states with exponential durations, advanced to the times of requests.
#[derive(Clone, Debug)]
pub(crate) struct SlowPeriodState {
    spells: SlowPeriods,
    random: Random,
    slow: bool,
    until: Nanos,
}

impl SlowPeriodState {
    pub(crate) fn new(spells: SlowPeriods, random: Random) -> Self {
        let mut state = Self { spells, random, slow: false, until: Nanos::ZERO };
        state.until = state.draw_duration(spells.every);
        state
    }

    pub(crate) fn spells(&self) -> SlowPeriods {
        self.spells
    }

    /// Scales a duration that begins at `at` by the state at that time. Times may go back a little: the state is that
    /// of the latest one.
    #[inline]
    pub(crate) fn scale(&mut self, at: Nanos, duration: Nanos) -> Nanos {
        while at >= self.until {
            self.slow = !self.slow;
            let mean = if self.slow { self.spells.lasting } else { self.spells.every };
            let lasting = self.draw_duration(mean);
            self.until += lasting;
        }
        if self.slow { Nanos::new((duration.get() as f64 * self.spells.factor) as u64) } else { duration }
    }

    fn draw_duration(&mut self, mean: Nanos) -> Nanos {
        let drawn = -libm::log1p(-self.random.unit()) * mean.get() as f64;
        Nanos::new((drawn as u64).max(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fraction_of_slow_time_follows_the_durations() {
        let spells = SlowPeriods { every: Nanos::from_secs(99), lasting: Nanos::from_secs(1), factor: 10.0 };
        let mut state = SlowPeriodState::new(spells, Random::new(3, 0));
        let slow = (0..2_000_000_u64)
            .filter(|step| state.scale(Nanos::from_millis(step * 100), Nanos::new(100)) > Nanos::new(100))
            .count();
        assert!((18_000..22_000).contains(&slow), "{slow}");
    }
}

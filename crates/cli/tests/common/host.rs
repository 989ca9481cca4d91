//! Whether the host left a test alone that depends on time: such a test passes, fails, or is reported as skipped by name.
//!
//! One good attempt is enough, and three bad ones on a calm host fail. So a defect that spoils an attempt with probability p is
//! missed with 1 - p^3: never where it spoils each, with 0.14 at p = 0.95, with 0.27 at p = 0.9. What fails less often is not
//! what these tests look for: they hold rates and latencies against limits that a defect breaks every time.

use std::io::Write;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// A host is calm while others, the hypervisor included, use no more than this fraction of a processor.
const CALM: f64 = 0.1;
/// A failure counts once it was seen this many times on a calm host.
const CALM_FAILURES: usize = 3;
const ATTEMPTS: usize = 5;
/// A host that has explained this many misses will explain the next.
const MOST_EXPLAINED: usize = 2;

/// Why an attempt did not succeed.
#[derive(Debug)]
pub(crate) enum Miss {
    /// It counts on a calm host.
    Failed(String),
    /// The host alone explains it, by what the attempt measured: it decides nothing.
    Host(String),
}

impl From<String> for Miss {
    fn from(failure: String) -> Self {
        Self::Failed(failure)
    }
}

/// Carries out an attempt whose outcome depends on time, until it succeeds, fails often enough on a calm host, or was
/// disturbed too often to decide.
#[track_caller]
pub(crate) fn timed<M: Into<Miss>>(name: &str, attempt: impl FnMut() -> Result<(), M>) {
    match decide(attempt, Usage::by_others) {
        Decision::Passed => {}
        Decision::Failed(failures) => panic!("{name}: {}", failures.join("\n")),
        Decision::Undecided(measured) => report_busy(name, &measured),
    }
}

/// Whether something took less than `most`, as [`timed`] wants to know it.
pub(crate) fn within(took: Duration, most: Duration) -> Result<(), String> {
    if took < most { Ok(()) } else { Err(format!("it took {took:?}, not less than {most:?}")) }
}

#[derive(Debug, PartialEq, Eq)]
enum Decision {
    Passed,
    Failed(Vec<String>),
    Undecided(String),
}

fn decide<M: Into<Miss>>(mut attempt: impl FnMut() -> Result<(), M>, others: impl Fn(&Usage) -> f64) -> Decision {
    let (mut failures, mut explained, mut disturbed) = (Vec::new(), 0, String::new());
    for _ in 0..ATTEMPTS {
        let usage = Usage::start();
        let Err(miss) = attempt() else { return Decision::Passed };
        let others = others(&usage);
        match miss.into() {
            Miss::Host(measured) => (explained, disturbed) = (explained + 1, measured),
            Miss::Failed(failure) if others <= CALM => failures.push(failure),
            Miss::Failed(failure) => {
                disturbed = format!("others used {:.0} % of a processor; {failure}", others * 100.0);
            }
        }
        if failures.len() == CALM_FAILURES {
            return Decision::Failed(failures);
        }
        if explained == MOST_EXPLAINED {
            break;
        }
    }
    Decision::Undecided(disturbed)
}

/// How late threads of this host wake up, by one that sleeps again and again.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct WakeUps {
    pub(crate) mean_us: f64,
    pub(crate) p99_us: f64,
}

impl WakeUps {
    const PAUSE: Duration = Duration::from_micros(500);
    /// Of an idle virtual machine: 90 to 105 us, the timer slack of 50 us included.
    const MEAN_US: f64 = 120.0;
    /// Of an idle virtual machine: 150 to 220 us.
    const P99_US: f64 = 400.0;

    /// Whether they are as prompt as those of an idle host. Where they are not, the lateness differs from one wait to
    /// the next, and no subtraction makes a comparison of fast replies decide anything.
    pub(crate) fn are_prompt(self) -> bool {
        self.mean_us <= Self::MEAN_US && self.p99_us <= Self::P99_US
    }

    /// Those while `work` is done.
    pub(crate) fn during<T>(work: impl FnOnce() -> T) -> (T, Self) {
        let over = AtomicBool::new(false);
        std::thread::scope(|scope| {
            let sleeper = scope.spawn(|| Self::until(&over));
            // Also where the work panics: the scope waits for the sleeper.
            let _end = End(&over);
            let done = work();
            drop(_end);
            (done, sleeper.join().expect("it only sleeps"))
        })
    }

    fn until(over: &AtomicBool) -> Self {
        let mut late_us = Vec::new();
        while !over.load(Ordering::Relaxed) || late_us.is_empty() {
            let asleep = Instant::now();
            std::thread::sleep(Self::PAUSE);
            late_us.push((asleep.elapsed() - Self::PAUSE).as_secs_f64() * 1e6);
        }
        late_us.sort_by(f64::total_cmp);
        Self { mean_us: late_us.iter().sum::<f64>() / late_us.len() as f64, p99_us: late_us[late_us.len() * 99 / 100] }
    }
}

/// Sets a flag as it goes.
struct End<'a>(&'a AtomicBool);

impl Drop for End<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Reports a test as skipped because of the host. `./test` prints the list in the file that `FATHOM_SKIPPED` names.
fn report_busy(name: &str, measured: &str) {
    let measured = measured.replace('\n', " ");
    let line = format!("skipped (host too busy): {name}: {measured}\n");
    print!("{line}");
    if let Some(path) = std::env::var_os("FATHOM_SKIPPED") {
        let file = std::fs::File::options().append(true).create(true).open(path);
        file.and_then(|mut file| file.write_all(line.as_bytes()))
            .expect("FATHOM_SKIPPED names a file that can be written");
    }
}

/// Processor time, in hundredths of a second.
struct Usage {
    since: Instant,
    /// Of all processes, and what the hypervisor gave to other guests.
    all: u64,
    /// Of this process and of the children that it has waited for.
    own: u64,
}

impl Usage {
    fn start() -> Self {
        let numbers = |path: &str, fields: &[usize]| -> u64 {
            let text = std::fs::read_to_string(path).expect("a table of the kernel");
            // The name of a process, in brackets, may hold blanks.
            let line = text.lines().next().unwrap_or_default();
            let values: Vec<&str> = line.rsplit_once(')').map_or(line, |(_, rest)| rest).split_whitespace().collect();
            fields.iter().filter_map(|field| values.get(*field)?.parse::<u64>().ok()).sum()
        };
        // user nice system, irq softirq steal; then utime stime cutime cstime.
        let (all, own) = (numbers("/proc/stat", &[1, 2, 3, 6, 7, 8]), numbers("/proc/self/stat", &[11, 12, 13, 14]));
        Self { since: Instant::now(), all, own }
    }

    /// How much of a processor others have used since then.
    fn by_others(&self) -> f64 {
        let now = Self::start();
        let others = (now.all - self.all).saturating_sub(now.own - self.own);
        others as f64 / 100.0 / (now.since - self.since).as_secs_f64().max(0.01)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_attempt_that_succeeds_decides_on_any_host() {
        let mut outcomes = [Err("late".to_owned()), Ok(())].into_iter();
        assert_eq!(decide(|| outcomes.next().expect("two are enough"), |_| 2.0), Decision::Passed);
    }

    #[test]
    fn late_wake_ups_disqualify_a_host() {
        assert!(WakeUps { mean_us: 95.0, p99_us: 200.0 }.are_prompt());
        assert!(!WakeUps { mean_us: 128.6, p99_us: 555.8 }.are_prompt());
        assert!(!WakeUps { mean_us: 95.0, p99_us: 1_500.0 }.are_prompt());
    }

    #[test]
    fn what_the_host_explains_is_skipped_and_not_passed() {
        let mut attempts = 0;
        let explained = || {
            attempts += 1;
            Err(Miss::Host("woken 100 us late".into()))
        };
        assert_eq!(decide(explained, |_| 0.0), Decision::Undecided("woken 100 us late".into()));
        assert_eq!(attempts, MOST_EXPLAINED);
    }

    #[test]
    fn failures_on_a_calm_host_fail_and_on_a_busy_one_skip() {
        let mut count = 0;
        let late = || {
            count += 1;
            Err(format!("late {count}"))
        };
        assert_eq!(decide(late, |_| 0.0), Decision::Failed(vec!["late 1".into(), "late 2".into(), "late 3".into()]));
        let busy = decide(|| Err("late".to_owned()), |_| 1.5);
        assert_eq!(busy, Decision::Undecided("others used 150 % of a processor; late".into()));
    }
}

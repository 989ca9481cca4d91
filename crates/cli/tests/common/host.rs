//! Timing tests on hosts with other load: such a test passes, fails, or is reported as skipped by name.
//!
//! One good attempt passes, and three bad attempts on a calm host fail. So a defect that spoils an attempt with
//! probability p is missed with probability 1 - p^3: never at p = 1, with 0.14 at p = 0.95, with 0.27 at p = 0.9. These
//! tests do not look for rarer failures: they compare rates and latencies with limits that a defect breaks every time.

use std::io::Write;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// A host is calm while other processes and the hypervisor use no more than this fraction of a processor.
const CALM: f64 = 0.1;
/// Failures on a calm host that fail a test.
const CALM_FAILURES: usize = 3;
const ATTEMPTS: usize = 5;
/// Misses explained by the host after which no more attempts are made.
const EXPLAINED_MAX: usize = 2;

/// Reason why an attempt did not succeed.
#[derive(Debug)]
pub(crate) enum Miss {
    /// A failure, which counts on a calm host.
    Failed(String),
    /// A disturbance by the host, shown by the attempt's own measurements; it decides nothing.
    Host(String),
}

impl From<String> for Miss {
    fn from(failure: String) -> Self {
        Self::Failed(failure)
    }
}

/// Repeats an attempt whose outcome depends on timing until it succeeds, fails often enough on a calm host, or was
/// disturbed too often to decide.
#[track_caller]
pub(crate) fn timed<M: Into<Miss>>(name: &str, attempt: impl FnMut() -> Result<(), M>) {
    match decide(attempt, Usage::by_others) {
        Decision::Passed => {}
        Decision::Failed(failures) => panic!("{name}: {}", failures.join("\n")),
        Decision::Undecided(measured) => report_busy(name, &measured),
    }
}

/// Checks for [`timed`] that something took less than `max`.
pub(crate) fn within(took: Duration, max: Duration) -> Result<(), String> {
    if took < max { Ok(()) } else { Err(format!("it took {took:?}, not less than {max:?}")) }
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
        if explained == EXPLAINED_MAX {
            break;
        }
    }
    Decision::Undecided(disturbed)
}

/// Wake-up latency of threads on this host, measured by a thread that sleeps repeatedly.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct WakeUps {
    pub(crate) mean_us: f64,
    pub(crate) p99_us: f64,
}

impl WakeUps {
    const PAUSE: Duration = Duration::from_micros(500);
    /// An idle virtual machine has 90 to 105 us, including the timer slack of 50 us.
    const MEAN_US: f64 = 120.0;
    /// An idle virtual machine has 150 to 220 us.
    const P99_US: f64 = 400.0;

    /// Reports whether wake-ups are as prompt as on an idle host. If not, the lateness varies from one wait to the
    /// next, and subtracting it does not make a comparison of fast replies conclusive.
    pub(crate) fn are_prompt(self) -> bool {
        self.mean_us <= Self::MEAN_US && self.p99_us <= Self::P99_US
    }

    /// Measures wake-ups while `work` runs.
    pub(crate) fn during<T>(work: impl FnOnce() -> T) -> (T, Self) {
        let over = AtomicBool::new(false);
        std::thread::scope(|scope| {
            let sleeper = scope.spawn(|| Self::until(&over));
            // Dropped even if the work panics: the scope waits for the sleeper.
            let end = End(&over);
            let done = work();
            drop(end);
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

/// Sets a flag on drop.
struct End<'a>(&'a AtomicBool);

impl Drop for End<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Reports a test as skipped because of the host. `./test` prints the list from the file that `FATHOM_SKIPPED` names.
fn report_busy(name: &str, measured: &str) {
    let measured = measured.replace(['\n', '\t'], " ");
    let line = format!("skipped (host too busy): {name}: {measured}\n");
    print!("{line}");
    if let Some(path) = std::env::var_os("FATHOM_SKIPPED") {
        let test = std::env::var("NEXTEST_TEST_NAME").unwrap_or_default();
        let file = std::fs::File::options().append(true).create(true).open(path);
        file.and_then(|mut file| file.write_all(format!("{test}\t{line}").as_bytes()))
            .expect("FATHOM_SKIPPED names a file that can be written");
    }
}

/// Processor time, in hundredths of a second.
struct Usage {
    since: Instant,
    /// Time of all processes, and steal time.
    all: u64,
    /// Time of this process and of the children that it has waited for.
    own: u64,
}

impl Usage {
    fn start() -> Self {
        let numbers = |path: &str, fields: &[usize]| -> u64 {
            let text = std::fs::read_to_string(path).expect("a readable file in /proc");
            // The name of a process, in brackets, may contain blanks.
            let line = text.lines().next().unwrap_or_default();
            let values: Vec<&str> = line.rsplit_once(')').map_or(line, |(_, rest)| rest).split_whitespace().collect();
            fields.iter().filter_map(|field| values.get(*field)?.parse::<u64>().ok()).sum()
        };
        // user nice system, irq softirq steal; then utime stime cutime cstime.
        let (all, own) = (numbers("/proc/stat", &[1, 2, 3, 6, 7, 8]), numbers("/proc/self/stat", &[11, 12, 13, 14]));
        Self { since: Instant::now(), all, own }
    }

    /// Returns the processors that other processes have used since then, on average.
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
    fn a_successful_attempt_decides_on_any_host() {
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
    fn misses_explained_by_the_host_skip_the_test() {
        let mut attempts = 0;
        let explained = || {
            attempts += 1;
            Err(Miss::Host("woken 100 us late".into()))
        };
        assert_eq!(decide(explained, |_| 0.0), Decision::Undecided("woken 100 us late".into()));
        assert_eq!(attempts, EXPLAINED_MAX);
    }

    #[test]
    fn failures_fail_on_a_calm_host_and_skip_on_a_busy_one() {
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

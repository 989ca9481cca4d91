//! Which results of a run were measured at the same time, and what they give together.

use std::borrow::Cow;
use std::collections::BTreeMap;

use meter::Summary;

use crate::declared::Mixed;
use crate::{JobResult, Measured, Run};

impl Run {
    /// Returns the indices of the results that are known to have been measured at the same time: each result once, in the
    /// order of the run. Results of different phases ran one after the other, or nothing says that they overlapped.
    #[must_use]
    pub fn phases(&self) -> Vec<Vec<usize>> {
        let mut first_of_group: BTreeMap<u32, &JobResult> = BTreeMap::new();
        for job in &self.jobs {
            first_of_group.entry(job.group).or_insert(job);
        }
        let mut phases: Vec<Vec<usize>> = Vec::new();
        for index in 0..self.jobs.len() {
            let first = first_of_group[&self.jobs[index].group];
            let overlaps =
                |phase: &Vec<usize>| phase.iter().any(|&of| overlap(&self.jobs[of], &self.jobs[index], first));
            let (joined, others): (Vec<_>, Vec<_>) = phases.into_iter().partition(overlaps);
            let mut phase: Vec<usize> = joined.into_iter().flatten().collect();
            phase.push(index);
            phase.sort_unstable();
            phases = others;
            phases.push(phase);
        }
        phases.sort();
        phases
    }

    /// Returns the bytes that some jobs access, each named file once; `None` if a size is not known.
    #[must_use]
    pub fn region_bytes(&self, jobs: &[usize]) -> Option<u64> {
        let mut regions: Vec<(Option<&str>, u64)> = Vec::new();
        for job in jobs.iter().map(|&index| &self.jobs[index]) {
            let size = job.declared.size?;
            let given = job.echo.iter().chain(&self.globals).find(|(name, _)| name == "filename");
            let file = given.map(|(_, file)| file.as_str());
            match regions.iter_mut().find(|(known, _)| file.is_some() && *known == file) {
                Some((_, known)) => *known = size.max(*known),
                None => regions.push((file, size)),
            }
        }
        Some(regions.iter().map(|(_, size)| *size).fold(0, u64::saturating_add))
    }

    /// Returns the results of some jobs as one: their operations over the time of the longest, as fio adds up a group.
    /// Percentiles that are only printed do not add up, and are left out.
    #[must_use]
    pub fn together(&self, jobs: &[usize]) -> JobResult {
        let of = || jobs.iter().map(|&index| &self.jobs[index]);
        let Some(first) = of().next() else { return JobResult::default() };
        if jobs.len() == 1 {
            return first.clone();
        }
        let mut summary = Summary::default();
        of().for_each(|job| summary.merge(&Summary::from(&job.result)));
        let mut declared = first.declared.clone();
        of().skip(1).for_each(|job| declared.add(&job.declared));
        declared.mixed = Mixed::all(of().map(|job| (job.name.as_str(), job.workers, Cow::Borrowed(&job.declared))));
        declared.thinktime_ns = of().map(|job| job.declared.thinktime_ns).max().unwrap_or(0);
        declared.size = first.declared.size.filter(|size| of().all(|job| job.declared.size == Some(*size)));
        declared.header_only = of().any(|job| job.declared.header_only);
        let mut together = JobResult {
            workers: of().map(|job| job.workers).fold(0, u32::saturating_add),
            error: of().map(|job| job.error).find(|error| *error != 0).unwrap_or(0),
            started_unix_ms: of().map(|job| job.started_unix_ms).min().unwrap_or(0),
            elapsed_s: of().map(|job| job.elapsed_s).max().unwrap_or(0),
            declared,
            result: Measured::from(&summary),
            probe: None,
            verified: None,
            depth_search: None,
            steady: None,
            ..first.clone()
        };
        together.evidence.add(of().skip(1).map(|job| &job.evidence));
        together
    }
}

/// Reports whether two results of a run are known to have overlapped in time: `a`, and a later one, with the first result of
/// its group.
fn overlap(a: &JobResult, b: &JobResult, first_of_group: &JobResult) -> bool {
    /// Fraction of the shorter of two results that is more than the inexactness of their starts.
    const SHARED: f64 = 0.1;
    let (a_ns, b_ns) = (a.result.elapsed_ns() as f64, b.result.elapsed_ns() as f64);
    if a.started_unix_ms > 0 && b.started_unix_ms > 0 {
        let starts = [a, b].map(|job| job.started_unix_ms as f64 * 1e6);
        let shared_ns = (starts[0] + a_ns).min(starts[1] + b_ns) - starts[0].max(starts[1]);
        return shared_ns >= SHARED * a_ns.min(b_ns);
    }
    if a.group == b.group {
        return true;
    }
    // A group begins where an option asks for it: `stonewall` waits for the one before, `new_group` does not.
    let asks = |option: &str| {
        let given = first_of_group.echo.iter().rev().find(|(name, _)| name == option);
        given.is_some_and(|(_, value)| value != "0")
    };
    if asks("stonewall") || asks("wait_for_previous") {
        return false;
    }
    if asks("new_group") && b.group == a.group + 1 {
        return true;
    }
    // In less time than both took one after the other, they overlapped.
    let whole_ns = a.elapsed_s.max(b.elapsed_s) as f64 * 1e9;
    whole_ns > 0.0 && whole_ns + 2e9 < a_ns + b_ns
}

//! How much a test tries.
//!
//! Random cases come from seeded generators, not proptest: jobs, servers and crashes run for seconds, so a failure
//! prints a seed that repeats it instead of being shrunk. Parsers have fuzz targets.

/// Returns how many random cases to try: the given number, and ten times as many when `FATHOM_NIGHT` is set, as in
/// `.ci/nightly`.
pub(crate) fn cases(by_day: u64) -> u64 {
    if at_night() { 10 * by_day } else { by_day }
}

/// Reports whether tests try whole products of their options, which take too long by day.
pub(crate) fn at_night() -> bool {
    std::env::var_os("FATHOM_NIGHT").is_some()
}

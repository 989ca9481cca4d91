//! Parses the operations for which a volume is described: `--bs`, `--rw`, `--rwmixread`.

use report::catalog::CatalogLoad;
use units::{Place, Problem, ProblemCode, block_bytes};
use volume::PerRequestKind;

use super::options::CatalogOptions;

/// Parses the options. Returns all problems together.
pub(super) fn parse(options: &CatalogOptions) -> Result<CatalogLoad, Vec<Problem>> {
    let bytes = block_bytes(&options.bs);
    let mix = mix(&options.rw, options.rwmixread);
    match (bytes, mix) {
        (Some(bytes), Some((share, sequential, kind))) => {
            let order = if sequential { "sequential" } else { "random" };
            let description = format!("{order} {kind} of {}", units::Bytes::new(u64::from(bytes)));
            Ok(CatalogLoad { bytes, share, sequential, description })
        }
        (bytes, mix) => {
            let mut problems = Vec::new();
            if bytes.is_none() {
                let message = format!("`{}` is not a size from 512 to 1g", options.bs);
                problems.push(invalid("--bs", &options.bs, message, "write, for example, --bs=4k or --bs=1m"));
            }
            if mix.is_none() {
                let message = format!("`{}` is not an I/O pattern", options.rw);
                let remedy = "write read, write, randread, randwrite, rw or randrw";
                problems.push(invalid("--rw", &options.rw, message, remedy));
            }
            Err(problems)
        }
    }
}

fn invalid(option: &str, value: &str, message: String, remedy: &str) -> Problem {
    let place = Place::in_option(option, value, 0..value.len());
    Problem::error(ProblemCode::Catalog, message).at(place).help(remedy)
}

/// Returns the fraction of each kind of operation, whether they are sequential, and their name.
fn mix(rw: &str, read_percent: u8) -> Option<(PerRequestKind<f64>, bool, String)> {
    let (sequential, kind) = match rw.strip_prefix("rand") {
        Some(kind) => (false, kind),
        None => (true, rw),
    };
    let reads = f64::from(read_percent.min(100)) / 100.0;
    let none = PerRequestKind { read: 0.0, write: 0.0, trim: 0.0, flush: 0.0 };
    let (share, name) = match kind {
        "read" => (PerRequestKind { read: 1.0, ..none }, "reads".to_owned()),
        "write" => (PerRequestKind { write: 1.0, ..none }, "writes".to_owned()),
        "trim" => (PerRequestKind { trim: 1.0, ..none }, "trims".to_owned()),
        "rw" | "readwrite" => {
            (PerRequestKind { read: reads, write: 1.0 - reads, ..none }, format!("reads ({read_percent}%) and writes"))
        }
        _ => return None,
    };
    Some((share, sequential, name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_have_the_names_of_job_options() {
        let (share, sequential, _) = mix("randrw", 70).unwrap();
        assert!((share.read - 0.7).abs() < 1e-9 && !sequential);
        assert!(mix("read", 50).unwrap().1 && mix("raed", 50).is_none());
    }
}

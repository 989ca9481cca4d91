//! Checks of jobs that precondition a flash device (`sprandom`).

use units::{PerKind, Problem, ProblemCode};

use crate::model::{BlockSizes, Direction, Distribution, Pattern};
use crate::strict::StrictContext;

/// Returns why a pattern does not fit `sprandom`, which chooses all offsets itself.
pub(crate) fn check(pattern: &Pattern, has_trace: bool, context: &StrictContext<'_>) -> Option<Problem> {
    let size = match pattern.block_sizes.write {
        BlockSizes::Fixed(size) => Some(size),
        _ => None,
    };
    let is_skewed = pattern.distribution.write != Distribution::Uniform;
    let aligned = pattern.blockalign.as_ref().is_none_or(|PerKind { write, .. }| Some(*write) == size);
    let is_other = pattern.zones.is_some() || pattern.zoned.is_some() || pattern.modifier > 1;
    let is_partly_sequential = pattern.percentage_random.write != 100;
    let (option, message, help) = match () {
        () if has_trace => ("read_iolog", "a trace has its own offsets", "leave `sprandom` or the trace out"),
        () if pattern.direction != Direction::Write || !pattern.random => {
            ("rw", "`sprandom` needs random writes and nothing else", "write `rw=randwrite`")
        }
        () if !size.is_some_and(u32::is_power_of_two) => {
            ("bs", "`sprandom` needs one block size that is a power of two", "write, for example, `bs=4k`")
        }
        () if !aligned => ("blockalign", "`sprandom` aligns writes to the block size", "leave `blockalign` out"),
        () if is_skewed => {
            ("random_distribution", "`sprandom` chooses offsets itself", "leave `random_distribution` out")
        }
        () if is_partly_sequential => {
            ("percentage_random", "`sprandom` chooses offsets itself", "leave `percentage_random` out")
        }
        () if is_other => {
            ("sprandom", "`sprandom` covers the whole region at random", "leave zones and `rw=...:N` out")
        }
        () => return None,
    };
    Some(context.error(ProblemCode::ConflictingOptions, option, message).help(help))
}

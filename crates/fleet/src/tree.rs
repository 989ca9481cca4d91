//! The binomial tree along which results travel to rank 0, and decisions back.
//!
//! Clearing the lowest set bit of a rank gives its parent, so each of the log2(n) levels halves the number of results.

/// Returns the parent of a rank; `None` for rank 0.
pub(crate) const fn parent(rank: u32) -> Option<u32> {
    if rank == 0 { None } else { Some(rank & (rank - 1)) }
}

/// Returns the children of a rank, those with the largest subtrees last.
pub(crate) fn children(rank: u32, ranks: u32) -> impl Iterator<Item = u32> {
    let lowest = if rank == 0 { u32::BITS - 1 } else { rank.trailing_zeros() };
    (0..lowest).filter_map(move |bit| rank.checked_add(1 << bit)).filter(move |child| *child < ranks)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rank_is_the_child_of_its_parent_and_of_no_other() {
        for ranks in [1, 2, 3, 7, 8, 100, 256] {
            let mut parents = vec![0; ranks as usize];
            for rank in 0..ranks {
                for child in children(rank, ranks) {
                    assert_eq!(parent(child), Some(rank));
                    parents[child as usize] += 1;
                }
            }
            assert!(parents[1..].iter().all(|count| *count == 1), "{parents:?}");
        }
    }

    #[test]
    fn depth_and_degree_are_logarithmic() {
        let depth = |rank: u32| std::iter::successors(Some(rank), |rank| parent(*rank)).count() - 1;
        assert_eq!((0..256).map(depth).max(), Some(8));
        assert_eq!((0..256).map(|rank| children(rank, 256).count()).max(), Some(8));
        assert_eq!(children(0, 5).collect::<Vec<_>>(), [1, 2, 4]);
    }
}

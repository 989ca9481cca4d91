//! Values of all ranks gathered at rank 0.

use std::sync::{Arc, Barrier};
use std::time::Duration;
use units::Problem;

use fleet::{ExchangeOptions, SystemClock};

use crate::memory::{Network, PATIENT_SILENCE, as_ranks, ignored, join_with, no_signal, with_growing_silence};

/// What each rank has got: nothing, or the values of all.
type Gathered = Result<Option<Vec<Option<(u32, String)>>>, Problem>;

/// Gathers a value of each rank. Some ranks die before, without a word.
fn gathered(ranks: u32, dead: &[u32], silence: Duration) -> Vec<Gathered> {
    let (network, all_joined) = (Network::new(ranks), Barrier::new(ranks as usize));
    as_ranks(ranks, |rank| {
        let clock = Arc::new(SystemClock);
        let fleet = join_with(&network, rank, ExchangeOptions { silence, clock, ended: no_signal, end: ignored });
        // A panic before the barrier would leave the others waiting.
        all_joined.wait();
        let fleet = fleet.unwrap();
        if dead.contains(&rank) {
            network.kill(rank);
        }
        let gathered = fleet.gather(&(rank, format!("\"{rank}\"\n{}", 0.1 + f64::from(rank))));
        fleet.leave(0, "");
        gathered
    })
}

#[test]
fn rank_0_gets_the_values_of_all_ranks_in_their_order() {
    for ranks in [1, 2, 7, 8] {
        let all = gathered(ranks, &[], PATIENT_SILENCE);
        let wanted = (0..ranks).map(|rank| Some((rank, format!("\"{rank}\"\n{}", 0.1 + f64::from(rank)))));
        assert_eq!(all[0], Ok(Some(wanted.collect())));
        assert!(all[1..].iter().all(|others| *others == Ok(None)), "{all:?}");
    }
}

#[test]
fn lost_ranks_have_no_value_and_do_not_cost_those_of_others() {
    // A leaf, and an inner rank with one of its children.
    for dead in [&[7][..], &[4, 6]] {
        with_growing_silence(|silence| {
            let all = gathered(8, dead, silence);
            let values = all[0].clone().unwrap().unwrap();
            let present: Vec<u32> = values.iter().flatten().map(|(rank, _)| *rank).collect();
            assert_eq!(present, (0..8).filter(|rank| !dead.contains(rank)).collect::<Vec<u32>>());
            assert!((0..8).all(|rank| values[rank].is_none() == dead.contains(&(rank as u32))));
        });
    }
}

//! Jobs on modelled volumes: which volume each file lies on, and the one loop in virtual or in real time.

mod assumptions;
mod fitting;
mod measure;
mod sanity;
mod volumes;

pub(crate) use assumptions::merging as merging_notes;
pub(crate) use fitting::Fitting;
pub(crate) use measure::{Pace, buffered, measure};
pub(crate) use volumes::{Use, Volumes, read_file, read_text, used, with_key};

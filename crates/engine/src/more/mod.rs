//! Engines that are not the core of storage measurement, a module each with its opening and its target.

pub(crate) mod cpuio;
pub(crate) mod e4defrag;
pub(crate) mod exec;
pub(crate) mod http;
pub(crate) mod net;
pub mod sg;

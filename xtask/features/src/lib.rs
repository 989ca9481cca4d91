//! Nothing but its dependencies, with features that only some crates of the workspace cause.
//!
//! `cargo nextest run -p report` would select fewer features of libraries than `cargo nextest run --workspace`, and build
//! those libraries, and every crate above them, a second time. With this crate among the dependencies of its tests,
//! every crate selects the same. `cargo xtask tidy` names what is missing here. Programs do *not* depend on it.
//!
//! Likewise each crate has one test program, and `cli` two, because each is linked against everything: there were 133,
//! and there are 22.

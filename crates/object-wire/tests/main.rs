//! The integration tests of `object-wire`, in one program.

mod responses;

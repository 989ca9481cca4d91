//! The integration tests of `device`, in one program.

mod layout;
mod outputs;
mod peers;

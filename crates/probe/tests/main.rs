//! Tests on the real host: loop devices, images of filesystems, `/proc` and `/sys`.

mod inspection;
mod loops;
mod scratch;
mod signatures;

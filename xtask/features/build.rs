//! Without a build script, Cargo leaves build dependencies out.

fn main() {}

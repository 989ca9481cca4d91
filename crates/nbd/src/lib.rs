//! Modelled volumes as disks: the Network Block Device protocol, a server and what it keeps its bytes in.
//!
//! [`wire`] is the protocol without any socket: bytes in, bytes and decisions out, for servers and for clients. [`store`]
//! keeps bytes. [`server`] puts a store under a [`volume::System`] and lets clients in: the store says what a reply holds,
//! the model says when it is due. [`fuse`] is the protocol of those who come through a file of the kernel's.
//!
//! What is *not* here: the arguments of `fathom serve` (`cli`), files that the kernel reads and writes by itself
//! (`engine`), models (`volume`).

pub mod fuse;
pub mod server;
pub mod store;

pub use nbd_wire as wire;

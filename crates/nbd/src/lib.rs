//! Modelled volumes as disks: the Network Block Device protocol, a server and its stores.
//!
//! [`wire`] is the protocol without sockets, for servers and clients. [`store`] keeps data. [`server`] serves stores
//! under a [`volume::System`]: the store has the data of a reply, the model decides when it is due. [`fuse`] is the
//! kernel's protocol for mounted exports.
//!
//! What is *not* here: the arguments of `fathom serve` (`cli`), files that the kernel reads and writes by itself
//! (`engine`), models (`volume`).

pub mod fuse;
pub mod server;
pub mod store;

pub use nbd_wire as wire;

//! The server against clients that behave and clients that do not.

mod client;
mod extended;
mod hosted;
mod manners;
mod neighbours;
mod timing;

//! The page as a document: well-formed whatever names are in it, small whatever is on it.

mod documents;
mod names;
mod sizes;
mod wellformed;

//! Models by name, against servers on this machine that answer as the real ones do: what is
//! asked for, what is kept, what is said where something is wrong. And what else may stand where
//! a path does.

mod hub;
mod hub_cache;
mod hub_trouble;
mod names;
mod registry;
pub(crate) mod server;
mod set;
mod weights;
mod world;

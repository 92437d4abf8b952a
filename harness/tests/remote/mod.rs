//! Models by name, with servers on this machine that answer like the real ones: the requests, the
//! caches, and the messages about errors. Also other arguments that can replace a path.

pub(crate) mod server;

// The cache has links, and programs in the environment are Unix programs.
#[cfg(unix)]
mod hub;
#[cfg(unix)]
mod hub_cache;
#[cfg(unix)]
mod hub_trouble;
#[cfg(unix)]
mod names;
#[cfg(unix)]
#[cfg(unix)]
mod registry;
#[cfg(unix)]
mod set;
#[cfg(unix)]
mod weights;
#[cfg(unix)]
mod world;

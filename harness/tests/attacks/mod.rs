//! Attacks: somebody wants the program to do harm to the person who runs it. Each attack is a small
//! world of files, a command line, and what must hold afterwards.
//!
//! An attack ends well if the program ends by itself within [`LONGEST`] and [`LARGEST`], without a
//! panic and without a signal, with an exit code of its own; if nothing that it prints is obeyed by
//! a terminal; if it tells no secret and nothing of what is outside of the attacked folder; if it
//! changes nothing outside; and if it leaves no process and no draft behind.

mod world;

mod accepting;
mod files;
mod markup;
mod names;
mod network;
mod processes;
mod promises;
mod sizes;
mod streams;
mod terminal;
mod tokenizers;
mod trust;

pub(crate) use world::World;

//! Random answers of models, read by the Go engine and by Ollama's own readers.

pub mod question;

pub mod examination;

pub mod campaign;

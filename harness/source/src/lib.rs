//! Sources of chat templates: files, model folders, GGUF files, Modelfiles and Ollama stores.

#![cfg_attr(test, allow(clippy::disallowed_methods))]

pub mod template_file;

pub mod source;

pub mod syntax_error;

pub mod base;

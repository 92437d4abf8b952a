//! Sources of chat templates: files, model folders, GGUF files, Modelfiles and Ollama stores.

pub mod template_file;

pub mod source;

pub mod syntax_error;

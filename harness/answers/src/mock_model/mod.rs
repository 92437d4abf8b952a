//! Writes a small GGUF model whose most likely answer is exactly a given text, whatever the prompt
//! is. A server that runs such a mock model renders its own prompt, "generates" the text and reads it
//! back, so a whole server can be tested through its public API, without a GPU and without a real
//! model.
//!
//! `gguf` writes the format, `pieces` cuts texts into tokens, and `model` makes the model of both.

pub mod gguf;

pub mod pieces;

pub mod model;

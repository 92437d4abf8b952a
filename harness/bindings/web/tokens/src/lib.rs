//! Cuts prompts into tokens. The first question has the tokenizer, and each of the others a prompt.

#[path = "../../src/memory.rs"]
pub mod memory;

use std::cell::RefCell;

use rolecall_check::tokenizer::Tokenizer;
use rolecall_check::tokens;
use rolecall_cli::report::html::card;
use serde::Deserialize;
use serde_json::{Map, Value};

thread_local! {
    static TOKENIZER: RefCell<Option<Tokenizer>> = const { RefCell::new(None) };
}

#[derive(Deserialize)]
#[serde(rename_all = "lowercase", deny_unknown_fields)]
enum Request {
    /// Reads the `tokenizer.json` that comes with the request, with the `tokenizer_config.json` next to it
    /// and the special tokens of the template.
    Read {
        config: Map<String, Value>,
        special_tokens: Map<String, Value>,
    },
    /// The tokens of a text, as pages show them.
    Cut { text: String },
}

/// Answers the question in the room: see [`memory::call`].
#[allow(unsafe_code)] // Its name is fixed.
#[unsafe(no_mangle)]
pub extern "C" fn call(json: usize) -> *const u8 {
    memory::call(json, answered)
}

fn answered(request: &[u8], file: &[u8]) -> Result<Vec<u8>, String> {
    let request = serde_json::from_slice(request).map_err(|error| error.to_string())?;
    let answer = match request {
        Request::Read {
            config,
            special_tokens,
        } => {
            let read = tokens::parse(file, &config, &special_tokens);
            let read = read.map_err(|problem| problem.to_string())?;
            let count = read.count();
            TOKENIZER.set(Some(read));
            count.into()
        }
        Request::Cut { text } => TOKENIZER.with_borrow(|tokenizer| {
            let tokenizer = tokenizer.as_ref().ok_or("no tokenizer was read")?;
            card::tokens(tokenizer, &text)
        })?,
    };
    serde_json::to_vec(&answer).map_err(|error| error.to_string())
}

/// What the crate asks for the seeds of its maps: zeros. The page has nobody to hide their order from, and
/// nothing else here is random.
#[allow(unsafe_code)] // Its form is fixed.
#[unsafe(no_mangle)]
unsafe extern "Rust" fn __getrandom_v03_custom(
    room: *mut u8,
    length: usize,
) -> Result<(), getrandom::Error> {
    // SAFETY: the caller gives a room of this length.
    unsafe { std::ptr::write_bytes(room, 0, length) };
    Ok(())
}

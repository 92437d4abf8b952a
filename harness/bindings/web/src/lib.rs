//! Rolecall for WebAssembly. JSON goes in and JSON comes out, by four functions that JavaScript calls:
//! [`room`], [`call`], [`length`] and [`answer`]. The module has no clock, no files and no network:
//! whoever calls it says what time it is.
//!
//! A panic, an exhausted stack or exhausted memory ends in a trap. After a trap the instance is broken,
//! and the caller makes a new one; until then [`answer`] has the words of the panic.
//!
//! The modules are listed in the order in which they build on each other.

mod request;

mod suite;

mod card;
mod comparison;
mod files;
mod render;

use std::cell::RefCell;

use rolecall_core::{Dialect, patch};
use rolecall_front::front::Front;
use serde_json::json;

use request::{Request, written};

thread_local! {
    /// What the caller asks.
    static ROOM: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
    /// What the last call answers.
    static ANSWER: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// Makes room for a question of so many bytes, and returns where it is.
#[allow(unsafe_code)] // Its name is fixed.
#[unsafe(no_mangle)]
pub extern "C" fn room(length: usize) -> *mut u8 {
    ROOM.with_borrow_mut(|room| {
        room.clear();
        room.resize(length, 0);
        room.as_mut_ptr()
    })
}

/// Answers the question in the room. Its first `json` bytes are a request, and the others are the file
/// that the request is about, if there is one. Returns where the answer is.
#[allow(unsafe_code)] // Its name is fixed.
#[unsafe(no_mangle)]
pub extern "C" fn call(json: usize) -> *const u8 {
    let question = ROOM.with_borrow_mut(std::mem::take);
    let (request, file) = question.split_at_checked(json).unwrap_or_default();
    std::panic::set_hook(Box::new(|info| keep(info.to_string().into_bytes())));
    keep(Vec::new());
    let answered = serde_json::from_slice(request)
        .map_err(|error| format!("the request cannot be read: {error}"))
        .and_then(|request| answered(request, file));
    let said = answered.unwrap_or_else(|error| json!({ "error": error }).to_string().into_bytes());
    keep(said);
    answer()
}

/// How many bytes the answer has.
#[allow(unsafe_code)] // Its name is fixed.
#[unsafe(no_mangle)]
pub extern "C" fn length() -> usize {
    ANSWER.with_borrow(Vec::len)
}

/// Where the answer is.
#[allow(unsafe_code)] // Its name is fixed.
#[unsafe(no_mangle)]
pub extern "C" fn answer() -> *const u8 {
    ANSWER.with_borrow(Vec::as_ptr)
}

fn keep(said: Vec<u8>) {
    ANSWER.with_borrow_mut(|answer| *answer = said);
}

fn answered(request: Request, file: &[u8]) -> Result<Vec<u8>, String> {
    match request {
        Request::About {} => written(&about()),
        Request::Render {
            template,
            conversation,
            now,
            details,
        } => render::answer(&template, &conversation, &now, details),
        Request::Card { template, page } => written(&card::card(&template, page)?),
        Request::Fixes { template } => written(&card::with_fixes(&template)?),
        Request::Diff { a, b } => written(&comparison::compare([&a, &b])?),
        Request::Patch { a, b } => written(&json!({ "diff": patch::unified("prompt", &a, &b) })),
        Request::Difference { a, b } => written(&card::difference(&a, &b)),
        Request::Suite {} => written(&suite::load(file)?),
        Request::Conversations { name } => written(&files::conversations(&name, file)?),
        Request::Gguf { name } => written(&files::gguf(&name, file)?),
    }
}

/// The version, and the applications that may stand before a template, by their dialects.
fn about() -> serde_json::Value {
    let fronts = |dialect| {
        let known = Front::for_dialect(dialect).filter(|front| *front != Front::Unknown);
        known
            .map(|front| json!({ "name": front.name(), "about": front.description() }))
            .collect::<Vec<_>>()
    };
    json!({
        "version": env!("CARGO_PKG_VERSION"),
        "fronts": {
            "jinja": fronts(Dialect::Jinja),
            "go": fronts(Dialect::Go),
        },
    })
}

//! Questions and answers in the memory that JavaScript sees, too. It calls [`room`], then the function `call`
//! that each module has, then [`length`].
//!
//! A panic, an exhausted stack or exhausted memory ends in a trap. After a trap the instance is broken,
//! and the caller makes a new one; until then [`answer`] has the words of the panic.

use std::cell::RefCell;

use serde_json::json;

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
pub fn call(
    json: usize,
    answered: impl FnOnce(&[u8], &[u8]) -> Result<Vec<u8>, String>,
) -> *const u8 {
    let question = ROOM.with_borrow_mut(std::mem::take);
    let (request, file) = question.split_at_checked(json).unwrap_or_default();
    std::panic::set_hook(Box::new(|info| keep(info.to_string().into_bytes())));
    keep(Vec::new());
    let said = answered(request, file)
        .unwrap_or_else(|error| json!({ "error": error }).to_string().into_bytes());
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

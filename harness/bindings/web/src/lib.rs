//! Rolecall for WebAssembly. JSON goes in and JSON comes out, by the functions of [`memory`]. The module has
//! no clock, no files and no network: whoever calls it says what time it is.
//!
//! The modules are listed in the order in which they build on each other.

pub mod memory;

mod request;

mod suite;

mod card;
mod comparison;
mod files;
mod render;

use rolecall_core::{Dialect, patch};
use rolecall_front::front::Front;
use serde_json::json;

use request::{Request, written};

/// Answers the question in the room: see [`memory::call`].
#[allow(unsafe_code)] // Its name is fixed.
#[unsafe(no_mangle)]
pub extern "C" fn call(json: usize) -> *const u8 {
    memory::call(json, answered)
}

fn answered(request: &[u8], file: &[u8]) -> Result<Vec<u8>, String> {
    let request = serde_json::from_slice(request);
    match request.map_err(|error| format!("the request cannot be read: {error}"))? {
        Request::About {} => written(&about()),
        Request::Render {
            template,
            conversation,
            now,
            details,
        } => render::answer(&template, &conversation, &now, details.as_ref()),
        Request::Served {
            template,
            conversation,
            now,
        } => written(&render::served(&template, &conversation, &now)?),
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

//! The functions that C programs call.

// The comments are also those of the header. There a heading `# Safety` would puzzle readers, so
// each comment says in a sentence what the caller promises.
#![allow(clippy::missing_safety_doc)]

use std::ffi::c_char;
use std::ptr;

use rolecall_core::guard::catch;
use rolecall_front::embed::{Answer, ChatTemplate};

pub use crate::limits::rolecall_limits;
use crate::result::{self, rolecall_result};
use crate::text::borrowed;

/// The version, with the NUL byte of C.
const VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), "\0");

/// A compiled template. Only the library knows its content.
pub struct rolecall_template(ChatTemplate);

/// The version of the library, such as `0.1.0`. The text is never freed.
#[unsafe(no_mangle)]
pub extern "C" fn rolecall_version() -> *const c_char {
    VERSION.as_ptr().cast::<c_char>()
}

/// Compiles a template. The options are a JSON object, or an empty text. All of its fields are
/// optional:
///
/// - `dialect`: `jinja` or `go`; `jinja` if it is absent
/// - `special_tokens`: the tokenizer's, by name, such as `{"bos_token": "<s>"}`
/// - `variables`: further variables of the template, by name
/// - `front`: the application that renders the template. For Jinja: `transformers` (the default),
///   `transformers-processor`, or `raw`, which is the template alone. For Go: `ollama` (the
///   default), `ollama-openai`, or `raw`
/// - `setup`: what an Ollama server knows about the model: `model`, `family`, `parser`, `system`,
///   `messages`
/// - `limits`: the fields of `rolecall_limits`, by name
///
/// `limits` may be NULL; its fields win over the options. Returns NULL if there is no template.
/// Then `*error` is a result that says why. Otherwise `*error` becomes NULL. `error` may be NULL if
/// the caller does not want to know.
///
/// The caller promises: `source` and `options` are NULL or can be read for their lengths, `limits`
/// is NULL or points to limits, and `error` is NULL or points to a place for a pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rolecall_compile(
    source: *const c_char,
    source_length: usize,
    options: *const c_char,
    options_length: usize,
    limits: *const rolecall_limits,
    error: *mut *mut rolecall_result,
) -> *mut rolecall_template {
    // SAFETY: the caller promises that `limits` is NULL or points to limits.
    let limits = unsafe { limits.as_ref() }.copied();
    // SAFETY: the caller promises that `source` can be read for its length during this call.
    let source = unsafe { borrowed(source, source_length, "the source") };
    // SAFETY: the caller promises that `options` can be read for its length during this call.
    let options = unsafe { borrowed(options, options_length, "the text of the options") };
    let compiled = safely(|| {
        let source = source.map_err(Answer::invalid)?;
        let options = options.map_err(Answer::invalid)?;
        ChatTemplate::compile_within(source, options, |others| match limits {
            Some(limits) => limits.over(&others),
            None => others,
        })
    });
    let (template, problem) = match compiled {
        Ok(template) => (
            Box::into_raw(Box::new(rolecall_template(template))),
            ptr::null_mut(),
        ),
        Err(answer) if error.is_null() => {
            drop(answer);
            (ptr::null_mut(), ptr::null_mut())
        }
        Err(answer) => (ptr::null_mut(), result::handed(answer)),
    };
    if !error.is_null() {
        // SAFETY: it is not NULL, and the caller promises that a pointer may be written there.
        unsafe { error.write(problem) };
    }
    template
}

/// Renders a conversation. It is a JSON text: a list of messages, or an object with `messages`. All
/// other fields of the object are optional:
///
/// - `tools`, `documents`: lists
/// - `add_generation_prompt`: whether the prompt ends with the opening of the assistant's turn; true
///   if it is absent, unless a message is continued
/// - `continue_final_message`: true, or the name of the field to continue
/// - `variables`, also as `chat_template_kwargs`: further variables of the template
/// - `now`: the time that the template's clock shows, such as `2026-01-02T03:04:05+01:00`; if it is
///   absent, the time of this machine, in UTC
/// - `front`: the application, if it is not the template's own
///
/// Never returns NULL. Several threads may call it with the same template.
///
/// The caller promises: `compiled` is NULL or a template of `rolecall_compile` that is not freed,
/// and `conversation` is NULL or can be read for its length.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rolecall_render(
    compiled: *const rolecall_template,
    conversation: *const c_char,
    length: usize,
) -> *mut rolecall_result {
    // SAFETY: the caller promises that the template is NULL or not freed. Nothing ever changes it,
    // so other threads may borrow it, too.
    let template = unsafe { compiled.as_ref() };
    // SAFETY: the caller promises that the text can be read for its length during this call.
    let conversation = unsafe { borrowed(conversation, length, "the conversation") };
    let rendered = safely(|| {
        let template = template.ok_or_else(|| Answer::invalid("the template is NULL"))?;
        let conversation = conversation.map_err(Answer::invalid)?;
        Ok(template.0.render(conversation))
    });
    result::handed(rendered.unwrap_or_else(|answer| answer))
}

/// Frees a template. NULL is allowed.
///
/// The caller promises: `compiled` is NULL, or a template of `rolecall_compile` that no thread uses
/// any more and that was not freed before.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rolecall_template_free(compiled: *mut rolecall_template) {
    if compiled.is_null() {
        return;
    }
    // SAFETY: `rolecall_compile` made it of a box, and the caller gives it back once.
    let template = unsafe { Box::from_raw(compiled) };
    // Nobody can learn of a panic here, and C could not catch it.
    let _ = catch(|| drop(template));
}

/// Frees a result. NULL is allowed.
///
/// The caller promises: `result` is NULL, or a result of this library that is unchanged and was not
/// freed before.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rolecall_result_free(result: *mut rolecall_result) {
    // SAFETY: the caller promises the same as this function's.
    unsafe { result::free(result) };
}

/// Runs a closure. A panic in it becomes an answer.
fn safely<T>(run: impl FnOnce() -> Result<T, Answer>) -> Result<T, Answer> {
    catch(run).unwrap_or_else(|message| Err(Answer::crashed(message)))
}

//! The engine under test: minijinja with the methods of Python's types and nothing else, as Rust
//! servers set it up.

use std::sync::{Arc, Mutex};

use minijinja::syntax::SyntaxConfig;
use minijinja::{Environment, Error, ErrorKind, Value};

/// The beginning of a refusal of the template; other errors begin differently.
pub const REFUSAL: &str = "the template refuses: ";

/// An environment with one template, named `chat`.
pub fn load(source: &str, now: &Arc<Mutex<String>>) -> Result<Environment<'static>, Error> {
    let mut environment = Environment::new();
    environment.set_syntax(
        SyntaxConfig::builder()
            .trim_blocks(true)
            .lstrip_blocks(true)
            .build()?,
    );
    environment.set_unknown_method_callback(minijinja_contrib::pycompat::unknown_method_callback);
    environment.add_function("raise_exception", |message: String| -> Result<(), Error> {
        Err(Error::new(
            ErrorKind::InvalidOperation,
            format!("{REFUSAL}{message}"),
        ))
    });
    let now = Arc::clone(now);
    let datetimeformat = minijinja_contrib::filters::datetimeformat;
    environment.add_function(
        "strftime_now",
        move |state: &minijinja::State<'_, '_>, format: String| {
            let now = now.lock().expect("nothing panics with it").clone();
            datetimeformat(
                state,
                Value::from(now),
                minijinja::value::Kwargs::from_iter([("format", Value::from(format))]),
            )
        },
    );
    // Only training needs to know where an answer is.
    let source = ["{% ", "{%- "]
        .iter()
        .fold(source.to_owned(), |source, tag| {
            let source = source.replace(&format!("{tag}generation "), &format!("{tag}if true "));
            source.replace(&format!("{tag}endgeneration "), &format!("{tag}endif "))
        });
    environment.add_template_owned("chat", source)?;
    Ok(environment)
}

//! How fast engines for Jinja chat templates are, side by side in one process on one thread.
//!
//!     cargo run --release --manifest-path harness/tools/peers/Cargo.toml [FOLDER]
//!
//! The pairs are those of the suite, or those of the suite's cases with each `*.jinja` file of a
//! folder. Only pairs that all three engines render to the same prompt count. Each engine gets the
//! conversation as JSON, compiles each template once, and renders each pair once in a round.

use std::error::Error;
use std::hint::black_box;
use std::path::Path;
use std::time::Instant;

use hf_chat_template::{ChatTemplate, Civil, Clock};
use minijinja::syntax::SyntaxConfig;
use minijinja::value::{Kwargs, Rest};
use minijinja::{AutoEscape, Environment, ErrorKind, UndefinedBehavior, Value};
use rolecall_core::{Case, Conversation, Dialect, Outcome, Program, Template, guard};
use rolecall_io::protocol::all_variables;
use rolecall_jinja::{JinjaEngine, JinjaProgram};
use rolecall_suite::layout::Layout;
use rolecall_suite::suite::Suite;
use serde_json::{Map, Value as Json};

const ROUNDS: usize = 15;

/// The moment at which cases happen.
struct Frozen;

impl Clock for Frozen {
    fn now(&self) -> Civil {
        Civil::from_ymd_hms(2026, 1, 2, 3, 4, 5).unwrap_or_else(|| unreachable!("it is a date"))
    }
}

/// A template in all three engines.
struct Compiled<'t> {
    template: &'t Template,
    ours: JinjaProgram,
    theirs: ChatTemplate,
    plain: Environment<'static>,
}

impl Compiled<'_> {
    fn of(template: &Template) -> Option<Compiled<'_>> {
        Some(Compiled {
            template,
            ours: JinjaEngine::new().program(template).ok()?,
            theirs: theirs(template)?,
            plain: plain(template)?,
        })
    }
}

fn theirs(template: &Template) -> Option<ChatTemplate> {
    ChatTemplate::builder(&*template.source)
        .clock(Frozen)
        .build()
        .ok()
}

/// minijinja and the methods of Python from minijinja-contrib, in the settings of transformers.
fn plain(template: &Template) -> Option<Environment<'static>> {
    let mut environment = Environment::new();
    let syntax = SyntaxConfig::builder()
        .trim_blocks(true)
        .lstrip_blocks(true)
        .build();
    environment.set_syntax(syntax.ok()?);
    environment.set_undefined_behavior(UndefinedBehavior::Lenient);
    environment.set_auto_escape_callback(|_| AutoEscape::None);
    environment.set_unknown_method_callback(minijinja_contrib::pycompat::unknown_method_callback);
    environment.add_function("raise_exception", |message: String| -> Result<Value, _> {
        Err(minijinja::Error::new(ErrorKind::InvalidOperation, message))
    });
    environment.add_function("strftime_now", |_: String| "02 Jan 2026");
    environment.add_filter("tojson", |value: &Value, _: Rest<Value>, _: Kwargs| {
        let no_arguments = std::iter::empty::<(&str, Value)>().collect();
        minijinja::filters::tojson(value, None, no_arguments)
    });
    environment
        .add_template_owned("chat", template.source.to_string())
        .ok()?;
    Some(environment)
}

/// A value of minijinja. Its own conversion takes the numbers of `arbitrary_precision`, a feature
/// that the harness needs, for dictionaries.
fn value(json: &Json) -> Value {
    match json {
        Json::Null => Value::from(()),
        Json::Bool(bool) => Value::from(*bool),
        Json::Number(number) => match (number.as_i64(), number.as_f64()) {
            (Some(int), _) => Value::from(int),
            (None, float) => Value::from(float.unwrap_or(f64::NAN)),
        },
        Json::String(text) => Value::from(text.as_str()),
        Json::Array(items) => items.iter().map(value).collect(),
        Json::Object(map) => {
            Value::from_pairs(map.iter().map(|(key, json)| (key.as_str(), value(json))))
        }
    }
}

struct Pair<'t> {
    compiled: &'t Compiled<'t>,
    case: &'t Case,
    variables: Map<String, Json>,
}

impl Pair<'_> {
    fn ours(&self) -> Option<String> {
        match self.compiled.ours.render(&Conversation::new(self.case)) {
            Outcome::Rendered { text } => Some(text),
            _ => None,
        }
    }

    fn theirs(&self) -> Option<String> {
        self.compiled.theirs.render_context(&self.variables).ok()
    }

    fn plain(&self) -> Option<String> {
        let template = self.compiled.plain.get_template("chat").ok()?;
        let variables = self.variables.iter();
        let variables = variables.map(|(name, json)| (name.as_str(), value(json)));
        template.render(Value::from_pairs(variables)).ok()
    }

    /// Whether all engines give the same prompt. minijinja panics on a few pairs.
    fn is_alike(&self) -> bool {
        let both = guard::catch(|| (self.theirs(), self.plain()));
        let ours = self.ours();
        ours.is_some() && both.is_ok_and(|(theirs, plain)| theirs == ours && plain == ours)
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    guard::keep_quiet();
    let suite = Suite::load_layout(&Layout::new(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../.."
    )));
    let templates: Vec<Template> = match std::env::args_os().nth(1) {
        Some(folder) => of_folder(Path::new(&folder))?,
        None => suite
            .templates
            .iter()
            .map(|template| Template::clone(template))
            .collect(),
    };
    let jinja = templates.iter().filter(|one| one.dialect == Dialect::Jinja);
    let compiled: Vec<Compiled<'_>> = jinja.filter_map(Compiled::of).collect();
    let all = compiled.iter().flat_map(|compiled| {
        suite.cases.iter().map(move |case| Pair {
            compiled,
            case,
            variables: all_variables(case, compiled.template),
        })
    });
    let pairs: Vec<Pair<'_>> = all.filter(Pair::is_alike).collect();
    // Nothing costs nothing.
    assert!(!pairs.is_empty(), "no pairs that all render alike");
    println!(
        "{} templates, {} pairs that all render alike",
        compiled.len(),
        pairs.len()
    );

    in_turns(
        "render",
        pairs.len(),
        [
            &|| pairs.iter().for_each(|pair| drop(black_box(pair.theirs()))),
            &|| pairs.iter().for_each(|pair| drop(black_box(pair.plain()))),
            &|| pairs.iter().for_each(|pair| drop(black_box(pair.ours()))),
        ],
    );
    let sources: Vec<&Template> = compiled.iter().map(|compiled| compiled.template).collect();
    let engine = JinjaEngine::new();
    in_turns(
        "compile",
        sources.len(),
        [
            &|| {
                sources
                    .iter()
                    .for_each(|source| drop(black_box(theirs(source))))
            },
            &|| {
                sources
                    .iter()
                    .for_each(|source| drop(black_box(plain(source))))
            },
            &|| {
                sources
                    .iter()
                    .for_each(|source| drop(black_box(engine.program(source))))
            },
        ],
    );
    Ok(())
}

fn of_folder(folder: &Path) -> Result<Vec<Template>, Box<dyn Error>> {
    let mut templates = Vec::new();
    for file in std::fs::read_dir(folder)? {
        let path = file?.path();
        if path
            .extension()
            .is_some_and(|extension| extension == "jinja")
        {
            let source = std::fs::read_to_string(&path)?;
            let template = Template::from_source("of-folder", Dialect::Jinja, &source)
                .with_special_token("bos_token", "<s>")
                .with_special_token("eos_token", "</s>");
            templates.push(template);
        }
    }
    Ok(templates)
}

/// Lets the three engines take turns, and prints what each takes compared with the first: the
/// median of the rounds.
fn in_turns(what: &str, count: usize, runs: [&dyn Fn(); 3]) {
    let rounds: Vec<[f64; 3]> = (0..ROUNDS)
        .map(|_| {
            runs.map(|run| {
                let start = Instant::now();
                run();
                start.elapsed().as_secs_f64()
            })
        })
        .collect();
    let names = [
        "hf-chat-template",
        "minijinja with pycompat",
        "rolecall-jinja",
    ];
    for (at, name) in names.into_iter().enumerate() {
        let mut ratios: Vec<f64> = rounds.iter().map(|round| round[at] / round[0]).collect();
        ratios.sort_by(f64::total_cmp);
        let fastest = rounds
            .iter()
            .map(|round| round[at])
            .fold(f64::MAX, f64::min);
        let micros = fastest * 1e6 / count as f64;
        println!(
            "{what:8} {name:24} {micros:>8.2} µs {:>6.2} ×",
            ratios[ROUNDS / 2]
        );
    }
}

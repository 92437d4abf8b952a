//! What the harness costs, as ratios from one run.
//!
//! `cargo bench` renders the suite's pairs with bare minijinja, with the harness, and with the
//! harness against the snapshots, each on as many threads as there are cores, and says what each
//! costs compared with the first. Then it renders more and more pairs, for the cost of one pair
//! should not depend on their number.

// A benchmark's result is what it prints.
#![allow(clippy::print_stdout)]

mod measure;

use std::collections::HashMap;

use minijinja::syntax::SyntaxConfig;
use minijinja::value::{Kwargs, Rest};
use minijinja::{Environment, Error, ErrorKind, State, UndefinedBehavior, Value};
use rayon::prelude::*;
use rolecall_answers::reader::OwnReader;
use rolecall_answers::reading::read_all;
use rolecall_core::{
    Answer, AnswerReader, Case, CaseId, Conversation, Dialect, Observer, Template, Variable, Wanted,
};
use rolecall_front::engines::Engines;
use rolecall_front::front::Front;
use rolecall_front::prepared_case::PreparedCase;
use rolecall_front::program::FrontProgram;
use rolecall_suite::divergence::Divergences;
use rolecall_suite::layout::Layout;
use rolecall_suite::records::Records;
use rolecall_suite::run::{Acceptance, Expected, Runner};
use rolecall_suite::snapshot::Snapshots;
use rolecall_suite::suite::{Pair, Suite};
use rolecall_suite::verdict::Truth;

use measure::{count, in_turns, row};

fn main() {
    // minijinja's panics are caught; writing them would be measured too.
    rolecall_core::guard::keep_quiet();
    // Relative, as `rolecall run` has it.
    let layout = Layout::new("../..");
    let suite = Suite::load_layout(&layout);
    let pairs: Vec<Pair<'_>> = suite
        .pairs()
        .filter(|pair| pair.template.dialect == Dialect::Jinja)
        .collect();
    // Nothing costs nothing.
    assert!(!pairs.is_empty(), "no pairs in {}", layout.root().display());
    let engines = Engines::default();
    let runner = Runner::new(&engines, &[], None).expect("threads can be started");
    let snapshots = Snapshots::of(&layout);
    let records = Records::read(&layout, &snapshots, &suite.templates);
    let divergences = Divergences::default();
    let acceptance = Some(Acceptance {
        suite: &suite,
        snapshots: &snapshots,
    });
    let accepted = Expected {
        accepted: acceptance,
        truth: Truth::Unknown,
        belonging: None,
        needs_differences_only: true,
    };
    let whole = Expected {
        accepted: acceptance,
        truth: Truth::Records {
            records: &records,
            divergences: &divergences,
            snapshots: &snapshots,
        },
        ..accepted
    };

    let threads = rayon::current_num_threads();
    count(pairs.len(), &format!("pairs, {threads} threads"));
    let [base, rendered, compared, judged] = in_turns([
        &mut || bare(&suite, &pairs),
        &mut || {
            runner.render_each(&pairs, drop);
        },
        &mut || drop(runner.compare_each(&pairs, &accepted, drop)),
        &mut || drop(runner.compare_each(&pairs, &whole, drop)),
    ]);
    row("bare minijinja", base);
    row("render", rendered);
    row("render and compare", compared);
    row("and give verdicts", judged);

    answers(&suite);
    for dialect in Dialect::ALL {
        coverage(&suite, dialect);
        provenance(&suite, dialect);
    }

    println!("\ncost of one pair, rendered and compared");
    for count in [1_000, 10_000, 50_000] {
        let many: Vec<Pair<'_>> = pairs.iter().copied().cycle().take(count).collect();
        let [took] = in_turns([&mut || drop(runner.compare_each(&many, &whole, drop))]);
        let micros =
            took.fastest.as_secs_f64() * 1e6 / f64::from(u32::try_from(count).unwrap_or(1));
        println!(
            "{count:>8} pairs {:>8.3} s {micros:>8.2} µs a pair",
            took.fastest.as_secs_f64()
        );
    }
}

/// Reading the answers of the suite, compared with rendering the prompts that have them, on one
/// thread.
fn answers(suite: &Suite) {
    let engines = Engines::default();
    let reader = OwnReader::default();
    let templates = suite.templates.iter().filter_map(|template| {
        let response_template = template.response_template.as_ref()?;
        let engine = engines.for_dialect(template.dialect);
        let readings = read_all(engine, template, &reader, &suite.cases)?;
        Some((template, response_template, engine, readings))
    });
    let templates: Vec<_> = templates.collect();
    let programs: Vec<FrontProgram<'_>> = templates
        .iter()
        .map(|(template, _, engine, _)| FrontProgram::load(*engine, template))
        .collect();
    // Each answer that was written, as a server has it.
    let cases: HashMap<&CaseId, &Case> = suite.cases.iter().map(|case| (&case.id, case)).collect();
    let mut prepared = Vec::new();
    let mut texts = Vec::new();
    for ((template, response_template, _, readings), program) in templates.iter().zip(&programs) {
        for reading in readings {
            let Ok(answer) = &reading.result else {
                continue;
            };
            let (Some(case), Some(form)) = (cases.get(&reading.id.case), answer.forms.last())
            else {
                continue;
            };
            let front = Front::of(template);
            prepared.push((program, PreparedCase::new(case, front, &program.model)));
            texts.push((
                *response_template,
                answer.prompt.as_str(),
                form.text.as_str(),
                case,
            ));
        }
    }
    println!();
    count(texts.len(), "answers, one thread");
    let read = |streamed: bool| {
        for (response_template, prompt, text, case) in &texts {
            let tools = case.tools.as_deref();
            let answer = Answer {
                prompt,
                text,
                tools,
            };
            if streamed {
                drop(std::hint::black_box(
                    reader.read_streamed(response_template, &answer),
                ));
            } else {
                drop(std::hint::black_box(
                    reader.read(response_template, &answer),
                ));
            }
        }
    };
    let [rendered, whole, streamed] = in_turns([
        &mut || {
            for (program, case) in &prepared {
                drop(std::hint::black_box(program.outcome(case)));
            }
        },
        &mut || read(false),
        &mut || read(true),
    ]);
    row("render the prompt", rendered);
    row("read the answer", whole);
    row("by characters", streamed);
}

/// Recording what renders reach, compared with plain renders, on one thread.
fn coverage(suite: &Suite, dialect: Dialect) {
    let engines = Engines::default();
    let of_dialect = suite.templates.iter().filter(|one| one.dialect == dialect);
    let programs: Vec<FrontProgram<'_>> = of_dialect
        .map(|template| FrontProgram::load(engines.for_dialect(dialect), template))
        .collect();
    let prepared: Vec<_> = programs
        .iter()
        .flat_map(|program| {
            suite
                .pairs_among(program.template, &suite.cases)
                .map(move |pair| {
                    let model = program.model.with(pair.case, pair.front());
                    (program, PreparedCase::new(pair.case, pair.front(), &model))
                })
        })
        .collect();
    println!();
    let what = format!("pairs of {dialect} templates, one thread");
    count(prepared.len(), &what);
    let [rendered, covered] = in_turns([
        &mut || {
            for (program, case) in &prepared {
                drop(std::hint::black_box(program.outcome(case)));
            }
        },
        &mut || {
            for (program, case) in &prepared {
                drop(std::hint::black_box(program.covered(case)));
            }
        },
    ]);
    row("render", rendered);
    row("render and cover", covered);
}

/// Telling where each byte comes from, compared with plain renders, on one thread.
fn provenance(suite: &Suite, dialect: Dialect) {
    let engines = Engines::default();
    let of_dialect = suite.templates.iter().filter(|one| one.dialect == dialect);
    let programs: Vec<_> = of_dialect
        .filter_map(|template| {
            let engine = engines.for_dialect(dialect);
            engine.compile(template).ok()
        })
        .collect();
    let conversations: Vec<_> = suite.cases.iter().map(Conversation::new).collect();
    let pairs: Vec<_> = programs
        .iter()
        .flat_map(|program| conversations.iter().map(move |case| (program, case)))
        .collect();
    println!();
    let what = format!("pairs of {dialect} templates without their application, one thread");
    count(pairs.len(), &what);
    let [rendered, traced] = in_turns([
        &mut || {
            for (program, case) in &pairs {
                drop(std::hint::black_box(program.render(case)));
            }
        },
        &mut || {
            for (program, case) in &pairs {
                let mut provenance = Observer::of(&[Wanted::Spans]);
                drop(std::hint::black_box(
                    program.render_with(case, &mut provenance),
                ));
                drop(std::hint::black_box(provenance));
            }
        },
    ]);
    row("render", rendered);
    row("render and trace", traced);
}

/// minijinja and nothing else, from the same templates and cases to the same prompts:
/// each template is compiled once, each case converted once, each pair rendered once.
fn bare(suite: &Suite, pairs: &[Pair<'_>]) {
    let environment = environment(suite);
    let cases: HashMap<&CaseId, [Value; 3]> = suite
        .cases
        .par_iter()
        .map(|case| {
            let list = |items: &Vec<serde_json::Value>| items.iter().map(value).collect();
            let optional = |items: &Option<Vec<_>>| items.as_ref().map_or(Value::from(()), list);
            let values = [
                list(&case.messages),
                optional(&case.tools),
                optional(&case.documents),
            ];
            (&case.id, values)
        })
        .collect();
    pairs.par_iter().with_min_len(16).for_each(|pair| {
        let context = context(pair, &cases[&pair.case.id]);
        // minijinja 3.0.5 panics on some of the pairs.
        let rendered = rolecall_core::guard::catch(|| {
            let template = environment.get_template(pair.template.name.as_str());
            template.and_then(|template| template.render(context))
        });
        drop(std::hint::black_box(rendered));
    });
}

fn environment(suite: &Suite) -> Environment<'static> {
    let mut environment = Environment::new();
    environment.set_syntax(
        SyntaxConfig::builder()
            .trim_blocks(true)
            .lstrip_blocks(true)
            .build()
            .expect("these settings are valid"),
    );
    environment.set_undefined_behavior(UndefinedBehavior::Lenient);
    environment.set_auto_escape_callback(|_| minijinja::AutoEscape::None);
    environment.set_unknown_method_callback(minijinja_contrib::pycompat::unknown_method_callback);
    environment.add_function(
        "raise_exception",
        |message: String| -> Result<Value, Error> {
            Err(Error::new(ErrorKind::InvalidOperation, message))
        },
    );
    environment.add_function("strftime_now", |_: String| "02 Jan 2026");
    environment.add_filter("tojson", |value: &Value, _: Rest<Value>, _: Kwargs| {
        let no_arguments = std::iter::empty::<(&str, Value)>().collect();
        minijinja::filters::tojson(value, None, no_arguments)
    });
    environment.add_function("generation", |state: &mut State<'_, '_>, kwargs: Kwargs| {
        kwargs.get::<Value>("caller")?.call(state, &[])
    });
    let is_jinja = |template: &&Template| template.dialect == Dialect::Jinja;
    for template in suite.templates.iter().filter(is_jinja) {
        let source = template
            .source
            .replace(" generation ", " call generation() ")
            .replace(" endgeneration ", " endcall ");
        environment
            .add_template_owned(template.name.to_string(), source)
            .expect("the suite's templates can be parsed");
    }
    environment
}

fn context(pair: &Pair<'_>, [messages, tools, documents]: &[Value; 3]) -> Value {
    let agp = pair.case.add_generation_prompt;
    let mut context: Vec<(&str, Value)> = vec![
        ("messages", messages.clone()),
        ("tools", tools.clone()),
        ("documents", documents.clone()),
        ("add_generation_prompt", agp.into()),
    ];
    for (name, token) in &pair.template.special_tokens {
        context.push((name, value(token)));
    }
    for (name, variable) in &pair.template.variables {
        match (variable, &pair.case.tools) {
            (Variable::Value(json), _) => context.push((name, value(json))),
            (Variable::ToolsJson { .. }, Some(tools)) => {
                let text = serde_json::to_string_pretty(tools).unwrap_or_default();
                context.push((name, text.into()));
            }
            (Variable::ToolsJson { .. }, None) => {}
        }
    }
    for (name, json) in &pair.case.variables {
        context.push((name, value(json)));
    }
    Value::from_pairs(context)
}

fn value(json: &serde_json::Value) -> Value {
    match json {
        serde_json::Value::Null => Value::from(()),
        serde_json::Value::Bool(bool) => Value::from(*bool),
        serde_json::Value::Number(number) => match (number.as_i64(), number.as_f64()) {
            (Some(int), _) => Value::from(int),
            (None, float) => Value::from(float.unwrap_or(f64::NAN)),
        },
        serde_json::Value::String(text) => Value::from(text.as_str()),
        serde_json::Value::Array(items) => items.iter().map(value).collect(),
        serde_json::Value::Object(map) => {
            Value::from_pairs(map.iter().map(|(key, json)| (key.as_str(), value(json))))
        }
    }
}

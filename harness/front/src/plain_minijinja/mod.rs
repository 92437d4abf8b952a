//! Plain minijinja with the settings of transformers, as an engine of Rolecall. A Rust server that
//! adds no semantics of Python gives these prompts. For the prompts of transformers use
//! [`rolecall-jinja`](https://crates.io/crates/rolecall-jinja).
//!
//! Only fuel, recursion and the length of a prompt have limits. A template can take more memory
//! than [`Limits`] allow. Run templates from strangers in a separate process.

mod context;

mod functions;

mod refusal;

mod preparation;

use std::collections::BTreeSet;

use minijinja::syntax::SyntaxConfig;
use minijinja::{AutoEscape, Environment, Error, UndefinedBehavior};
use rolecall_core::{
    Conversation, Dialect, Engine, Limit, Limits, Observer, Outcome, Program, Refusal, Stage,
    Template,
};

use context::TemplateVariables;

const VERSION: &str = "3.0.5";

/// The name of the only template in a program's environment.
const TEMPLATE: &str = "template";

/// minijinja as it is.
#[derive(Debug, Clone)]
pub struct Minijinja {
    limits: Limits,
    environment: Environment<'static>,
}

/// A template that minijinja has compiled.
struct MinijinjaProgram {
    prompt: usize,
    environment: Environment<'static>,
    variables: TemplateVariables,
    template: Template,
}

impl Default for Minijinja {
    fn default() -> Minijinja {
        Minijinja::new()
    }
}

impl Minijinja {
    /// The engine's name.
    pub const NAME: &str = "minijinja";

    /// Makes the engine with the default limits.
    pub fn new() -> Minijinja {
        Minijinja::with_limits(Limits::default())
    }

    /// Makes the engine with these limits.
    pub fn with_limits(limits: Limits) -> Minijinja {
        let mut environment = Environment::new();
        environment.set_undefined_behavior(UndefinedBehavior::Lenient);
        environment.set_auto_escape_callback(|_| AutoEscape::None);
        environment.set_fuel(Some(limits.fuel));
        environment.set_recursion_limit(limits.recursion.min(Limits::DEEPEST));
        environment.set_debug(false);
        environment
            .set_unknown_method_callback(minijinja_contrib::pycompat::unknown_method_callback);
        functions::add(&mut environment);
        Minijinja {
            limits,
            environment,
        }
    }

    fn program(&self, template: &Template) -> Result<MinijinjaProgram, Error> {
        let syntax = syntax()?;
        let source = preparation::prepare(&template.source, &syntax);
        let mut environment = self.environment.clone();
        environment.set_syntax(syntax);
        environment.add_template_owned(TEMPLATE, source)?;
        Ok(MinijinjaProgram {
            prompt: self.limits.prompt,
            environment,
            variables: TemplateVariables::of(template),
            template: template.clone(),
        })
    }
}

fn syntax() -> Result<SyntaxConfig, Error> {
    SyntaxConfig::builder()
        .trim_blocks(true)
        .lstrip_blocks(true)
        .keep_trailing_newline(false)
        .build()
}

impl Engine for Minijinja {
    fn name(&self) -> &str {
        Minijinja::NAME
    }

    fn version(&self) -> &str {
        VERSION
    }

    fn description(&self) -> String {
        format!("minijinja {VERSION} in transformers' settings, nothing more")
    }

    fn dialect(&self) -> Dialect {
        Dialect::Jinja
    }

    fn compile(&self, template: &Template) -> Result<Box<dyn Program>, Refusal> {
        match self.program(template) {
            Ok(program) => Ok(Box::new(program)),
            Err(error) => Err(refusal::refusal(&error, Stage::Parse)),
        }
    }
}

impl Program for MinijinjaProgram {
    fn render_with(&self, conversation: &Conversation<'_>, observer: &mut dyn Observer) -> Outcome {
        let context = self.variables.with(conversation, observer.left_out());
        let template = self.environment.get_template(TEMPLATE);
        let now = conversation.case().now;
        match functions::at(now, || template?.render(context)) {
            Ok(text) if text.len() > self.prompt => Outcome::Exceeded {
                limit: Limit::Output,
            },
            rendered => rendered
                .map_err(|error| refusal::refusal(&error, Stage::Render))
                .into(),
        }
    }

    fn is_observable(&self) -> bool {
        true
    }

    /// A template reads the same variables in every engine, so Jinja2's grammar finds them.
    fn variables(&self) -> BTreeSet<String> {
        let program = rolecall_jinja::JinjaEngine::new().program(&self.template);
        program.map_or_else(|_| BTreeSet::new(), |program| program.variables())
    }
}

#[cfg(test)]
mod tests {
    use rolecall_core::{Case, OmittedVariable};

    use super::*;

    fn outcome(source: &str, observer: &mut dyn Observer) -> Outcome {
        let template = Template::from_source("t", Dialect::Jinja, source);
        let program = Minijinja::new().program(&template).unwrap();
        program.render_with(&Conversation::new(&Case::from_messages(vec![])), observer)
    }

    #[test]
    fn the_version_is_the_one_that_is_pinned() {
        let manifest = include_str!("../../../../Cargo.toml");
        for name in ["minijinja", "minijinja-contrib"] {
            let pin = format!("{name} = {{ version = \"={VERSION}\"");
            assert!(manifest.contains(&pin), "{name}");
        }
    }

    #[test]
    fn transformers_functions_are_there() {
        let raised = Outcome::Raised {
            message: "no".to_owned(),
        };
        for source in [
            "{{ raise_exception('no') }}",
            "{% macro m() %}{{ raise_exception(message='no') }}{% endmacro %}{{ m() }}",
        ] {
            assert_eq!(outcome(source, &mut ()), raised, "{source}");
        }
        let text = "{% macro year() %}{{ strftime_now('%Y') }}{% endmacro %}{{ year() }}";
        let rendered = Outcome::Rendered {
            text: "2026".to_owned(),
        };
        assert_eq!(outcome(text, &mut ()), rendered);
    }

    #[test]
    fn a_variable_can_be_left_out() {
        let source = "{{ tools is defined }}";
        let rendered = |text: &str| Outcome::Rendered { text: text.into() };
        assert_eq!(outcome(source, &mut ()), rendered("True"));
        assert_eq!(
            outcome(source, &mut OmittedVariable::new("tools")),
            rendered("False")
        );
    }
}

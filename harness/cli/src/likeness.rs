//! Templates compared with their bases: which base a template has, and how the two differ.

use std::path::{Path, PathBuf};

use rolecall_check::card::Card;
use rolecall_check::nearest::Nearest;
use rolecall_check::published::hub_name;
use rolecall_check::side_by_side::compare_probes;
use rolecall_core::file::is_there;
use rolecall_core::guard;
use rolecall_core::problem::Problem;
use rolecall_core::{Template, TemplatePart};
use rolecall_io::base;
use rolecall_suite::checked_base::CheckedBase;
use rolecall_suite::comparison::{Comparison, SideKind};
use rolecall_suite::configuration::{ConfiguredBase, ConfiguredTemplate};
use rolecall_suite::run::Runner;
use rolecall_suite::suite::{Pair, Suite};
use rolecall_suite::workspace::known::KnownSuite;
use rolecall_suite::workspace::own_template::own_template;
use rolecall_suite::workspace::side::{self, DiffSide};

use crate::args::{CheckArguments, NEAREST, SetArguments};
use crate::cache::cache_folder;

use crate::failure::{self, Failure};
use crate::report::clean;
use crate::session::{self, Session};
use crate::{cards, home};

/// The word for the base that a template's own files name.
const OWN: &str = "base";

/// Where the base of a template is, and what is known of it.
struct Base {
    text: String,
    configured: Option<ConfiguredBase>,
}

impl Base {
    fn named(text: String) -> Base {
        Base {
            text,
            configured: None,
        }
    }

    fn of_configured(known: ConfiguredBase) -> Base {
        Base {
            text: known.source.to_string_lossy().into_owned(),
            configured: Some(known),
        }
    }

    /// Why the base cannot be compared with, as a problem of the suite's file. A failure stays one if
    /// the user named the base on the command line.
    fn problem(&self, of: &Template, failure: Failure) -> Result<Problem, Failure> {
        let layout = home::layout()?;
        let is_configured = |known: &&ConfiguredBase| known.source == Path::new(&self.text);
        let known = self.configured.as_ref().filter(is_configured);
        let (Some(known), Some(file)) = (known, layout.configuration()) else {
            return Err(failure);
        };
        // A problem has no styles.
        let text = clean::plain(failure::text(&failure).as_bytes());
        let (first, rest) = match text.split_once("\n  ") {
            Some((first, rest)) => (first, Some(rest.to_owned())),
            None => (text.as_str(), None),
        };
        let message = format!("the base of `{}`: {first}", of.name);
        Ok(Problem {
            help: rest,
            ..Problem::new(&file.path, message).at(known.position)
        })
    }
}

/// Whether templates are to be compared with bases: the user says so, or the suite's file does for
/// its own templates.
pub(crate) fn is_asked_for(arguments: &CheckArguments) -> Result<bool, Failure> {
    if arguments.like.is_some() {
        return Ok(true);
    }
    if arguments.fix {
        return Ok(false);
    }
    Ok(configured(arguments)?
        .iter()
        .any(|template| template.base.is_some()))
}

/// The templates of the suite's file that are checked.
fn configured(arguments: &CheckArguments) -> Result<Vec<ConfiguredTemplate>, Failure> {
    let layout = home::layout()?;
    let Some(configuration) = layout.configuration() else {
        return Ok(Vec::new());
    };
    let paths = arguments.paths.iter();
    let asked =
        paths.filter_map(|path| own_template(&home::access(), &layout, &path.to_string_lossy()));
    let asked: Vec<_> = asked.collect();
    let templates = configuration.templates.iter();
    let is_asked = |one: &&ConfiguredTemplate| {
        arguments.paths.is_empty() || asked.iter().any(|asked| asked.is_of(&one.name))
    };
    Ok(templates.filter(is_asked).cloned().collect())
}

/// Compares each template that has a base with it. Bases of the suite's file that cannot be read are
/// problems of that file. The templates have these cards.
pub(crate) fn compare(
    arguments: &CheckArguments,
    runner: &Runner<'_>,
    suite: &Suite,
    cards: &[Card],
) -> Result<(Vec<CheckedBase>, Vec<Problem>), Failure> {
    let configured = configured(arguments)?;
    let (mut found, mut problems) = (Vec::new(), Vec::new());
    for template in &suite.templates {
        let known = known_base(&configured, template);
        let card = cards
            .iter()
            .find(|card| card.template == template.name.as_str());
        let nearest = card.and_then(|card| card.nearest.as_ref());
        let Some(base) = base_of(arguments, template, known, nearest)? else {
            continue;
        };
        let (set, same) = (&arguments.set, &arguments.same);
        match compare_one(set, same, runner, (suite, template), &base) {
            Ok(one) => found.push(one),
            Err(failure) => problems.push(base.problem(template, failure)?),
        }
    }
    Ok((found, problems))
}

/// The base that the suite's file names for a template.
fn known_base(configured: &[ConfiguredTemplate], template: &Template) -> Option<ConfiguredBase> {
    // `is_of` is also true of a template `a.b` if the source is named `a`, and the file may name both.
    let exact = configured.iter().find(|one| one.name == template.name);
    let known = exact.or_else(|| configured.iter().find(|one| one.is_of(&template.name)));
    known.and_then(|one| one.base.clone())
}

/// The templates of a suite that are not as the bases that its file names, and the bases that cannot
/// be read. As with report cards, a template counts only if all its pairs are there.
pub(crate) fn checked(
    KnownSuite { layout, suite, .. }: &KnownSuite<'_>,
    pairs: &[Pair<'_>],
    session: &Session,
) -> Result<(Vec<CheckedBase>, Vec<Problem>), Failure> {
    let (mut checked, mut problems) = (Vec::new(), Vec::new());
    let Some(configuration) = layout.configuration() else {
        return Ok((checked, problems));
    };
    let runner = session.own_runner()?;
    for template in cards::whole(suite, pairs) {
        let Some(known) = known_base(&configuration.templates, template) else {
            continue;
        };
        let base = Base::of_configured(known);
        let nothing = SetArguments::default();
        match compare_one(&nothing, &[], &runner, (suite, template), &base) {
            Ok(one) if one.is_as_expected() => {}
            Ok(one) => checked.push(one),
            Err(failure) => problems.push(base.problem(template, failure)?),
        }
    }
    Ok((checked, problems))
}

/// The base of a template. None if nobody asked for one.
fn base_of(
    arguments: &CheckArguments,
    template: &Template,
    known: Option<ConfiguredBase>,
    nearest: Option<&Nearest>,
) -> Result<Option<Base>, Failure> {
    match (arguments.like.as_deref(), known) {
        (None | Some(OWN), Some(known)) => Ok(Some(Base::of_configured(known))),
        (None, None) => Ok(None),
        (Some(OWN), None) => match named_base(arguments, template)? {
            Some(name) => Ok(Some(Base::named(format!("hf:{name}")))),
            None => Err(Failure::Request(format!(
                "nothing names the base of `{}`: neither {}, nor `base_model` in the README.md of \
                 its model, nor its GGUF file\n  name the base itself: --like hf:ORG/NAME",
                template.name,
                rolecall_suite::configuration::FILE,
            ))),
        },
        (Some(NEAREST), _) => match nearest.map(|one| one.template.as_str()) {
            Some(name) if hub_name(name).is_some() => Ok(Some(Base::named(format!("hf:{name}")))),
            Some(name) => Err(Failure::Request(format!(
                "the published template that is nearest to `{}` is `{name}`, and this is no model on the \
                 hub\n  name a file that has it: --like FILE",
                template.name,
            ))),
            None => Err(Failure::Request(format!(
                "no published template that Rolecall knows is near to `{}`\n  name its base: --like \
                 hf:ORG/NAME or --like FILE",
                template.name,
            ))),
        },
        (Some(text), known) => Ok(Some(Base {
            text: text.to_owned(),
            configured: known,
        })),
    }
}

/// The base that the files of a template's model name.
fn named_base(arguments: &CheckArguments, template: &Template) -> Result<Option<String>, Failure> {
    if let Some(name) = base::base_model(&template.path) {
        return Ok(Some(name));
    }
    // The card of a model on the hub is not fetched with its template.
    for path in &arguments.paths {
        rolecall_io::remote::fetch_card(path, cache_folder().as_deref())
            .map_err(|problem| Failure::Problems(vec![problem]))?;
    }
    Ok(base::base_model(&template.path))
}

fn compare_one(
    set: &SetArguments,
    same: &[(String, String)],
    runner: &Runner<'_>,
    (suite, own): (&Suite, &Template),
    base: &Base,
) -> Result<CheckedBase, Failure> {
    // A base is written as a source is: it is a path, also where a template has that name.
    let path = Path::new(&base.text);
    let named = own_template(&home::access(), &home::layout()?, &base.text);
    let is_name = named.is_some_and(|named| named.has_name(&base.text));
    let place = if base.configured.is_some() && is_name && is_there(path) {
        Path::new(".").join(path).to_string_lossy().into_owned()
    } else {
        base.text.clone()
    };
    let DiffSide::Templates(other, _files) =
        side::find(&home::access(), &place, &[], &set.settings())?
    else {
        return Err(Failure::Request(format!(
            "`{}` is a saved run: a base is a template or a model",
            base.text
        )));
    };
    if !other.problems.is_empty() {
        return Err(Failure::Problems(other.problems));
    }
    let templates = other.templates.as_slice();
    let twin = templates.iter().find(|template| template.name == own.name);
    let Some(twin) = twin.or(match templates {
        [one] => Some(one),
        _ => None,
    }) else {
        return Err(Failure::Request(match templates.len() {
            0 => format!("there is no template in `{}`", base.text),
            count => format!(
                "`{}` has {count} templates, and none is named `{}`: name one of them",
                base.text, own.name
            ),
        }));
    };
    if is_same(twin, own) {
        return Err(Failure::Request(format!(
            "`{}` is the template itself, so there is nothing to compare\n  name the template that \
             it was made from",
            base.text
        )));
    }
    let mut tokens = same.to_vec();
    tokens.extend(
        base.configured
            .iter()
            .flat_map(|known| known.tokens.clone()),
    );
    let sides = [base.text.clone(), own.name.to_string()];
    let comparison = Comparison::new(SideKind::Templates, sides).with_tokens(tokens);
    let mut comparison = compare_with_base(runner, comparison, [(&other, twin), (suite, own)])?;
    let known = base.configured.as_ref();
    let differs = known.map_or(&[][..], |known| known.differs.as_slice());
    let stale = comparison.checked_against_base(differs);
    let file = home::layout()?.configuration().map(|one| one.path.clone());
    let stale = stale.into_iter().map(|one| {
        let path = file.clone().unwrap_or_else(PathBuf::new);
        let problem = Problem::new(
            &path,
            format!(
                "`{}` in `differs` is no difference from the base",
                one.place
            ),
        );
        match known {
            Some(known) => problem.at(known.position),
            None => problem,
        }
        .help("delete this line of `differs`")
    });
    Ok(CheckedBase {
        template: own.name.to_string(),
        path: own.path.clone(),
        is_whole_file: own.part == TemplatePart::Whole,
        stale: stale.collect(),
        comparison,
    })
}

/// Compares a template with its base, which comes first: in the cases of their suites, by their
/// report cards, and in probes.
pub(crate) fn compare_with_base(
    runner: &Runner<'_>,
    mut comparison: Comparison,
    sides: [(&Suite, &Template); 2],
) -> Result<Comparison, Failure> {
    let both = sides.map(|(_, template)| template.clone());
    let engines = both
        .each_ref()
        .map(|template| runner.engine(template.dialect));
    let compare = || compare_probes(engines, [&both[0], &both[1]]);
    let probes = guard::contained("the comparison of probes", compare).unwrap_or_default();
    comparison.render(
        [runner, runner],
        sides.map(|(suite, template)| pairs_of(suite, template)),
        &probes,
    );
    let (cards, problems) = session::examine(runner, &both);
    if !problems.is_empty() {
        return Err(Failure::Problems(problems));
    }
    comparison.add_cards(&cards);
    Ok(comparison.sorted())
}

/// Whether two templates are one: the same part of the same file.
fn is_same(one: &Template, other: &Template) -> bool {
    let real = |template: &Template| template.path.canonicalize().ok();
    one.part == other.part && real(one).is_some() && real(one) == real(other)
}

/// The pairs of a template with the cases of its suite.
fn pairs_of<'s>(suite: &'s Suite, template: &Template) -> Vec<Pair<'s>> {
    let pairs = suite.pairs();
    pairs
        .filter(|pair| pair.template.name == template.name)
        .collect()
}

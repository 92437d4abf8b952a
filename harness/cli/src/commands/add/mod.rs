//! The command `add`: makes a case of a conversation from outside.

pub mod report;

use std::io::Write;
use std::path::{Path, PathBuf};

use crate::report::{case, clean, problems};
use rolecall_check::choice::ContractChoice;
use rolecall_check::tokenizer::Tokenizers;
use rolecall_core::CaseId;
use rolecall_core::file::{is_there, read_text, write_below};
use rolecall_suite::adding::with_case;
use rolecall_suite::case_file::read_family;
use rolecall_suite::conversation::{Conversation, Conversations, case_name};
use rolecall_suite::layout::Layout;
use rolecall_suite::private;
use rolecall_suite::workspace::stdin;
use serde_json::{Map, Value};

use crate::args::{AddArguments, SetArguments};
use crate::failure::{Failure, Status, report_problems};
use crate::session::Session;
use crate::{conversations, home, inputs};

pub(crate) fn execute(arguments: &AddArguments, out: &mut dyn Write) -> Result<Status, Failure> {
    let layout = home::writable_layout()?;
    home::tell_suite(&layout);
    let conversations = conversations::read(&arguments.conversations)?;
    let told = conversations.note(&arguments.conversations);
    problems::write_notes(&mut clean::messages(), told.as_slice())?;
    let new = if let Some(template) = &arguments.each_cause {
        of_causes(arguments, template, conversations)?
    } else {
        let conversation = chosen(arguments, &conversations)?;
        let about = arguments.about.clone();
        let about = about.unwrap_or_else(|| format!("Added from {}.", source(arguments)));
        vec![(name(arguments)?, fields(about, &conversation.fields))]
    };
    let (root, path) = file(arguments, &layout)?;
    let to_lock = (!arguments.dry_run).then_some(&layout);
    let _lock = to_lock.map(home::lock).transpose()?;
    let before = is_there(&path).then(|| read_text(&path)).transpose()?;
    let mut text = before;
    let mut is_private = false;
    for (name, fields) in &new {
        let value = Value::Object(fields.clone());
        let found = private::find(&value);
        report::write_private(out, &found)?;
        is_private |= !found.is_empty();
        let value = if arguments.redact {
            private::without(&value)
        } else {
            value
        };
        let fields = value.as_object().unwrap_or(fields);
        text = Some(with_case(&path, text.as_deref(), name, fields)?);
        case::write(out, name, fields)?;
    }
    let is_withheld = is_private && !arguments.redact && !arguments.keep_private;
    let Some(text) = text.filter(|_| !is_withheld && !arguments.dry_run) else {
        report::write_withheld(out, is_withheld)?;
        return Ok(Status::of(true, !is_withheld));
    };
    write_below(&root, &path, &text)?;
    problems::write_notes(&mut clean::messages(), &read_family(&path, &[]).notes)?;
    let family = path.file_stem().unwrap_or_default().to_string_lossy();
    for (name, _) in &new {
        report::write_added(out, &path, &family, name)?;
    }
    Ok(Status::Fine)
}

/// A new case: its name, and its fields.
type NewCase = (String, Map<String, Value>);

/// The smallest conversation of each cause that a template shows. One conversation may have several.
fn of_causes(
    arguments: &AddArguments,
    template: &Path,
    conversations: Conversations,
) -> Result<Vec<NewCase>, Failure> {
    let path = &arguments.conversations;
    let mut suite = inputs::open(&inputs::templates_only(
        &[template.to_path_buf()],
        &SetArguments::default(),
    ))?
    .suite;
    let read = conversations.read.clone();
    suite.cases = suite.told_of(path, conversations);
    report_problems(&suite.problems)?;
    let [template] = suite.templates.as_slice() else {
        let message = "--each-cause takes one template\n  name a file or a template of the suite";
        return Err(Failure::Request(message.to_owned()));
    };
    let session = Session::default();
    let runner = session.own_runner()?;
    let pairs = suite.pairs_among(template, &suite.cases);
    let all: Vec<_> = pairs.map(|pair| pair.case).collect();
    let (tokenizers, choice) = (Tokenizers::default(), ContractChoice::default());
    let judged = runner.judge_conversations(&suite, template, &tokenizers, &all, &choice);
    let mut new: Vec<(&Conversation, Vec<String>)> = Vec::new();
    for cause in judged.all() {
        let words = format!("{} ({})", cause.what, cause.rule);
        let known = new
            .iter_mut()
            .find(|(one, _)| one.name == cause.example.name());
        if let Some((_, all)) = known {
            all.push(words);
        } else {
            let mut read = read.iter();
            let example = read.find(|one| one.name == cause.example.name());
            new.extend(example.map(|one| (one, vec![words])));
        }
    }
    if new.is_empty() {
        return Err(Failure::Request(format!(
            "nothing is wrong with these conversations and {}, so there is no case to add",
            template.name
        )));
    }
    let named = new.into_iter().map(|(conversation, words)| {
        let about = format!("Added from {}: {}.", source(arguments), words.join("; "));
        let name = named_by(arguments, Some(&conversation.name))?;
        Ok((name, fields(about, &conversation.fields)))
    });
    named.collect()
}

/// Where the conversations come from, in words.
fn source(arguments: &AddArguments) -> String {
    if arguments.conversations == Path::new(stdin::NAME) {
        return "standard input".to_owned();
    }
    let file = arguments.conversations.file_name().unwrap_or_default();
    file.to_string_lossy().into_owned()
}

/// The fields of a new case.
fn fields(about: String, said: &Map<String, Value>) -> Map<String, Value> {
    let mut fields = Map::from_iter([("about".to_owned(), about.into())]);
    fields.extend(said.clone());
    fields
}

/// The conversation that becomes a case: the only one, or the one of a line.
fn chosen<'c>(
    arguments: &AddArguments,
    conversations: &'c Conversations,
) -> Result<&'c Conversation, Failure> {
    let found = match (&arguments.line, conversations.read.as_slice()) {
        (None, [one]) if conversations.problems.is_empty() => Some(one),
        (None, [_]) => return Err(Failure::Problems(conversations.problems.clone())),
        (None, many) => {
            return Err(Failure::Request(format!(
                "the file has {} conversations, and one becomes a case\n  name its line with --line",
                many.len()
            )));
        }
        (Some(line), many) => many.iter().find(|one| one.name == *line),
    };
    found.ok_or_else(|| match conversations.problems.as_slice() {
        [] => Failure::Request("no conversation begins at that line".to_owned()),
        problems => Failure::Problems(problems.to_vec()),
    })
}

fn name(arguments: &AddArguments) -> Result<String, Failure> {
    if let Some(name) = &arguments.name {
        if CaseId::allows(name) {
            return Ok(name.clone());
        }
        let near = case_name(name).map_or_else(String::new, |name| format!(", such as `{name}`"));
        return Err(Failure::Request(format!(
            "`{name}` is not a valid case name\n  use lower-case letters, digits and single \
             dashes{near}"
        )));
    }
    named_by(arguments, arguments.line.as_deref())
}

/// A name made of the file's name and the line.
fn named_by(arguments: &AddArguments, line: Option<&str>) -> Result<String, Failure> {
    let stem = arguments.conversations.file_stem().unwrap_or_default();
    let line = line.map_or_else(String::new, |line| format!("-{line}"));
    case_name(&format!("{}{line}", stem.to_string_lossy())).ok_or_else(|| {
        Failure::Request("the case needs a name: give it one with --name".to_owned())
    })
}

/// The case file, and the folder that it must lie in.
fn file(arguments: &AddArguments, layout: &Layout) -> Result<(PathBuf, PathBuf), Failure> {
    let folder = match layout.configuration() {
        None => layout.conversations(),
        Some(own) => {
            let folders = own.own.iter().filter(|path| path.is_dir());
            let mut folders = folders.cloned();
            folders.next().unwrap_or_else(|| own.root().join("cases"))
        }
    };
    let file = Path::new(&arguments.to);
    let is_plain = file
        .file_name()
        .is_some_and(|name| name == file.as_os_str());
    let stem = file.file_stem().unwrap_or_default().to_string_lossy();
    let is_json = file
        .extension()
        .is_some_and(|extension| extension == "json");
    if !is_plain || !is_json || !CaseId::allows(&stem) {
        return Err(Failure::Request(format!(
            "`{}` cannot be a case file\n  name a file in {}, such as added.json",
            arguments.to,
            folder.display()
        )));
    }
    Ok((folder.clone(), folder.join(file)))
}

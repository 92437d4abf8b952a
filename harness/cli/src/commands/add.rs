//! The command `add`: makes a case of a conversation from outside.

use std::io::Write;
use std::path::{Path, PathBuf};

use crate::report::adding as report;
use rolecall_core::CaseId;
use rolecall_core::file::{is_there, read_text, write_below};
use rolecall_suite::adding::with_case;
use rolecall_suite::conversation::{Conversation, Conversations, case_name};
use rolecall_suite::layout::Layout;
use rolecall_suite::private;
use serde_json::{Map, Value};

use crate::args::AddArguments;
use crate::failure::{Failure, Status};
use crate::{conversations, home, stdin};

pub(super) fn execute(arguments: &AddArguments, out: &mut dyn Write) -> Result<Status, Failure> {
    let layout = home::writable_layout()?;
    home::tell_suite(&layout);
    let conversations = conversations::read(&arguments.conversations)?;
    let conversation = chosen(arguments, &conversations)?;
    let name = name(arguments)?;
    let (root, path) = file(arguments, &layout)?;
    let to_lock = (!arguments.dry_run).then_some(&layout);
    let _lock = to_lock.map(home::lock).transpose()?;
    let value = Value::Object(fields(arguments, conversation));
    let found = private::find(&value);
    report::write_private(out, &found)?;
    let value = if arguments.redact {
        private::without(&value)
    } else {
        value
    };
    let Value::Object(fields) = value else {
        return Err(Failure::Request("the conversation is no object".to_owned()));
    };
    let before = is_there(&path).then(|| read_text(&path)).transpose()?;
    let text = with_case(&path, before.as_deref(), &name, &fields)?;
    report::write_case(out, &name, &fields)?;
    let is_withheld = !found.is_empty() && !arguments.redact && !arguments.keep_private;
    if is_withheld || arguments.dry_run {
        report::write_withheld(out, is_withheld)?;
        return Ok(Status::of(true, !is_withheld));
    }
    write_below(&root, &path, &text)?;
    let family = path.file_stem().unwrap_or_default().to_string_lossy();
    report::write_added(out, &path, &family, &name)?;
    Ok(Status::Fine)
}

/// The fields of the new case.
fn fields(arguments: &AddArguments, conversation: &Conversation) -> Map<String, Value> {
    let about = arguments.about.clone().unwrap_or_else(|| {
        let from = if arguments.conversations == Path::new(stdin::NAME) {
            "standard input".into()
        } else {
            let file = arguments.conversations.file_name().unwrap_or_default();
            file.to_string_lossy().into_owned()
        };
        format!("Added from {from}.")
    });
    let mut fields = Map::from_iter([("about".to_owned(), about.into())]);
    fields.extend(conversation.fields.clone());
    fields
}

/// The conversation that becomes a case: the only one, or the one of a line.
fn chosen<'c>(
    arguments: &AddArguments,
    conversations: &'c Conversations,
) -> Result<&'c Conversation, Failure> {
    let found = match (arguments.line, conversations.read.as_slice()) {
        (None, [one]) if conversations.problems.is_empty() => Some(one),
        (None, [_]) => return Err(Failure::Problems(conversations.problems.clone())),
        (None, many) => {
            return Err(Failure::Request(format!(
                "the file has {} conversations, and one becomes a case\n  name its line with --line",
                many.len()
            )));
        }
        (Some(line), many) => many.iter().find(|one| one.number == line),
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
    let stem = arguments.conversations.file_stem().unwrap_or_default();
    let line = arguments
        .line
        .map_or_else(String::new, |line| format!("-{line}"));
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

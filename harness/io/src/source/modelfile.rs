//! Modelfiles, read as Ollama reads them (`parser/parser.go`, August 2026).
//!
//! A file is a list of instructions. A value reaches to the end of its line, or, where it begins
//! with `"""` or `"`, to the first end of a line that closes it. Blanks around it and the quotes
//! are removed. Besides blanks and line breaks, a value keeps only the characters that Go calls
//! printable: a no-break space in a template never reaches a model.
//!
//! Only `TEMPLATE` is taken; the last one counts. The model that `FROM` names is not read, because
//! it may be anywhere.

use std::path::Path;

use rolecall_core::{Cut, Dialect, OllamaSetup, Template, TemplatePart};
use unicode_properties::{GeneralCategoryGroup, UnicodeGeneralCategory};

use super::content::SourceContent;
use super::paths::name_of;
use super::remarks::byte_order_mark;
use rolecall_core::file::MOST_TEXT;
use rolecall_core::naming;
use rolecall_core::problem::{Note, Position, Problem};
use rolecall_core::root::{Root, bytes_within};

const INSTRUCTIONS: [&str; 11] = [
    "from",
    "license",
    "template",
    "system",
    "adapter",
    "draft",
    "renderer",
    "parser",
    "parameter",
    "message",
    "requires",
];

/// The message for a file without a template.
pub(super) const NO_TEMPLATE: &str = "no TEMPLATE";

/// Whether a file is a Modelfile by its name.
pub(super) fn is_modelfile(path: &Path) -> bool {
    let name = name_of(path).to_ascii_lowercase();
    name == "modelfile"
        || name
            .strip_prefix("modelfile")
            .is_some_and(|rest| rest.starts_with(['.', '-', '_']))
        || name.ends_with(".modelfile")
}

/// The model's name: the file's name without `Modelfile`, or the folder's name.
fn model_name(path: &Path) -> String {
    let name = name_of(path);
    let lower = name.to_ascii_lowercase();
    if lower.ends_with(".modelfile") {
        return name.cut(..name.len() - ".modelfile".len()).to_owned();
    }
    match name.get("modelfile.".len()..) {
        Some(rest) if !rest.is_empty() => rest.to_owned(),
        _ => {
            let folder = path
                .parent()
                .filter(|folder| !folder.as_os_str().is_empty());
            name_of(folder.unwrap_or(Path::new(".")))
        }
    }
}

/// The most messages of a Modelfile. Ollama sends them before each conversation.
const MOST_MESSAGES: usize = 10_000;

/// Reads the template of a Modelfile. With a bound, the file lies in that folder.
pub(super) fn read(bound: Option<&Root>, path: &Path) -> SourceContent {
    let file = match bytes_within(bound, path, MOST_TEXT).and_then(|bytes| decode(path, &bytes)) {
        Ok(text) => match parse(path, &text) {
            Ok(file) => file,
            Err(problem) => return SourceContent::problem(problem),
        },
        Err(problem) => return SourceContent::problem(problem),
    };
    let mut found = SourceContent::default();
    let mut note = |message: String| found.notes.push(Note::new(path, message));
    if let Some(instruction) = file.last("renderer") {
        note(format!(
            "line {}: with RENDERER Ollama renders by code of its own, not by the template",
            instruction.line,
        ));
    }
    let templates = file.instructions.iter().filter(|i| i.name == "template");
    if let [.., before, last] = templates.collect::<Vec<_>>().as_slice() {
        note(format!(
            "line {}: this TEMPLATE is not used, the one in line {} is",
            before.line, last.line
        ));
    }
    // An empty TEMPLATE is as good as none (`server/create.go`).
    let Some(instruction) = file.last("template").filter(|i| !i.value.is_empty()) else {
        let from = file.last("from").map_or("", |from| &from.value);
        found.problems.push(
            Problem::new(
                path,
                format!("{NO_TEMPLATE}: Ollama takes that of FROM {from:?}"),
            )
            .help("name that model instead: its GGUF file, its folder, or it in Ollama's store"),
        );
        return found;
    };
    if let Some((c, position)) = instruction.dropped {
        note(format!(
            "{position}: Ollama drops U+{:04X} from the template, and other characters that are not printable",
            u32::from(c)
        ));
    }
    let mut template = Template::from_source("", Dialect::Go, &instruction.value);
    template.name = naming::of_model(&model_name(path), None);
    template.path = path.to_path_buf();
    template.part = TemplatePart::Line(instruction.line);
    template.setup = file.setup();
    found.notes.extend(byte_order_mark(&template));
    found.templates.push(template);
    found
}

/// UTF-8, with or without a byte order mark, or UTF-16 with one.
fn decode(path: &Path, bytes: &[u8]) -> Result<String, Problem> {
    let utf16 = |bytes: &[u8], read: fn([u8; 2]) -> u16| {
        let (units, _) = bytes.as_chunks();
        char::decode_utf16(units.iter().copied().map(read))
            .map(|unit| unit.unwrap_or(char::REPLACEMENT_CHARACTER))
            .collect()
    };
    match bytes {
        [0xFF, 0xFE, rest @ ..] => Ok(utf16(rest, u16::from_le_bytes)),
        [0xFE, 0xFF, rest @ ..] => Ok(utf16(rest, u16::from_be_bytes)),
        _ => {
            let bytes = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes);
            match std::str::from_utf8(bytes) {
                Ok(text) => Ok(text.to_owned()),
                #[allow(clippy::indexing_slicing)] // The first wrong byte follows the valid ones.
                Err(error) => {
                    let valid = error.valid_up_to();
                    let before = String::from_utf8_lossy(&bytes[..valid]);
                    let message = format!("not UTF-8: byte 0x{:02X}", bytes[valid]);
                    Err(Problem::new(path, message)
                        .at(Position::of(&before, before.len()))
                        .help("save the file as UTF-8; Ollama would put U+FFFD in its place"))
                }
            }
        }
    }
}

#[derive(Debug, Default)]
struct Modelfile {
    instructions: Vec<Instruction>,
}

#[derive(Debug)]
struct Instruction {
    name: String,
    /// The text between the name and the value: the role of a message, the name of a parameter.
    role: String,
    value: String,
    /// The line in which the value begins.
    line: usize,
    /// The first character of the value that Ollama drops, and where.
    dropped: Option<(char, Position)>,
}

impl Modelfile {
    /// The settings that a server applies before it renders the template.
    fn setup(&self) -> OllamaSetup {
        let last = |name| self.last(name).map(|instruction| instruction.value.clone());
        let named = |name| self.instructions.iter().filter(move |i| i.name == name);
        let messages = named("message");
        let stops = named("parameter").filter(|parameter| parameter.role == "stop");
        OllamaSetup {
            parser: last("parser"),
            system: last("system"),
            messages: messages
                .map(|message| (message.role.clone(), message.value.clone()))
                .collect(),
            stops: stops.map(|stop| stop.value.clone()).collect(),
            ..OllamaSetup::default()
        }
    }

    fn last(&self, name: &str) -> Option<&Instruction> {
        self.instructions.iter().rev().find(|i| i.name == name)
    }
}

/// The characters of a file, and where the next one is.
struct Cursor<'t> {
    rest: std::str::Chars<'t>,
    position: Position,
}

impl Cursor<'_> {
    fn peek(&self) -> Option<char> {
        self.rest.clone().next()
    }

    fn next(&mut self) -> Option<char> {
        let c = self.rest.next()?;
        if c == '\n' {
            self.position.line += 1;
            self.position.column = 1;
        } else {
            self.position.column += 1;
        }
        Some(c)
    }

    /// The word that follows, up to the blank after it.
    fn word(&mut self, is_part: impl Fn(char) -> bool) -> Option<String> {
        let mut word = String::new();
        loop {
            match self.next()? {
                ' ' | '\t' => return Some(word),
                c if is_part(c) => word.push(c),
                _ => return None,
            }
        }
    }
}

fn parse(path: &Path, text: &str) -> Result<Modelfile, Problem> {
    let mut cursor = Cursor {
        rest: text.chars(),
        position: Position { line: 1, column: 1 },
    };
    let mut file = Modelfile::default();
    let mut messages = 0;
    while let Some(c) = cursor.peek() {
        if matches!(c, ' ' | '\t' | '\r' | '\n') {
            cursor.next();
        } else if c == '#' {
            while cursor.next().is_some_and(|c| !is_line_break(c)) {}
        } else {
            let line = cursor.position;
            file.instructions.push(instruction(path, &mut cursor)?);
            messages += usize::from(
                file.instructions
                    .last()
                    .is_some_and(|i| i.name == "message"),
            );
            if messages > MOST_MESSAGES {
                let message = format!("more than {MOST_MESSAGES} MESSAGE instructions");
                return Err(Problem::new(path, message).at(line));
            }
        }
    }
    if file.last("from").is_none() {
        return Err(Problem::new(path, "no FROM, which Ollama requires")
            .help("for a template alone, use a .gotmpl file"));
    }
    Ok(file)
}

fn instruction(path: &Path, cursor: &mut Cursor<'_>) -> Result<Instruction, Problem> {
    let start = cursor.position;
    // Ollama accepts one invisible character here.
    if cursor.peek().is_some_and(|c| !is_printable(c)) {
        cursor.next();
    }
    let name = cursor.word(|c| c.is_ascii_alphabetic());
    let name = name.map(|name| name.to_ascii_lowercase());
    let Some(name) = name.filter(|name| INSTRUCTIONS.contains(&name.as_str())) else {
        let known = INSTRUCTIONS.map(str::to_ascii_uppercase).join(", ");
        return Err(Problem::new(path, "not an instruction with a value")
            .at(start)
            .help(format!("the instructions are {known}")));
    };
    let after = cursor.position;
    let mut role = String::new();
    if name == "parameter" {
        let parameter = cursor.word(|c| c.is_ascii_alphanumeric() || c == '_');
        let missing = || Problem::new(path, "a PARAMETER needs a name and a value").at(after);
        role = parameter.ok_or_else(missing)?;
    } else if name == "message" {
        role = cursor.word(|c| c.is_ascii_alphabetic()).unwrap_or_default();
        if !["system", "user", "assistant"].contains(&role.as_str()) {
            let message = "a MESSAGE needs the role system, user or assistant, and a text";
            return Err(Problem::new(path, message).at(after));
        }
    }
    let (value, position, dropped) = value(path, cursor)?;
    Ok(Instruction {
        name,
        role,
        value,
        line: position.line,
        dropped,
    })
}

/// A value, where it begins, and the first character that is dropped from it.
type ParsedValue = (String, Position, Option<(char, Position)>);

fn value(path: &Path, cursor: &mut Cursor<'_>) -> Result<ParsedValue, Problem> {
    while matches!(cursor.peek(), Some(' ' | '\t')) {
        cursor.next();
    }
    let start = cursor.position;
    let mut value = String::new();
    // The length of the value without the blanks at its end.
    let mut solid = 0;
    let mut dropped = None;
    loop {
        let position = cursor.position;
        let Some(c) = cursor.next() else {
            if let Some(text) = unquote(value.cut(..solid)) {
                return Ok((text.to_owned(), start, dropped));
            }
            let message = "the quotation that begins here never ends";
            return Err(Problem::new(path, message)
                .at(start)
                .help("the quotes that close it are the last thing in their line"));
        };
        if is_line_break(c) {
            if let Some(text) = unquote(value.cut(..solid)) {
                return Ok((text.to_owned(), start, dropped));
            }
            value.push(c);
        } else if matches!(c, ' ' | '\t') {
            // Blanks before the value are not part of it, even after a dropped character.
            if solid > 0 {
                value.push(c);
            }
        } else if is_printable(c) {
            value.push(c);
            solid = value.len();
        } else if dropped.is_none() {
            dropped = Some((c, position));
        }
    }
}

fn is_line_break(c: char) -> bool {
    matches!(c, '\r' | '\n')
}

/// The text without its quotes; nothing if they are not closed.
fn unquote(text: &str) -> Option<&str> {
    for quotes in ["\"\"\"", "\""] {
        if let Some(rest) = text.strip_prefix(quotes) {
            return rest.strip_suffix(quotes);
        }
    }
    Some(text)
}

/// Go's `strconv.IsPrint`: letters, marks, numbers, punctuation, symbols.
fn is_printable(c: char) -> bool {
    !matches!(
        c.general_category_group(),
        GeneralCategoryGroup::Other | GeneralCategoryGroup::Separator
    )
}

//! Gives a compiled template Python's operators.
//!
//! minijinja's operators are fixed, its filters are not: an operator's instruction is
//! replaced by the call of a filter that takes the same operands from the stack and
//! leaves its result there. The filters have names that no template can spell; they are
//! in `operators`.

use std::ops::Range;

use minijinja::Value;
use minijinja::machinery::{Instruction, Instructions};

use super::methods::is_dict_method;
use super::operators::Operator;

/// Literal text from this length on is written through the formatter, which counts it;
/// what is shorter is bounded by the fuel that its instruction costs.
const COUNTED_TEXT: usize = 24;

/// How a template writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Writing {
    /// As fast as it can.
    Plain,
    /// Everything through the formatter, which is also told of texts that are captured:
    /// `generation` needs to know.
    Tracked,
}

/// The instructions with every operator replaced, and jumps adjusted.
pub(super) fn adapt<'s>(original: &Instructions<'s>, writing: Writing) -> Instructions<'s> {
    let ids = FilterIds::free_in(original, writing);
    let mut adapted = Adapted {
        instructions: Instructions::new(original.name(), original.source()),
        moved: Vec::new(),
        end: 0,
        own_jumps: Vec::new(),
    };
    let macros = macros(original);
    let mut index = 0;
    while let Some(instruction) = original.get(index) {
        let arguments = macros
            .iter()
            .find(|(offset, _)| *offset == index)
            .and_then(|(_, names)| arguments(original, index, names));
        if let Some(arguments) = arguments {
            index = adapted.push_arguments(original, index, &arguments, ids);
        } else {
            adapted.push_moved(original, index, replace(instruction, ids));
            index += 1;
        }
    }
    adapted.finish(index)
}

/// The instructions so far.
struct Adapted<'s> {
    instructions: Instructions<'s>,
    /// Where each instruction of the original now begins.
    moved: Vec<(u32, u32)>,
    end: u32,
    /// Jumps that are new, with where they go.
    own_jumps: Vec<(u32, u32)>,
}

impl<'s> Adapted<'s> {
    fn push(&mut self, original: &Instructions<'s>, from: u32, instruction: Instruction<'s>) {
        let at = match (original.get_span(from), original.get_line(from)) {
            (Some(span), _) => self.instructions.add_with_span(instruction, span),
            (None, Some(line)) => self
                .instructions
                .add_with_line(instruction, u16::try_from(line).unwrap_or(u16::MAX)),
            (None, None) => self.instructions.add(instruction),
        };
        self.end = at + 1;
    }

    fn push_moved(
        &mut self,
        original: &Instructions<'s>,
        from: u32,
        replacements: Vec<Instruction<'s>>,
    ) {
        self.moved.push((from, self.end));
        for replacement in replacements {
            self.push(original, from, replacement);
        }
    }

    /// The beginning of a macro, in Jinja2's order: first every argument is there, then
    /// the defaults of those that are missing are worked out, left to right, so that a
    /// default can name an argument before it. minijinja goes from right to left and
    /// knows only the arguments behind.
    fn push_arguments(
        &mut self,
        original: &Instructions<'s>,
        from: u32,
        arguments: &[Argument<'s>],
        ids: FilterIds,
    ) -> u32 {
        self.moved.push((from, self.end));
        for argument in arguments {
            self.push(original, from, Instruction::StoreLocal(argument.name));
        }
        for argument in arguments.iter().rev() {
            let Some(default) = argument.default.clone() else {
                continue;
            };
            self.push(original, from, Instruction::Lookup(argument.name));
            self.push(original, from, Instruction::IsUndefined);
            let jump = self.end;
            self.push(original, from, Instruction::JumpIfFalse(!0));
            for index in default.clone() {
                if let Some(instruction) = original.get(index) {
                    self.push_moved(original, index, replace(instruction, ids));
                }
            }
            // What the default's own jumps call its end.
            self.moved.push((default.end, self.end));
            self.push(original, from, Instruction::StoreLocal(argument.name));
            self.own_jumps.push((jump, self.end));
        }
        arguments.last().map_or(from, |last| last.end)
    }

    /// Points every jump to where its target has moved.
    fn finish(mut self, original_end: u32) -> Instructions<'s> {
        self.moved.push((original_end, self.end));
        self.moved.sort_unstable();
        for index in 0..self.end {
            let Some(instruction) = self.instructions.get_mut(index) else {
                break;
            };
            match instruction {
                Instruction::Iterate(target)
                | Instruction::Jump(target)
                | Instruction::JumpIfFalse(target)
                | Instruction::JumpIfFalseOrPop(target)
                | Instruction::JumpIfTrueOrPop(target)
                | Instruction::BuildMacro(_, target, _) => {
                    let own = self.own_jumps.iter().find(|(jump, _)| *jump == index);
                    if let Some((_, to)) = own {
                        *target = *to;
                    } else if let Ok(at) = self.moved.binary_search_by_key(target, |entry| entry.0)
                    {
                        *target = self.moved[at].1;
                    }
                }
                _ => {}
            }
        }
        self.instructions
    }
}

/// An argument of a macro, as minijinja's instructions take it from the stack.
struct Argument<'s> {
    name: &'s str,
    /// The instructions that work out the default.
    default: Option<Range<u32>>,
    /// The first instruction after it.
    end: u32,
}

/// Where macros begin, and the names of their arguments.
fn macros(instructions: &Instructions<'_>) -> Vec<(u32, Vec<Value>)> {
    let mut macros = Vec::new();
    let mut names = Vec::new();
    for index in 0.. {
        match instructions.get(index) {
            None => return macros,
            // codegen.rs, `compile_macro_expression`: the names stand before the macro.
            Some(Instruction::LoadConst(value)) => {
                names = value.try_iter().map(Iterator::collect).unwrap_or_default();
            }
            Some(Instruction::BuildMacro(_, offset, _)) => {
                macros.push((*offset, std::mem::take(&mut names)));
            }
            Some(_) => {}
        }
    }
    macros
}

/// The arguments of the macro that begins at an instruction, last to first, if they look
/// as minijinja 3.0.5 writes them and any has a default.
fn arguments<'s>(
    instructions: &Instructions<'s>,
    mut index: u32,
    names: &[Value],
) -> Option<Vec<Argument<'s>>> {
    let mut arguments = Vec::new();
    for name in names.iter().rev() {
        let default = match (
            instructions.get(index)?,
            instructions.get(index + 1)?,
            instructions.get(index + 2)?,
            instructions.get(index + 3)?,
        ) {
            (
                Instruction::DupTop,
                Instruction::IsUndefined,
                Instruction::JumpIfFalse(end),
                Instruction::DiscardTop,
            ) => {
                let default = index + 4..*end;
                index = *end;
                Some(default)
            }
            _ => None,
        };
        let Instruction::StoreLocal(stored) = instructions.get(index)? else {
            return None;
        };
        if name.as_str() != Some(*stored) {
            return None;
        }
        index += 1;
        arguments.push(Argument {
            name: stored,
            default,
            end: index,
        });
    }
    arguments
        .iter()
        .any(|argument| argument.default.is_some())
        .then_some(arguments)
}

/// The places in which minijinja keeps the filters of a template once it has looked them
/// up: it has fifty, and gives the first to the template's own filters.
#[derive(Debug, Clone, Copy)]
struct FilterIds {
    first_free: u8,
    /// Which of the operators there are.
    writing: Writing,
}

impl FilterIds {
    /// Without a place, a filter is looked up by name each time.
    const NONE: u8 = !0;
    const PLACES: u8 = 50;

    fn free_in(instructions: &Instructions<'_>, writing: Writing) -> FilterIds {
        let own = (0..)
            .map_while(|index| instructions.get(index))
            .filter_map(|instruction| match instruction {
                Instruction::ApplyFilter(_, _, id) if *id != Self::NONE => Some(*id),
                _ => None,
            })
            .max();
        FilterIds {
            first_free: own.map_or(0, |id| id + 1),
            writing,
        }
    }

    fn of(self, operator: Operator) -> u8 {
        match self.first_free.checked_add(operator as u8) {
            Some(id) if id < Self::PLACES => id,
            _ => Self::NONE,
        }
    }
}

/// What stands for an instruction.
fn replace<'s>(instruction: &Instruction<'s>, ids: FilterIds) -> Vec<Instruction<'s>> {
    let call = |operator: Operator| {
        let id = ids.of(operator);
        Instruction::ApplyFilter(operator.name(), Some(operator.operands()), id)
    };
    match instruction {
        Instruction::Add => vec![call(Operator::Add)],
        Instruction::StringConcat => vec![call(Operator::Concat)],
        Instruction::Mul => vec![call(Operator::Multiply)],
        Instruction::In => vec![call(Operator::In)],
        Instruction::Rem => vec![call(Operator::Modulo)],
        Instruction::Lt => vec![call(Operator::Less)],
        Instruction::Lte => vec![call(Operator::LessOrEqual)],
        Instruction::Gt => vec![call(Operator::Greater)],
        Instruction::Gte => vec![call(Operator::GreaterOrEqual)],
        Instruction::Slice => vec![call(Operator::Slice)],
        Instruction::PushLoop(flags) => {
            vec![call(Operator::Iterate), Instruction::PushLoop(*flags)]
        }
        Instruction::GetAttr(name) if is_dict_method(name) => {
            vec![
                Instruction::LoadConst((*name).into()),
                call(Operator::Attribute),
            ]
        }
        Instruction::SetAttr(name) if name.starts_with('_') => {
            vec![call(Operator::SetPrivate)]
        }
        Instruction::EmitRaw(text)
            if text.len() >= COUNTED_TEXT || ids.writing == Writing::Tracked =>
        {
            vec![Instruction::LoadConst((*text).into()), Instruction::Emit]
        }
        Instruction::BeginCapture(_) if ids.writing == Writing::Tracked => vec![
            instruction.clone(),
            Instruction::LoadConst(true.into()),
            call(Operator::Capture),
            Instruction::DiscardTop,
        ],
        Instruction::EndCapture if ids.writing == Writing::Tracked => vec![
            Instruction::LoadConst(false.into()),
            call(Operator::Capture),
            Instruction::DiscardTop,
            Instruction::EndCapture,
        ],
        other => vec![other.clone()],
    }
}

//! Gives a compiled template Python's operators.
//!
//! minijinja's operators are fixed, its filters are not: an operator's instruction is
//! replaced by the call of a filter that takes the same operands from the stack and
//! leaves its result there. The filters have names that no template can spell; they are
//! in `operators`.

use minijinja::machinery::{Instruction, Instructions};

use super::operators::Operator;

/// Literal text from this length on is written through the formatter, which counts it;
/// what is shorter is bounded by the fuel that its instruction costs.
const COUNTED_TEXT: usize = 24;

/// The instructions with every operator replaced, and jumps adjusted.
pub(super) fn adapt<'s>(original: &Instructions<'s>) -> Instructions<'s> {
    let ids = FilterIds::free_in(original);
    let mut adapted = Instructions::new(original.name(), original.source());
    let mut moved = Vec::new();
    let mut index = 0;
    let mut end = 0;
    while let Some(instruction) = original.get(index) {
        moved.push(end);
        for replacement in replace(instruction, ids) {
            let at = match (original.get_span(index), original.get_line(index)) {
                (Some(span), _) => adapted.add_with_span(replacement, span),
                (None, Some(line)) => {
                    adapted.add_with_line(replacement, u16::try_from(line).unwrap_or(u16::MAX))
                }
                (None, None) => adapted.add(replacement),
            };
            end = at + 1;
        }
        index += 1;
    }
    moved.push(end);
    retarget(&mut adapted, &moved);
    adapted
}

/// The places in which minijinja keeps the filters of a template once it has looked them
/// up: it has fifty, and gives the first to the template's own filters.
#[derive(Debug, Clone, Copy)]
struct FilterIds {
    first_free: u8,
}

impl FilterIds {
    /// Without a place, a filter is looked up by name each time.
    const NONE: u8 = !0;
    const PLACES: u8 = 50;

    fn free_in(instructions: &Instructions<'_>) -> FilterIds {
        let own = (0..)
            .map_while(|index| instructions.get(index))
            .filter_map(|instruction| match instruction {
                Instruction::ApplyFilter(_, _, id) if *id != Self::NONE => Some(*id),
                _ => None,
            })
            .max();
        FilterIds {
            first_free: own.map_or(0, |id| id + 1),
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
        Instruction::Lt => vec![call(Operator::Less)],
        Instruction::Lte => vec![call(Operator::LessOrEqual)],
        Instruction::Gt => vec![call(Operator::Greater)],
        Instruction::Gte => vec![call(Operator::GreaterOrEqual)],
        Instruction::Slice => vec![call(Operator::Slice)],
        Instruction::PushLoop(flags) => {
            vec![call(Operator::Iterate), Instruction::PushLoop(*flags)]
        }
        Instruction::SetAttr(name) if name.starts_with('_') => {
            vec![call(Operator::SetPrivate)]
        }
        Instruction::EmitRaw(text) if text.len() >= COUNTED_TEXT => {
            vec![Instruction::LoadConst((*text).into()), Instruction::Emit]
        }
        other => vec![other.clone()],
    }
}

/// Points every jump to where its target has moved.
fn retarget(adapted: &mut Instructions<'_>, moved: &[u32]) {
    let mut index = 0;
    while let Some(instruction) = adapted.get_mut(index) {
        match instruction {
            Instruction::Iterate(target)
            | Instruction::Jump(target)
            | Instruction::JumpIfFalse(target)
            | Instruction::JumpIfFalseOrPop(target)
            | Instruction::JumpIfTrueOrPop(target)
            | Instruction::BuildMacro(_, target, _) => {
                if let Some(new) = moved.get(*target as usize) {
                    *target = *new;
                }
            }
            _ => {}
        }
        index += 1;
    }
}

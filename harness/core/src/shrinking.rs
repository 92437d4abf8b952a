//! Shrinking: a conversation gets smaller while it still shows something.

use serde_json::{Map, Value};

use crate::case::Case;
use crate::clock::Moment;

/// Makes a conversation smaller while it is kept.
pub struct Shrinker<'k> {
    /// The smallest conversation so far.
    pub best: Case,
    tries_left: usize,
    keeps: &'k mut dyn FnMut(&Case) -> bool,
}

impl<'k> Shrinker<'k> {
    /// Begins with a conversation. `keeps` is asked whether another one still shows the same, so many
    /// times at most.
    pub fn new(
        best: Case,
        most_tries: usize,
        keeps: &'k mut dyn FnMut(&Case) -> bool,
    ) -> Shrinker<'k> {
        Shrinker {
            best,
            tries_left: most_tries,
            keeps,
        }
    }

    /// Repeats what makes the conversation smaller, until it stays as it is.
    pub fn repeat(&mut self, mut pass: impl FnMut(&mut Self)) {
        loop {
            let before = size(&self.best);
            pass(self);
            if size(&self.best) == before || self.tries_left == 0 {
                return;
            }
        }
    }

    /// Takes a conversation of any size, if it is kept.
    pub fn offer(&mut self, case: Case) -> bool {
        if self.tries_left == 0 {
            return false;
        }
        self.tries_left -= 1;
        let is_kept = (self.keeps)(&case);
        if is_kept {
            self.best = case;
        }
        is_kept
    }

    /// Takes a conversation if it is smaller, and kept.
    pub fn offer_smaller(&mut self, case: Case) -> bool {
        size(&case) < size(&self.best) && self.offer(case)
    }

    /// Tries to do without what a case need not have.
    pub fn options(&mut self) {
        let mut usual = self.best.clone();
        usual.add_generation_prompt = true;
        usual.continue_final_message = None;
        self.offer_smaller(usual);
        // The size says nothing about the time, so that `offer_smaller` would refuse it.
        if self.best.now != Moment::default() {
            let mut usual = self.best.clone();
            usual.now = Moment::default();
            self.offer(usual);
        }
        let without: [fn(&mut Case); 3] = [
            |case| case.tools = None,
            |case| case.documents = None,
            |case| case.variables = Map::new(),
        ];
        for leave_out in without {
            let mut case = self.best.clone();
            leave_out(&mut case);
            self.offer_smaller(case);
        }
    }

    /// Tries to leave out ranges of messages, first long ones.
    pub fn ranges(&mut self) {
        let mut length = self.best.messages.len() / 2;
        // Long ranges first: each try costs a render, and most messages of a found conversation do not
        // matter.
        while length > 0 {
            let mut begin = 0;
            while begin + length <= self.best.messages.len() {
                let mut case = self.best.clone();
                case.messages.drain(begin..begin + length);
                if !self.offer_smaller(case) {
                    begin += 1;
                }
            }
            length /= 2;
        }
    }

    /// Makes single values smaller, from the outside to the inside. Texts of up to so many
    /// characters stay.
    pub fn values(&mut self, shortest: usize) {
        for number in 0.. {
            let whole = parts(&self.best);
            let Some(changed) = smaller(&whole, number) else {
                return;
            };
            let text = nth(&whole, number).and_then(Value::as_str);
            if text.is_some_and(|text| text.chars().count() <= shortest) {
                continue;
            }
            for changed in changed {
                if self.tries_left == 0 {
                    return;
                }
                if self.offer_smaller(with_parts(&self.best, changed)) {
                    break;
                }
            }
        }
    }
}

const KEYS: [&str; 4] = ["messages", "tools", "documents", "variables"];

/// The messages, the tools, the documents and the variables of a case.
pub fn parts(case: &Case) -> Value {
    let list = |list: &Option<Vec<Value>>| list.clone().map_or(Value::Null, Value::Array);
    let values = [
        case.messages.clone().into(),
        list(&case.tools),
        list(&case.documents),
        case.variables.clone().into(),
    ];
    let keys = KEYS.iter().map(|key| (*key).to_owned());
    Value::Object(keys.zip(values).collect::<Map<_, _>>())
}

/// A case with other parts. A part that has the wrong form is absent.
pub fn with_parts(case: &Case, mut parts: Value) -> Case {
    let mut take = |key: &str| parts.get_mut(key).map(Value::take).unwrap_or_default();
    let mut list = |key: &str| match take(key) {
        Value::Array(list) => Some(list),
        _ => None,
    };
    let messages = list("messages").unwrap_or_default();
    let (tools, documents) = (list("tools"), list("documents"));
    let variables = match take("variables") {
        Value::Object(variables) => variables,
        _ => Map::new(),
    };
    Case {
        documents,
        ..case.saying(messages, tools, variables)
    }
}

/// How much there is to read in a case.
pub fn size(case: &Case) -> usize {
    let options = usize::from(!case.add_generation_prompt)
        + usize::from(case.continue_final_message.is_some());
    // A list that is absent is nothing to read, and an empty one is.
    let lists = [&case.tools, &case.documents];
    let lists = lists.into_iter().flatten().count();
    // An option or a list counts like a short word. So the search does not turn one on to save a
    // letter.
    parts(case).to_string().len() + 8 * (options + lists)
}

/// The whole with one of its values made smaller, in each possible way. Values are counted from 0, from the
/// outside to the inside. None if there is no value with this number.
fn smaller(whole: &Value, number: usize) -> Option<Vec<Value>> {
    let changed = smaller_values(nth(whole, number)?)
        .into_iter()
        .map(|value| {
            let mut changed = whole.clone();
            put(&mut changed, &mut { number }, &value);
            changed
        });
    Some(changed.collect())
}

/// The value with this number, as [`smaller`] counts them.
fn nth(whole: &Value, mut number: usize) -> Option<&Value> {
    find(whole, &mut number)
}

/// Smaller values to put in the place of a value.
fn smaller_values(value: &Value) -> Vec<Value> {
    match value {
        Value::Object(map) => {
            let without = |key: &String| {
                let mut map = map.clone();
                map.shift_remove(key);
                Value::Object(map)
            };
            map.keys().map(without).collect()
        }
        Value::Array(list) => {
            let without = |at| {
                let mut list = list.clone();
                list.remove(at);
                Value::Array(list)
            };
            (0..list.len()).map(without).collect()
        }
        Value::String(text) if text.chars().count() > 1 => {
            let characters: Vec<char> = text.chars().collect();
            let (first, second) = characters.split_at(characters.len() / 2);
            let text = |part: &[char]| Value::from(part.iter().collect::<String>());
            let (but_first, but_last) = (&characters[1..], &characters[..characters.len() - 1]);
            let parts = [&characters[..1], first, second, but_first, but_last];
            let parts = parts.into_iter().map(text);
            // The shortest first: the first that is kept ends the tries for this value.
            ["".into(), "a".into()].into_iter().chain(parts).collect()
        }
        _ => Vec::new(),
    }
}

fn find<'v>(value: &'v Value, number: &mut usize) -> Option<&'v Value> {
    if *number == 0 {
        return Some(value);
    }
    *number -= 1;
    match value {
        Value::Object(map) => map.values().find_map(|value| find(value, number)),
        Value::Array(list) => list.iter().find_map(|value| find(value, number)),
        _ => None,
    }
}

/// Replaces the value with this number.
fn put(value: &mut Value, number: &mut usize, new: &Value) -> bool {
    if *number == 0 {
        *value = new.clone();
        return true;
    }
    *number -= 1;
    match value {
        Value::Object(map) => map.values_mut().any(|value| put(value, number, new)),
        Value::Array(list) => list.iter_mut().any(|value| put(value, number, new)),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn each_value_gets_smaller_in_its_place() {
        let whole = json!({"a": [1, "text"], "b": true});
        let all: Vec<_> = (0..).map_while(|number| smaller(&whole, number)).collect();
        assert_eq!(all.len(), 5);
        assert_eq!(all[0], [json!({"b": true}), json!({"a": [1, "text"]})]);
        assert_eq!(
            all[1],
            [
                json!({"a": ["text"], "b": true}),
                json!({"a": [1], "b": true})
            ]
        );
        assert_eq!(all[2], [] as [Value; 0]);
        assert_eq!(nth(&whole, 3), Some(&json!("text")));
        assert_eq!(nth(&whole, 5), None);
        let texts =
            ["", "a", "t", "te", "xt", "ext", "tex"].map(|text| json!({"a": [1, text], "b": true}));
        assert_eq!(all[3], texts);
    }
}

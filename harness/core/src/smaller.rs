//! Smaller JSON values, for programs that look for the smallest one that still shows something.

use serde_json::Value;

/// The ways to make one of the values within a value smaller. Values are counted from 0, from the
/// outside to the inside. None if there is no value with this number.
pub fn smaller(whole: &Value, number: usize) -> Option<Vec<Value>> {
    let ways = ways(nth(whole, number)?);
    let changed = ways.into_iter().map(|way| {
        let mut changed = whole.clone();
        put(&mut changed, &mut { number }, &way);
        changed
    });
    Some(changed.collect())
}

/// The value with this number, as [`smaller`] counts them.
pub fn nth(whole: &Value, mut number: usize) -> Option<&Value> {
    find(whole, &mut number)
}

/// Smaller values to put in the place of a value.
fn ways(value: &Value) -> Vec<Value> {
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

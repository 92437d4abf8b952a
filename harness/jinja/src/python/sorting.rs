//! `list.sort()` of CPython 3.11 (`listobject.c`).
//!
//! It only asks whether one item is less than another. It gives an order even if the answers
//! contradict each other, as with NaN or sets; Rust's own sorts may panic there. Up to 63 items
//! always end in CPython's order. More items do so if the answers are consistent.

use minijinja::Error;

/// Up to how many items are sorted without a merge.
const FEW: usize = 63;

/// Sorts items. The sort is stable, in reverse too.
pub(crate) fn sorted<T>(
    mut items: Vec<T>,
    reverse: bool,
    mut is_less: impl FnMut(&T, &T) -> Result<bool, Error>,
) -> Result<Vec<T>, Error> {
    if reverse {
        items.reverse();
    }
    let least = least_run(items.len());
    let mut starts = Vec::new();
    let mut start = 0;
    while start < items.len() {
        let rest = &mut items[start..];
        let ordered = begin_run(rest, &mut is_less)?;
        let len = ordered.max(least.min(rest.len()));
        insert(&mut rest[..len], ordered, &mut is_less)?;
        starts.push(start);
        start += len;
    }
    let mut runs = Vec::with_capacity(starts.len());
    while let Some(start) = starts.pop().filter(|start| *start > 0) {
        runs.push(items.split_off(start));
    }
    runs.push(items);
    runs.reverse();
    while runs.len() > 1 {
        let mut merged_runs = Vec::with_capacity(runs.len().div_ceil(2));
        let mut left = runs.into_iter();
        while let Some(first) = left.next() {
            merged_runs.push(match left.next() {
                Some(second) => merged(first, second, &mut is_less)?,
                None => first,
            });
        }
        runs = merged_runs;
    }
    let mut items = runs.pop().unwrap_or_default();
    if reverse {
        items.reverse();
    }
    Ok(items)
}

/// How many items a run has at least (`merge_compute_minrun`).
fn least_run(mut len: usize) -> usize {
    let mut has_rest = 0;
    while len > FEW {
        has_rest |= len & 1;
        len /= 2;
    }
    len + has_rest
}

/// The number of items at the beginning that are already in order. If each is less than the one
/// before it, they are reversed (`count_run`).
fn begin_run<T>(
    items: &mut [T],
    is_less: &mut impl FnMut(&T, &T) -> Result<bool, Error>,
) -> Result<usize, Error> {
    if items.len() < 2 {
        return Ok(items.len());
    }
    let falls = is_less(&items[1], &items[0])?;
    let mut len = 2;
    while len < items.len() && is_less(&items[len], &items[len - 1])? == falls {
        len += 1;
    }
    if falls {
        items[..len].reverse();
    }
    Ok(len)
}

/// Puts the items after those that are in order where they belong (`binarysort`).
fn insert<T>(
    items: &mut [T],
    ordered: usize,
    is_less: &mut impl FnMut(&T, &T) -> Result<bool, Error>,
) -> Result<(), Error> {
    for at in ordered.max(1)..items.len() {
        let (mut low, mut high) = (0, at);
        while low < high {
            let middle = low.midpoint(high);
            if is_less(&items[at], &items[middle])? {
                high = middle;
            } else {
                low = middle + 1;
            }
        }
        items[low..=at].rotate_right(1);
    }
    Ok(())
}

/// Two runs as one.
fn merged<T>(
    left: Vec<T>,
    right: Vec<T>,
    is_less: &mut impl FnMut(&T, &T) -> Result<bool, Error>,
) -> Result<Vec<T>, Error> {
    let mut items = Vec::with_capacity(left.len() + right.len());
    let (mut left, mut right) = (left.into_iter().peekable(), right.into_iter().peekable());
    while let (Some(first), Some(second)) = (left.peek(), right.peek()) {
        let next = if is_less(second, first)? {
            right.next()
        } else {
            left.next()
        };
        items.extend(next);
    }
    items.extend(left);
    items.extend(right);
    Ok(items)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers in no order that is easy to see.
    fn shuffled(len: usize) -> Vec<(usize, usize)> {
        (0..len).map(|at| (at * 7919 % 101, at)).collect()
    }

    #[test]
    fn sorts_are_stable() {
        for len in [0, 1, 2, 63, 64, 65, 1000] {
            let by_key = |a: &(usize, usize), b: &(usize, usize)| Ok(a.0 < b.0);
            let mut expected = shuffled(len);
            expected.sort_by_key(|(key, _)| *key);
            assert_eq!(sorted(shuffled(len), false, by_key).unwrap(), expected);
            let mut expected = shuffled(len);
            expected.sort_by_key(|(key, _)| std::cmp::Reverse(*key));
            assert_eq!(sorted(shuffled(len), true, by_key).unwrap(), expected);
        }
    }

    #[test]
    fn answers_may_contradict_each_other() {
        for len in [30, 64, 500] {
            let mut asked = 0;
            let sorted = sorted(shuffled(len), false, |_, _| {
                asked += 1;
                Ok(asked % 3 == 0)
            });
            let mut items = sorted.unwrap();
            items.sort_by_key(|(_, at)| *at);
            assert_eq!(items, shuffled(len));
        }
    }
}

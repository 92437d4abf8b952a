//! The groups that the filter `groupby` gives.

use std::fmt;
use std::sync::Arc;

use minijinja::value::{Enumerator, Object, ObjectRepr, Value};

/// A group of items under their key: a pair whose parts also have names.
pub(super) struct ItemGroup {
    key: Value,
    items: Value,
}

impl fmt::Debug for ItemGroup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The text of a group in a template is written by `text`.
        f.write_str("<group>")
    }
}

impl Object for ItemGroup {
    fn repr(self: &Arc<Self>) -> ObjectRepr {
        ObjectRepr::Seq
    }

    fn get_value(self: &Arc<Self>, key: &Value) -> Option<Value> {
        match (key.as_str(), key.as_usize()) {
            (Some("grouper"), _) | (None, Some(0)) => Some(self.key.clone()),
            (Some("list"), _) | (None, Some(1)) => Some(self.items.clone()),
            _ => None,
        }
    }

    fn enumerate(self: &Arc<Self>) -> Enumerator {
        Enumerator::Seq(2)
    }

    fn render(self: &Arc<Self>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self:?}")
    }
}

pub(crate) fn group(key: Value, items: Value) -> Value {
    Value::from_object(ItemGroup { key, items })
}

/// The key and the items of a group.
pub(super) fn group_parts(value: &Value) -> Option<(Value, Value)> {
    let group = value.downcast_object_ref::<ItemGroup>()?;
    Some((group.key.clone(), group.items.clone()))
}

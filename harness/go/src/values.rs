//! Values that know their Go type.

use std::collections::BTreeMap;
use std::sync::Arc;

/// A Go string: bytes, which `slice` may cut inside a character.
pub(crate) type Text = Arc<[u8]>;

/// The dot at the beginning of a template: Go's `map[string]any`.
pub(crate) type Root = Arc<BTreeMap<Text, Value>>;

/// The roots that Ollama executes a template with, one after the other.
pub(crate) enum Roots {
    Messages(Root),
    /// Turn by turn, and the last one with the tree that ends at the response.
    Turns {
        full: Vec<Root>,
        last: Root,
    },
}

/// A value that a template can meet.
#[derive(Debug, Clone)]
pub(crate) enum Value {
    /// No value at all: Go's zero `reflect.Value`.
    Absent,
    /// A nil of type `interface {}`.
    Nil,
    Bool(bool),
    Int(i64),
    /// A `uint8`: the result of indexing a string.
    Byte(u8),
    Float(f64),
    Text(Text),
    /// `api.ImageData`, which is a `[]byte`.
    Bytes(Text),
    List(List),
    Map(Map),
    Struct(Arc<Struct>),
    /// `*api.ToolPropertiesMap`: the properties of a property, in their order.
    Ordered(Option<Arc<Vec<(Text, Value)>>>),
}

#[derive(Debug, Clone)]
pub(crate) struct List {
    pub(crate) kind: ListKind,
    /// None for a nil slice.
    items: Option<Arc<[Value]>>,
    /// The visible part of the items. As in Go, a slice of a slice shares its items: templates
    /// often take the rest of the messages at each message.
    shown: (usize, usize),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ListKind {
    Messages,
    Images,
    ToolCalls,
    Tools,
    Strings,
    Anything,
    Properties,
    PropertyType,
}

/// A map; Go prints and ranges over maps in the order of their keys' bytes.
#[derive(Debug, Clone)]
pub(crate) struct Map {
    pub(crate) kind: MapKind,
    /// None for a nil map.
    pub(crate) entries: Option<Arc<BTreeMap<Text, Value>>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MapKind {
    Anything,
    Arguments,
    Properties,
    /// The result of `ToMap` on the ordered properties. It has no String method.
    PlainProperties,
}

/// A struct, its fields in the order of [`StructKind::fields`].
#[derive(Debug)]
pub(crate) struct Struct {
    pub(crate) kind: StructKind,
    pub(crate) fields: Vec<Value>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StructKind {
    /// Templates only ever meet pointers to these.
    Message,
    ToolCall,
    ToolCallFunction,
    Tool,
    ToolFunction,
    Parameters,
    Property,
}

#[derive(Debug)]
pub(crate) struct Field {
    pub(crate) name: &'static str,
    pub(crate) json: &'static str,
    /// When JSON leaves the field out.
    pub(crate) omitted: Omitted,
}

/// The values that Go's `omitempty` leaves out, by the type of the field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Omitted {
    /// None: the field has no `omitempty`.
    Nothing,
    Empty,
    /// Nil only: the field is an `any`.
    Nil,
}

const fn field(name: &'static str, json: &'static str) -> Field {
    Field {
        name,
        json,
        omitted: Omitted::Nothing,
    }
}

const fn optional(name: &'static str, json: &'static str) -> Field {
    Field {
        name,
        json,
        omitted: Omitted::Empty,
    }
}

const fn optional_any(name: &'static str, json: &'static str) -> Field {
    Field {
        name,
        json,
        omitted: Omitted::Nil,
    }
}

impl StructKind {
    /// The fields, as Ollama's template/template.go and api/types.go declare them.
    pub(crate) fn fields(self) -> &'static [Field] {
        const MESSAGE: &[Field] = &[
            field("Role", "Role"),
            field("Content", "Content"),
            field("Thinking", "Thinking"),
            field("Images", "Images"),
            field("ToolCalls", "ToolCalls"),
            field("ToolName", "ToolName"),
            field("ToolCallID", "ToolCallID"),
        ];
        const TOOL_CALL: &[Field] = &[field("ID", "ID"), field("Function", "Function")];
        const TOOL_CALL_FUNCTION: &[Field] = &[
            field("Index", "Index"),
            field("Name", "Name"),
            field("Arguments", "Arguments"),
        ];
        const TOOL: &[Field] = &[
            field("Type", "type"),
            optional_any("Items", "items"),
            field("Function", "function"),
        ];
        const TOOL_FUNCTION: &[Field] = &[
            field("Name", "name"),
            field("Description", "description"),
            field("Parameters", "parameters"),
        ];
        const PARAMETERS: &[Field] = &[
            field("Type", "type"),
            optional_any("Defs", "$defs"),
            optional_any("Items", "items"),
            optional("Required", "required"),
            field("Properties", "properties"),
        ];
        const PROPERTY: &[Field] = &[
            optional("AnyOf", "anyOf"),
            optional("Type", "type"),
            optional_any("Items", "items"),
            optional("Description", "description"),
            optional("Enum", "enum"),
            optional("Properties", "properties"),
            optional("Required", "required"),
        ];
        match self {
            StructKind::Message => MESSAGE,
            StructKind::ToolCall => TOOL_CALL,
            StructKind::ToolCallFunction => TOOL_CALL_FUNCTION,
            StructKind::Tool => TOOL,
            StructKind::ToolFunction => TOOL_FUNCTION,
            StructKind::Parameters => PARAMETERS,
            StructKind::Property => PROPERTY,
        }
    }
}

impl Struct {
    pub(crate) fn get(&self, name: &str) -> Option<&Value> {
        let at = self.kind.fields().iter().position(|f| f.name == name)?;
        self.fields.get(at)
    }
}

impl List {
    /// The items; none of a nil slice.
    pub(crate) fn items(&self) -> &[Value] {
        let (from, to) = self.shown;
        self.items.as_deref().map_or(&[], |items| &items[from..to])
    }

    /// Whether it is a nil slice.
    pub(crate) fn is_nil(&self) -> bool {
        self.items.is_none()
    }

    /// A part of the slice. It has to be within the slice.
    pub(crate) fn part(&self, from: usize, to: usize) -> List {
        let first = self.shown.0;
        List {
            kind: self.kind,
            items: self.items.clone(),
            shown: (first + from, first + to),
        }
    }
}

impl Map {
    pub(crate) fn len(&self) -> usize {
        self.entries.as_ref().map_or(0, |entries| entries.len())
    }

    /// The entries in the order of their keys.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&Text, &Value)> {
        self.entries.iter().flat_map(|entries| entries.iter())
    }

    /// An entry; none if the key is missing. With `missingkey=zero`, and always with `index`, a
    /// template then gets [`Map::zero`].
    pub(crate) fn get(&self, key: &[u8]) -> Option<&Value> {
        self.entries.as_ref()?.get(key)
    }

    /// The zero value of the map's elements.
    pub(crate) fn zero(&self) -> Value {
        match self.kind {
            MapKind::Anything | MapKind::Arguments => Value::Nil,
            MapKind::Properties | MapKind::PlainProperties => Value::empty_property(),
        }
    }
}

impl Value {
    pub(crate) fn text(text: &str) -> Value {
        Value::Text(Arc::from(text.as_bytes()))
    }

    /// The zero `api.ToolProperty`.
    pub(crate) fn empty_property() -> Value {
        Value::structure(
            StructKind::Property,
            vec![
                Value::nil_list(ListKind::Properties),
                Value::nil_list(ListKind::PropertyType),
                Value::Nil,
                Value::text(""),
                Value::nil_list(ListKind::Anything),
                Value::Ordered(None),
                Value::nil_list(ListKind::Strings),
            ],
        )
    }

    /// A slice; an empty one is not nil.
    pub(crate) fn list(kind: ListKind, items: Vec<Value>) -> Value {
        Value::List(List {
            kind,
            shown: (0, items.len()),
            items: Some(items.into()),
        })
    }

    pub(crate) fn nil_list(kind: ListKind) -> Value {
        Value::List(List {
            kind,
            items: None,
            shown: (0, 0),
        })
    }

    pub(crate) fn map(kind: MapKind, entries: BTreeMap<Text, Value>) -> Value {
        Value::Map(Map {
            kind,
            entries: Some(Arc::new(entries)),
        })
    }

    pub(crate) fn structure(kind: StructKind, fields: Vec<Value>) -> Value {
        Value::Struct(Arc::new(Struct { kind, fields }))
    }

    /// Its truth for Go's `if`.
    pub(crate) fn truth(&self) -> bool {
        match self {
            Value::Absent | Value::Nil => false,
            Value::Bool(value) => *value,
            Value::Int(value) => *value != 0,
            Value::Byte(value) => *value != 0,
            Value::Float(value) => *value != 0.0,
            Value::Text(text) | Value::Bytes(text) => !text.is_empty(),
            Value::List(list) => !list.items().is_empty(),
            Value::Map(map) => map.len() > 0,
            Value::Struct(_) => true,
            Value::Ordered(properties) => properties.is_some(),
        }
    }

    /// The name of its type, as Go writes it.
    pub(crate) fn type_name(&self) -> &'static str {
        match self {
            Value::Absent => "<nil>",
            Value::Nil => "interface {}",
            Value::Bool(_) => "bool",
            Value::Int(_) => "int",
            Value::Byte(_) => "uint8",
            Value::Float(_) => "float64",
            Value::Text(_) => "string",
            Value::Bytes(_) => "api.ImageData",
            Value::List(list) => match list.kind {
                ListKind::Messages => "[]*template.templateMessage",
                ListKind::Images => "[]api.ImageData",
                ListKind::ToolCalls => "[]template.templateToolCall",
                ListKind::Tools => "template.templateTools",
                ListKind::Strings => "[]string",
                ListKind::Anything => "[]interface {}",
                ListKind::Properties => "[]api.ToolProperty",
                ListKind::PropertyType => "api.PropertyType",
            },
            Value::Map(map) => match map.kind {
                MapKind::Anything => "map[string]interface {}",
                MapKind::Arguments => "template.templateArgs",
                MapKind::Properties => "template.templateProperties",
                MapKind::PlainProperties => "map[string]api.ToolProperty",
            },
            Value::Struct(structure) => match structure.kind {
                StructKind::Message => "*template.templateMessage",
                StructKind::ToolCall => "template.templateToolCall",
                StructKind::ToolCallFunction => "template.templateToolCallFunction",
                StructKind::Tool => "template.templateTool",
                StructKind::ToolFunction => "template.templateToolFunction",
                StructKind::Parameters => "template.templateToolFunctionParameters",
                StructKind::Property => "api.ToolProperty",
            },
            Value::Ordered(_) => "*api.ToolPropertiesMap",
        }
    }
}

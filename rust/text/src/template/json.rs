//! Python's `json.dumps`, with the options that transformers gives its `tojson` filter.

use minijinja::value::{Kwargs, Rest, Value, ValueKind};
use minijinja::{Error, ErrorKind};

use super::python::{as_float, float_repr};

struct Style {
    ensure_ascii: bool,
    /// What one level of indentation is; absent: all on one line.
    indent: Option<String>,
    item_separator: String,
    key_separator: String,
    sort_keys: bool,
}

/// `tojson(value, ensure_ascii=False, indent=None, separators=None, sort_keys=False)`
pub fn tojson(value: &Value, positional: Rest<Value>, named: Kwargs) -> Result<Value, Error> {
    let option = |index: usize, name: &str| -> Result<Value, Error> {
        match positional.get(index) {
            Some(value) => Ok(value.clone()),
            None => named.get::<Option<Value>>(name).map(Option::unwrap_or_default),
        }
    };
    let ensure_ascii = option(0, "ensure_ascii")?.is_true();
    let indent = indent_of(&option(1, "indent")?)?;
    let separators = option(2, "separators")?;
    let sort_keys = option(3, "sort_keys")?.is_true();
    named.assert_all_used()?;

    let (item_separator, key_separator) = if separators.is_undefined() || separators.is_none() {
        (if indent.is_some() { "," } else { ", " }.to_owned(), ": ".to_owned())
    } else {
        let given: Vec<Value> = separators.try_iter()?.collect();
        match given.as_slice() {
            [item, key] if item.as_str().is_some() && key.as_str().is_some() => (item.to_string(), key.to_string()),
            _ => return Err(refused("tojson: separators must be two strings".to_owned())),
        }
    };
    let style = Style { ensure_ascii, indent, item_separator, key_separator, sort_keys };
    let mut written = String::new();
    write_value(&mut written, value, &style, 0)?;
    Ok(Value::from(written))
}

fn indent_of(value: &Value) -> Result<Option<String>, Error> {
    if value.is_undefined() || value.is_none() {
        return Ok(None);
    }
    if let Some(text) = value.as_str() {
        return Ok(Some(text.to_owned()));
    }
    match value.as_i64() {
        Some(width) if width <= 1000 => Ok(Some(" ".repeat(width.max(0) as usize))),
        _ => Err(refused(format!("tojson: indent must be a string or a number up to 1000, got {value}"))),
    }
}

fn write_value(out: &mut String, value: &Value, style: &Style, depth: usize) -> Result<(), Error> {
    // The depth that a parsed document can have, too; deeper can only be a value inside itself.
    if depth > 500 {
        return Err(refused("tojson: nested too deeply".to_owned()));
    }
    match value.kind() {
        ValueKind::None => out.push_str("null"),
        ValueKind::Bool => out.push_str(if value.is_true() { "true" } else { "false" }),
        ValueKind::Number => out.push_str(&number(value)),
        ValueKind::String => write_string(out, value.as_str().unwrap_or_default(), style),
        ValueKind::Seq | ValueKind::Iterable => {
            let items: Vec<Value> = value.try_iter()?.collect();
            write_items(out, ('[', ']'), items.len(), style, depth, |out, index| {
                write_value(out, &items[index], style, depth + 1)
            })?;
        }
        ValueKind::Map => {
            let mut items = Vec::new();
            for key in value.try_iter()? {
                items.push((key_text(&key)?, value.get_item(&key)?));
            }
            if style.sort_keys {
                items.sort_by(|left, right| left.0.cmp(&right.0));
            }
            write_items(out, ('{', '}'), items.len(), style, depth, |out, index| {
                let (key, item) = &items[index];
                write_string(out, key, style);
                out.push_str(&style.key_separator);
                write_value(out, item, style, depth + 1)
            })?;
        }
        kind => return Err(refused(format!("tojson: a value of kind {kind} has no JSON form"))),
    }
    Ok(())
}

fn write_items(
    out: &mut String,
    (open, close): (char, char),
    count: usize,
    style: &Style,
    depth: usize,
    mut write_item: impl FnMut(&mut String, usize) -> Result<(), Error>,
) -> Result<(), Error> {
    let new_line = |out: &mut String, depth: usize| {
        if let Some(indent) = &style.indent {
            out.push('\n');
            (0..depth).for_each(|_| out.push_str(indent));
        }
    };
    out.push(open);
    for index in 0..count {
        if index > 0 {
            out.push_str(&style.item_separator);
        }
        new_line(out, depth + 1);
        write_item(out, index)?;
    }
    if count > 0 {
        new_line(out, depth);
    }
    out.push(close);
    Ok(())
}

fn number(value: &Value) -> String {
    match as_float(value) {
        None => value.to_string(),
        Some(number) if number.is_nan() => "NaN".to_owned(),
        Some(number) if number.is_infinite() => if number > 0.0 { "Infinity" } else { "-Infinity" }.to_owned(),
        Some(number) => float_repr(number),
    }
}

fn key_text(key: &Value) -> Result<String, Error> {
    match key.kind() {
        ValueKind::String => Ok(key.as_str().unwrap_or_default().to_owned()),
        ValueKind::Number => Ok(number(key)),
        ValueKind::Bool => Ok(if key.is_true() { "true" } else { "false" }.to_owned()),
        ValueKind::None => Ok("null".to_owned()),
        kind => Err(refused(format!("tojson: a value of kind {kind} cannot be a key"))),
    }
}

fn write_string(out: &mut String, text: &str, style: &Style) {
    out.push('"');
    for character in text.chars() {
        match character {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            '\0'..='\x1f' => out.push_str(&format!("\\u{:04x}", character as u32)),
            _ if style.ensure_ascii && !character.is_ascii() => {
                for unit in character.encode_utf16(&mut [0; 2]) {
                    out.push_str(&format!("\\u{unit:04x}"));
                }
            }
            _ => out.push(character),
        }
    }
    out.push('"');
}

fn refused(message: String) -> Error {
    Error::new(ErrorKind::InvalidOperation, message)
}

//! minijinja set up to behave as the Jinja2 environment of transformers.

use minijinja::value::{Kwargs, Value, ValueKind};
use minijinja::{AutoEscape, Environment, Error, ErrorKind};

use super::{generation, json, methods, python};

/// Instructions that one rendering may take, a second or so: a template cannot hang a run.
const FUEL: u64 = 20_000_000;

pub fn like_transformers() -> Environment<'static> {
    let mut environment = Environment::new();
    environment.set_auto_escape_callback(|_| AutoEscape::None);
    environment.set_trim_blocks(true);
    environment.set_lstrip_blocks(true);
    environment.set_fuel(Some(FUEL));
    environment.set_unknown_method_callback(methods::call_method);
    environment.set_formatter(|out, _, value| {
        out.write_str(&python::to_str(value))?;
        Ok(())
    });

    environment.add_filter("tojson", json::tojson);
    environment.add_filter("string", |value: &Value| python::to_str(value));
    environment.add_filter("join", join);
    environment.add_filter(generation::FILTER, generation::mark);
    environment.add_function("raise_exception", raise_exception);
    environment.add_function("strftime_now", strftime_now);

    environment.add_test("sequence", is_sequence);
    environment.add_test("iterable", |value: &Value| is_sequence(value) || value.kind() == ValueKind::Iterable);
    environment.add_test("number", |value: &Value| matches!(value.kind(), ValueKind::Number | ValueKind::Bool));
    environment.add_test("callable", |value: &Value| value.kind() == ValueKind::Plain);
    environment
}

/// Python's strings and mappings can be counted and indexed too, and so can what is undefined.
fn is_sequence(value: &Value) -> bool {
    matches!(value.kind(), ValueKind::Seq | ValueKind::Map | ValueKind::String | ValueKind::Undefined)
}

fn raise_exception(message: &Value) -> Result<Value, Error> {
    Err(Error::new(ErrorKind::InvalidOperation, python::to_str(message)))
}

/// `join(items, d='', attribute=None)`
fn join(items: &Value, separator: Option<Value>, named: Kwargs) -> Result<String, Error> {
    let separator = match separator {
        Some(separator) => separator,
        None => named.get::<Option<Value>>("d")?.unwrap_or_else(|| Value::from("")),
    };
    let attribute = named.get::<Option<String>>("attribute")?;
    named.assert_all_used()?;
    let mut texts = Vec::new();
    for item in items.try_iter()? {
        let item = match &attribute {
            Some(attribute) => item.get_attr(attribute)?,
            None => item,
        };
        texts.push(python::to_str(&item));
    }
    Ok(texts.join(&python::to_str(&separator)))
}

/// `datetime.now().strftime(format)`, which in Python is the C library's.
fn strftime_now(format: &str) -> Result<String, Error> {
    let refused = |what: &str| Error::new(ErrorKind::InvalidOperation, format!("strftime_now: {what}"));
    // A mark at the end tells an empty result from one that did not fit.
    let format = std::ffi::CString::new(format!("{format}.")).map_err(|_| refused("null character"))?;
    let mut text = [0u8; 1024];
    // SAFETY: `now`, `parts` and `text` are ours and large enough for what is written.
    let size = unsafe {
        let now = libc::time(std::ptr::null_mut());
        let mut parts: libc::tm = std::mem::zeroed();
        if libc::localtime_r(&now, &mut parts).is_null() {
            return Err(refused("the time cannot be told"));
        }
        libc::strftime(text.as_mut_ptr().cast(), text.len(), format.as_ptr(), &parts)
    };
    let written = text[..size].strip_suffix(b".").ok_or_else(|| refused("the result is too long"))?;
    Ok(String::from_utf8_lossy(written).into_owned())
}

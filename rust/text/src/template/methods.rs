//! Methods of Python strings that minijinja-contrib's `pycompat` lacks and chat templates use.

use minijinja::value::{from_args, Value};
use minijinja::{Error, ErrorKind, State};
use minijinja_contrib::pycompat;

pub fn call_method(state: &State, value: &Value, method: &str, args: &[Value]) -> Result<Value, Error> {
    if let Some(text) = value.as_str() {
        if let Some(result) = call_on_string(text, method, args)? {
            return Ok(result);
        }
    }
    pycompat::unknown_method_callback(state, value, method, args)
}

fn call_on_string(text: &str, method: &str, args: &[Value]) -> Result<Option<Value>, Error> {
    let result = match method {
        "removeprefix" => {
            let (prefix,): (&str,) = from_args(args)?;
            Value::from(text.strip_prefix(prefix).unwrap_or(text))
        }
        "removesuffix" => {
            let (suffix,): (&str,) = from_args(args)?;
            Value::from(text.strip_suffix(suffix).unwrap_or(text))
        }
        "partition" => {
            let separator = separator_of(args)?;
            let found = text.split_once(separator);
            list(&found.map_or([text, "", ""], |(before, after)| [before, separator, after]))
        }
        "rpartition" => {
            let separator = separator_of(args)?;
            let found = text.rsplit_once(separator);
            list(&found.map_or(["", "", text], |(before, after)| [before, separator, after]))
        }
        "rsplit" if matches!(args.first(), Some(separator) if separator.as_str().is_some()) => {
            let (_, limit): (&str, Option<i64>) = from_args(args)?;
            let separator = separator_of(&args[..1])?;
            let mut pieces: Vec<&str> = match limit {
                Some(limit) if limit >= 0 => text.rsplitn(limit as usize + 1, separator).collect(),
                _ => text.rsplit(separator).collect(),
            };
            pieces.reverse();
            list(&pieces)
        }
        _ => return Ok(None),
    };
    Ok(Some(result))
}

fn separator_of(args: &[Value]) -> Result<&str, Error> {
    match from_args(args)? {
        ("",) => Err(Error::new(ErrorKind::InvalidOperation, "empty separator")),
        (separator,) => Ok(separator),
    }
}

fn list(items: &[&str]) -> Value {
    items.iter().map(|&item| Value::from(item)).collect()
}
